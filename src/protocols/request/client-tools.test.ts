import { expect, test } from 'vitest'
import { decodeClientTools } from './client-tools.ts'

test('takes what a model can be told of and says what was left out', () => {
  const left: [string, number][] = []
  const tools = decodeClientTools(
    [
      { name: 'pick', description: 'Picks.', parameters: { properties: { a: { type: 'string' } } } },
      { name: 'bare' },
      { name: 'not a name' },
      { name: 'pick' },
      { name: 'list', parameters: { type: 'array' } },
      { name: 'text', parameters: 'string' },
      { name: 'broken', parameters: { type: 'object', properties: { a: { type: 'strong' } } } },
    ],
    (why, index) => left.push([why, index]),
  )
  expect(tools).toEqual([
    {
      name: 'pick',
      description: 'Picks.',
      parameters: { type: 'object', properties: { a: { type: 'string' } } },
    },
    { name: 'bare', description: '', parameters: { type: 'object', properties: {} } },
  ])
  expect(left.map(([, index]) => index)).toEqual([2, 3, 4, 5, 6])
})

test('bounds how many a request may bring', () => {
  let left = 0
  const tools = Array.from({ length: 200 }, (_, i) => ({ name: `t${i}` }))
  expect(decodeClientTools(tools, () => void left++)).toHaveLength(128)
  expect(left).toBe(72)
})
