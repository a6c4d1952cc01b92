import { describe, expect, test } from 'vitest'
import { createGatedModel, stop, text } from '../../testing/gated-model.ts'
import { asAda, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { readSse } from '../../testing/sse-reader.ts'

type Doors = Awaited<ReturnType<typeof openDoors>>

async function talk(doors: Doors, alias: string, message: string, headers = {}): Promise<string> {
  const response = await doors.post(`/sessions/${alias}/messages`, { message }, headers)
  const { run_id: runId } = (await response.json()) as { run_id: string }
  await readSse(await doors.get(`/runs/${runId}/events`, headers)).rest()
  return (await doors.store.runs.get(runId))?.sessionId ?? expect.fail('there is no run')
}

interface Found {
  results: { session_id: string; owner: string; hits: { text: string; marks: [number, number][]; role: string }[] }[]
  complete: boolean
}

const nextOf = (link: string | null) => /<\/search\?([^>]+)>; rel="next"/.exec(link ?? '')?.[1]

/** One page. On a busy machine it may end before it is full, because its time is over: then the rest is looked for. */
async function search(doors: Doors, query: string, headers = {}): Promise<Found & { link: string | null }> {
  const response = await doors.get(`/search?${query}`, headers)
  expect(response.status).toBe(200)
  const { results, complete } = (await response.json()) as Found
  const link = response.headers.get('link')
  const next = new URLSearchParams(nextOf(link))
  const limit = next.get('limit') ?? '20'
  const left = Number(limit) - results.length
  if (next.size === 0 || left <= 0) return { results, complete, link }
  next.set('limit', String(left))
  const rest = await search(doors, next.toString(), headers)
  return {
    complete: rest.complete,
    results: [...results, ...rest.results],
    link: rest.link?.replace(/limit=\d+/, `limit=${limit}`) ?? null,
  }
}

const trail = async (doors: Doors) =>
  (await doors.store.audit.entries(0, 100)).map(({ text: entry }) => JSON.parse(entry)).map(({ kind }) => kind)

describe('GET /search', () => {
  test('finds what the caller and the agent said, with a row of the session and marks', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    model.say(text('Take the ferry to Bødø.'), stop)
    const id = await talk(doors, 'trip', 'How do I get\u200B north?')
    const { results, complete, link } = await search(doors, 'q=bodo+ferry')

    const hit = {
      message_id: expect.any(String),
      role: 'assistant',
      at: expect.any(String),
      text: 'Take the ferry to Bødø.',
      marks: [
        [9, 14],
        [18, 22],
      ],
    }
    const row = {
      owner: 'local_user',
      agent: 'tester',
      title: 'How do I get<U+200B> north?',
      kind: 'chat',
      status: 'open',
    }
    expect(results).toEqual([{ session_id: 'trip', ...row, updated_at: expect.any(String), hits: [hit] }])
    expect([complete, link]).toEqual([true, null])
    expect((await search(doors, 'q=north')).results[0]?.hits.map((one) => one.text)).toEqual([
      'How do I get<U+200B> north?',
    ])
    expect((await search(doors, 'q=nothing')).results).toEqual([])
    expect((await doors.remove(`/sessions/${id}`)).status).toBe(204)
    expect((await search(doors, 'q=north')).results).toEqual([])
  })

  test('shows each owner only their own, and an operator all of them on record', async () => {
    await using doors = await openDoors()
    const hers = await talk(doors, 'hers', 'A zebra', asAda)
    await talk(doors, 'mine', 'Another zebra')

    const owners = async (query: string, headers = {}) =>
      (await search(doors, `q=zebra${query}`, headers)).results.map((one) => [one.owner, one.session_id])
    expect(await owners('')).toEqual([['local_user', 'mine']])
    expect(await owners('', asAda)).toEqual([['ada', 'hers']])
    expect(await owners('&owner=ada', asAda)).toEqual([['ada', 'hers']])
    expect(await trail(doors)).not.toContain('operator_list')
    expect(await owners('&owner=*', asOperator)).toEqual([
      ['local_user', 'mine'],
      ['ada', hers],
    ])
    expect(await owners('&owner=ada', asOperator)).toEqual([['ada', hers]])
    expect((await trail(doors)).filter((kind) => kind === 'operator_list').length).toBe(2)
    for (const owner of ['*', 'local_user']) {
      expect(await refusalOf(await doors.get(`/search?q=zebra&owner=${owner}`, asAda))).toEqual({
        status: 403,
        code: 'forbidden',
      })
    }
  })

  test('comes in pages and is narrowed by agent and time', async () => {
    await using doors = await openDoors()
    for (const name of ['a', 'b', 'c']) await talk(doors, name, 'Same words')
    const first = await search(doors, 'q=same&limit=2')
    const next = nextOf(first.link) ?? expect.fail('no next page')
    const second = await search(doors, next)

    expect([first, second].map(({ results }) => results.map((one) => one.session_id))).toEqual([['c', 'b'], ['a']])
    expect(second.link).toBe(null)
    expect((await search(doors, 'q=same&agent=nobody')).results).toEqual([])
    expect((await search(doors, 'q=same&agent=tester')).results.length).toBe(3)
    expect((await search(doors, 'q=same&since=2999-01-01')).results).toEqual([])
    expect((await search(doors, 'q=same&until=2999-01-01T00:00:00Z')).results.length).toBe(3)
    expect((await search(doors, 'q=same&before=made-up')).results).toEqual([])
  })

  test.each(['', 'q=%22', 'q=*', 'q=a%20OR', "q='", 'q=body%3A%28', 'q=%00', `q=${'%F0%9F%98%80'.repeat(100)}`])(
    'takes any text: %s',
    async (query) => {
      await using doors = await openDoors()
      const { status } = await doors.get(`/search?${query || 'q='}`)

      expect(status).toBe(200)
    },
  )

  test.each([
    ['no text', ''],
    ['a long text', `q=${'x'.repeat(201)}`],
    ['a limit of 0', 'q=a&limit=0'],
    ['a time that is none', 'q=a&since=yesterday'],
    ['an empty agent', 'q=a&agent='],
    ['an empty owner', 'q=a&owner='],
  ])('%s is refused', async (_what, query) => {
    await using doors = await openDoors()

    expect(await refusalOf(await doors.get(`/search?${query}`))).toEqual({ status: 400, code: 'invalid_request' })
  })
})
