import { describe, expect, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import { type BroughtTool, decodeClientTools } from './client-tools.ts'

const nothingIgnored = (what: string) => {
  throw new Error(what)
}

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
    nothingIgnored,
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
  expect(decodeClientTools(tools, () => void left++, nothingIgnored)).toHaveLength(128)
  expect(left).toBe(72)
})

describe('schemas that would hold up or end the server', () => {
  const noneLeftOut = (why: string) => {
    throw new Error(why)
  }
  const decoded = (tools: BroughtTool[]) => {
    const ignored: [string, number][] = []
    const taken = decodeClientTools(tools, noneLeftOut, (what, index) => ignored.push([what, index]))
    return { names: taken.map(({ name }) => name), ignored }
  }
  const patterns = (count: number) => ({
    patternProperties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`(?:a{70}){70}${i}`, true])),
  })

  test.each([800, 1_600, 17_000])('a tool with %d large patterns is taken, without most of them', (count) => {
    const before = process.threadCpuUsage()
    const { names, ignored } = decoded([{ name: 'hostile', parameters: patterns(count) }])
    expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000)
    expect(names).toEqual(['hostile'])
    expect(ignored).toHaveLength(6)
    expect(ignored.at(-1)?.[0]).toMatch(/^\d+ more patterns are not enforced$/)
  })

  test('the tools of a request share one budget, and a pattern beyond it is named', () => {
    const one = (i: number) => ({
      name: `t${i}`,
      parameters: { properties: { a: { pattern: `^(?:a{60}){60}${i}$` } } },
    })
    const { names, ignored } = decoded(Array.from({ length: 60 }, (_, i) => one(i)))
    expect(names).toHaveLength(60)
    expect(ignored.at(-1)).toEqual([
      'the pattern "^(?:a{60}){60}59$" at /properties/a/pattern looks around, refers back or takes too many steps and is not enforced',
      59,
    ])
    expect(ignored.every(([, index]) => index > 10)).toBe(true)
  })

  test.each([
    ['(?i)^abc$', 'is not a JavaScript regular expression'],
    ['(?P<x>a)', 'is not a JavaScript regular expression'],
    ['(', 'is not a JavaScript regular expression'],
    ['(?<=a)b', 'looks around, refers back or takes too many steps'],
    ['(a)\\1', 'looks around, refers back or takes too many steps'],
    ['a'.repeat(2_000), 'looks around, refers back or takes too many steps'],
  ])('the pattern %j refuses no tool', (pattern, why) => {
    const { names, ignored } = decoded([{ name: 'strange', parameters: { properties: { a: { pattern } } } }])
    expect(names).toEqual(['strange'])
    expect(ignored).toEqual([[expect.stringContaining(`${why} and is not enforced`), 0]])
  })

  const refusal = (tools: BroughtTool[]) => {
    try {
      decoded(tools)
      return null
    } catch (error) {
      return error instanceof ServerError ? [error.code, error.problems[0]?.pointer] : error
    }
  }

  test('schemas that are too large together are refused, and the tool that was too much is named', () => {
    const long = (chars: number) => ({ description: 'x'.repeat(chars) })
    expect(refusal([{ name: 'a', parameters: long(900_000) }])).toBeNull()
    expect(
      refusal([
        { name: 'a', parameters: long(600_000) },
        { name: 'b', parameters: long(600_000) },
      ]),
    ).toEqual(['invalid_request', '/tools/1'])
    expect(refusal([{ name: 'a', parameters: { enum: Array.from({ length: 60_000 }, () => 1) } }])).toEqual([
      'invalid_request',
      '/tools/0',
    ])
  })

  test('what is beyond the 128 tools costs nothing', () => {
    const tools = Array.from({ length: 200 }, (_, i) => ({
      name: `t${i}`,
      parameters: i < 128 ? {} : { description: 'x'.repeat(900_000) },
    }))
    expect(decodeClientTools(tools, () => {}, nothingIgnored)).toHaveLength(128)
  })
})
