import { expect, test } from 'vitest'
import { operatorToken } from '../http/testing/server-fixture.ts'
import { createChatRoutes } from '../protocols/chat/routes.ts'
import { openDoors } from '../protocols/testing/open-doors.ts'
import { createClient, type FeedEvent } from './client.ts'

async function open() {
  const doors = await openDoors({}, (opened) => createChatRoutes(opened))
  const client = createClient({ url: doors.url, token: operatorToken.token, sleep: async () => {} })
  const talk = async (session: string, message: string) => {
    const { run_id } = await client.send(session, message)
    for await (const _event of client.events({ run: run_id })) {
      // To its end.
    }
    return run_id
  }
  return { doors, client, talk }
}

test('lists, searches, reads and exports sessions, page by page', async () => {
  const { doors, client, talk } = await open()
  await using _doors = doors
  const runId = await talk('a', 'The first word')
  await talk('b', 'The second word')

  const first = await client.sessions.list({ limit: 1, status: 'open', kind: 'chat', owner: '*' })
  const second = await client.sessions.list({ limit: 1, before: first.next ?? '' })
  expect([...first.sessions, ...second.sessions].map(({ title }) => title)).toEqual([
    'The second word',
    'The first word',
  ])
  expect(second.next).toBe(null)
  expect(await client.sessions.get('a', { limit: 1 })).toMatchObject({
    title: 'The first word',
    messages: [{ role: 'assistant' }],
    next: expect.any(String),
  })
  expect(await client.sessions.runs('a')).toMatchObject({ runs: [{ run_id: runId, status: 'completed' }], next: null })

  // On a busy machine a page may end before it has found something, because its time is over.
  const searched = async (
    text: string,
    options: { limit: number; before?: string },
  ): ReturnType<typeof client.search> => {
    const page = await client.search(text, options)
    return page.results.length > 0 || page.next === null ? page : searched(text, { ...options, before: page.next })
  }
  const found = await searched('word "first', { limit: 5 })
  expect(found).toMatchObject({ results: [{ session_id: 'a' }], complete: true })
  const [hit] = found.results[0]?.hits ?? []
  expect(hit?.marks.map(([from, to]) => hit.text.slice(from, to))).toEqual(['first', 'word'])
  const page = await searched('word', { limit: 1 })
  expect((await searched('word', { limit: 1, before: page.next ?? '' })).results[0]?.session_id).toBe('a')

  const log = await client.sessions.log('a', { limit: 2 })
  const rest = await client.sessions.log('a', { after: log.next ?? 0 })
  const back = await client.sessions.log('a', { before: rest.events[0]?.id ?? '' })
  expect(back.events).toEqual(log.events)
  expect([...log.events, ...rest.events].at(-1)?.event.type).toBe('RUN_FINISHED')
  expect(rest.next).toBe(null)
  const bare = await client.sessions.log('a', { structure: true })
  expect(bare.events.length).toBe(log.events.length + rest.events.length - 1)

  expect(await client.sessions.export('a')).toMatchObject({ session: { session_id: 'a' }, runs: [{ run_id: runId }] })
})

test('one stream over many sessions resumes, and takes other sessions where it stands', async () => {
  const { doors, client, talk } = await open()
  await using _doors = doors
  await talk('a', 'Hi')
  await talk('b', 'Hi')
  const id = async (name: string) => (await doors.store.sessions.byAlias('local_user', name))?.id ?? ''
  const [a, b] = [await id('a'), await id('b')]
  const take = async (count: number, options: Parameters<typeof client.feed>[0]): Promise<FeedEvent[]> => {
    const events: FeedEvent[] = []
    for await (const one of client.feed(options)) {
      events.push(one)
      if (events.length === count) break
    }
    return events
  }
  const entries = (events: readonly FeedEvent[], session: string) =>
    events.flatMap((one) => (one.type === 'entry' && one.session_id === session ? [one.id] : []))

  const alone = await take(8, { sessions: [a] })
  expect(alone[0]).toEqual({ cursor: expect.any(String), type: 'cursor' })
  const whole = entries(alone, a)
  expect(whole.length).toBe(7)
  const both = await take(12, { sessions: [a, b], after: alone[3]?.cursor ?? '' })
  expect(entries(both, a)).toEqual(whole.slice(3))
  expect(entries(both, b).length).toBe(7)
  expect(entries(await take(3, { sessions: [whole[4] ?? ''] }), a)).toEqual(whole.slice(5))
  await expect(take(1, { after: 'f.999' })).rejects.toMatchObject({ code: 'events_gone', status: 410 })
})
