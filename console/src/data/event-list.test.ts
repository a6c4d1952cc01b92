import type { RunEvent } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import { createEventList } from './event-list.ts'
import type { LogEvent } from './live-types.ts'

const plain = { structure: false, loadsAll: false }

const event = (seq: number): RunEvent =>
  seq % 2 === 0
    ? { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: String(seq) }
    : { type: 'CUSTOM', name: 'n', value: seq }

/** A server with the events 1 to `last`, and a stream that the test moves on. */
function serverWith(last: number) {
  const asked: unknown[] = []
  const watching: { after: number; listener: (entries: LogEvent[]) => void }[] = []
  let gone = () => {}
  return {
    asked,
    watching,
    gone: () => gone(),
    client: {
      sessions: {
        log: async (
          _: string,
          options: { before?: number | 'end'; after?: number; limit?: number; structure?: boolean } = {},
        ) => {
          const { limit: _limit, structure: _structure, ...place } = options
          asked.push(place)
          const { before, after = 0, limit = 100 } = options
          const end = before === 'end' ? last + 1 : (before ?? last + 1)
          const all = Array.from({ length: last }, (_, i) => i + 1).filter((seq) => seq > after && seq < end)
          const page = before === undefined ? all.slice(0, limit) : all.slice(-limit)
          const events = page.map((seq) => ({ id: `S.${seq}`, seq, at: null, event: event(seq) }))
          return { events, first_seq: 1, last_seq: last, next: page.length < all.length ? 'there' : null }
        },
      },
    },
    live: {
      watch(_: string, after: number, listener: (entries: LogEvent[]) => void) {
        const one = { after, listener }
        watching.push(one)
        return () => void watching.splice(watching.indexOf(one), 1)
      },
      onGone(listener: () => void) {
        gone = listener
        return () => {}
      },
    },
  }
}

const settled = () => new Promise((resolve) => setTimeout(resolve))
const seqs = (events: readonly LogEvent[]) => events.map(({ seq }) => seq)
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

test('from the end: the newest page, earlier ones on demand, then new ones', async () => {
  const server = serverWith(2_500)
  const list = createEventList('s', server.client, server.live, { ...plain, from: 'end' })
  const close = list.open()
  await settled()

  expect(seqs(list.current().events)).toEqual(range(1_501, 2_500))
  expect(list.current()).toMatchObject({ hasEarlier: true, hasLater: false, lastSeq: 2_500 })
  list.loadEarlier()
  list.loadEarlier()
  await settled()
  expect(seqs(list.current().events)).toEqual(range(501, 2_500))
  server.watching[0]?.listener([{ seq: 2_501, at: null, event: event(2_501) }])
  expect(list.current().events.at(-1)?.seq).toBe(2_501)
  list.loadEarlier()
  await settled()
  expect(list.current()).toMatchObject({ hasEarlier: false, isLoading: false })
  close()
  expect(server.watching).toEqual([])
})

test('from the start with everything: one page after the other, and it listens only at the end', async () => {
  const server = serverWith(2_500)
  const list = createEventList('s', server.client, server.live, { ...plain, from: 'start', loadsAll: true })
  list.open()
  await settled()

  expect(seqs(list.current().events)).toEqual(range(1, 2_500))
  expect(server.asked).toEqual([{ after: 0 }, { after: 1_000 }, { after: 2_000 }])
  expect(server.watching.map(({ after }) => after)).toEqual([2_500])
})

test('from the middle it loads both ways', async () => {
  const server = serverWith(4_000)
  const list = createEventList('s', server.client, server.live, { ...plain, from: 1_500 })
  list.open()
  await settled()

  expect(list.current()).toMatchObject({ hasEarlier: true, hasLater: true })
  list.loadEarlier()
  await settled()
  list.loadLater()
  await settled()
  expect(seqs(list.current().events)).toEqual(range(501, 3_500))
})

test('the structure leaves out pieces of text that arrive live', async () => {
  const server = serverWith(0)
  const list = createEventList('s', server.client, server.live, { ...plain, from: 'start', structure: true })
  list.open()
  await settled()
  server.watching[0]?.listener([1, 2, 3].map((seq) => ({ seq, at: null, event: event(seq) })))

  expect(seqs(list.current().events)).toEqual([1, 3])
  expect(list.current().lastSeq).toBe(3)
})

test('after a gap everything is loaded again', async () => {
  const server = serverWith(3)
  const list = createEventList('s', server.client, server.live, { ...plain, from: 'end' })
  list.open()
  await settled()
  server.gone()

  expect(list.current()).toMatchObject({ status: 'loading', events: [] })
  await settled()
  expect(seqs(list.current().events)).toEqual([1, 2, 3])
})

test('a failure is kept with the events, and the next try begins again', async () => {
  const server = serverWith(2_500)
  let isAway = false
  const log: typeof server.client.sessions.log = (id, options) =>
    isAway ? Promise.reject(new Error('away')) : server.client.sessions.log(id, options)
  const list = createEventList('s', { sessions: { log } }, server.live, { ...plain, from: 'end' })
  list.open()
  await settled()
  isAway = true
  list.loadEarlier()
  await settled()

  expect(list.current()).toMatchObject({ status: 'ready', error: new Error('away'), isLoading: false })
  isAway = false
  list.loadEarlier()
  await settled()
  expect(list.current()).toMatchObject({ error: null, hasEarlier: true })
})
