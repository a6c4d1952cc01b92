import { expect, test } from 'vitest'
import { createClient } from './client.ts'

test('documents are listed, searched, opened, updated and cleared at their addresses', async () => {
  const asked: string[] = []
  const answers = [{ indexes: [] }, { hits: [], lacks: ['One file is not read yet.'] }, { passages: [] }, { id: 'k/1' }]
  const { knowledge } = createClient({
    url: 'http://localhost:8000',
    fetch: async (input, { method, body } = {}) => {
      asked.push([method, String(input).slice(21), body].filter(Boolean).join(' '))
      const answer = answers.shift()
      return answer === undefined ? new Response(null, { status: 204 }) : Response.json(answer)
    },
  })

  expect(await knowledge.list()).toEqual([])
  expect(await knowledge.search({ agent: 'clerk', query: 'leave' })).toEqual({
    hits: [],
    lacks: ['One file is not read yet.'],
  })
  expect(await knowledge.passage('p1', { agent: 'clerk', tool: 'hand book', before: 2, after: 2 })).toEqual([])
  expect(await knowledge.update('k/1')).toEqual({ id: 'k/1' })
  await knowledge.clear('k/1')
  expect(asked).toEqual([
    'GET /knowledge',
    'POST /knowledge/search {"agent":"clerk","query":"leave"}',
    'GET /knowledge/passages/p1?agent=clerk&tool=hand%20book&before=2&after=2',
    'POST /knowledge/k%2F1/update {}',
    'DELETE /knowledge/k%2F1',
  ])
})
