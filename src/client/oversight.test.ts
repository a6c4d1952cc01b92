import { expect, test } from 'vitest'
import { createClient } from './client.ts'

/** A client of a server that gives this answer. */
function clientOf(answer: () => Response) {
  const asked: string[] = []
  const client = createClient({
    url: 'http://127.0.0.1:1',
    retries: 0,
    fetch: async (input, init) => {
      asked.push(`${init?.method} ${String(input).slice('http://127.0.0.1:1'.length)} ${init?.body ?? ''}`.trim())
      return answer()
    },
  })
  return { client, asked }
}

test('asks for what operators look at', async () => {
  const { client, asked } = clientOf(() => Response.json({ agents: [] }))
  await client.audit.chain()
  await client.usage({ by: 'model', from: '2026-11-01' })
  await client.agents.list()
  await client.agents.get('a b')
  await client.agents.tests('a')
  await client.validateAgent('name: a')
  await client.tryPolicy({ workspace: '/x', tool_name: 'Bash' })
  await client.draftPolicy({ workspace: '/x', since: '7d' })
  await client.acceptPolicy({ workspace: '/x', text: '{}', base_sha256: null })
  await client.stats()

  expect(asked).toEqual([
    'GET /audit/chain',
    'GET /usage?by=model&from=2026-11-01',
    'GET /agents',
    'GET /agents/a%20b',
    'GET /agents/a/tests',
    'POST /validate/agent {"text":"name: a"}',
    'POST /policy/try {"workspace":"/x","tool_name":"Bash"}',
    'POST /policy/draft {"workspace":"/x","since":"7d"}',
    'POST /policy/accept {"workspace":"/x","text":"{}","base_sha256":null}',
    'GET /stats',
  ])
})

test('pages through the audit trail', async () => {
  const link = { Link: '</audit?limit=1&before=7>; rel="next"' }
  const { client, asked } = clientOf(() => Response.json({ entries: [] }, { headers: link }))

  expect(await client.audit.list({ limit: 1, kind: 'decision', before: '9' })).toEqual({ entries: [], next: '7' })
  expect(asked).toEqual(['GET /audit?limit=1&kind=decision&before=9'])
})

test('shows the health of an unhealthy server, too', async () => {
  const healthy = clientOf(() => Response.json({ status: 'healthy' }))
  const unhealthy = clientOf(() => Response.json({ status: 'unhealthy' }, { status: 503 }))
  const stranger = clientOf(() => new Response('hello', { status: 503 }))

  expect(await healthy.client.health()).toEqual({ status: 'healthy' })
  expect(await unhealthy.client.health()).toEqual({ status: 'unhealthy' })
  await expect(stranger.client.health()).rejects.toMatchObject({ code: 'unexpected_answer' })
})

test('throws when the stream of tests breaks off', async () => {
  const { client } = clientOf(() => new Response('event: case\ndata: {"name":"a","outcome":"running"}\n\n'))
  const seen: string[] = []
  const run = async () => {
    for await (const one of client.agents.runTests('a')) seen.push(one.type)
  }

  await expect(run()).rejects.toMatchObject({ code: 'unreachable' })
  expect(seen).toEqual(['case'])
})
