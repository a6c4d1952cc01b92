import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import type { KeptMessage } from '../../supervision/sessions/mcp-connections.ts'
import { createEventStore, OWN_STREAM, type Post, usualEventLimits } from './event-store.ts'

const note = (n: number) => ({ jsonrpc: '2.0' as const, method: `m${n}` })
const answer = (id: string | number) => ({ jsonrpc: '2.0' as const, id, result: { for: id } })
/** The first event of a stream. */
const first = {} as JSONRPCMessage
const streamOf = (n: number) => `00000000-0000-4000-8000-00000000000${n}`
const [a, b] = [streamOf(1), streamOf(2)]

function open(limits = usualEventLimits) {
  const written: unknown[] = []
  const state: { post: Post | null } = { post: null }
  const store = createEventStore({
    currentPost: () => state.post,
    keep: async (n, message) => void written.push({ n, message }),
    least: () => 0,
    limits,
  })
  return {
    store,
    written,
    /** What comes with a POST of these requests. */
    send(post: Post, ...messages: [string, JSONRPCMessage][]) {
      state.post = post
      return Promise.all(messages.map(([stream, message]) => store.append(stream, message)))
    },
  }
}
const post = (...requestIds: (string | number)[]): Post => ({ requestIds, streamId: null })
async function* kept(...facts: KeptMessage[]) {
  yield* facts
}
const answered = (stream: string, message: object): KeptMessage => ({
  ...{ fact: 'mcp_answered', connection: 'c', at: 1 },
  stream,
  message,
})
const told = (n: number): KeptMessage => ({ fact: 'mcp_told', connection: 'c', n, message: note(n), at: 1 })
const lost = (id: string | number) => ({
  jsonrpc: '2.0',
  id,
  error: {
    code: -32000,
    message: expect.stringContaining('send the same request again'),
    data: { code: 'interrupted' },
  },
})
const messages = (events: readonly { message: unknown }[]) => events.map(({ message }) => message)

test('gives the later events of the same stream, in order and under their ids', async () => {
  const { store, send } = open()
  const one = await send(post(1), [a, first], [a, note(1)])
  const two = await send(post('x'), [b, first])
  const rest = await send(post(), [a, note(2)], [a, answer(1)])
  const all = [...one, ...two, ...rest]

  expect(await store.readAfter(one[0] ?? '')).toEqual([
    { id: one[1], message: note(1) },
    { id: rest[0], message: note(2) },
    { id: rest[1], message: answer(1) },
  ])
  expect(messages(await store.readAfter(rest[0] ?? ''))).toEqual([answer(1)])
  expect(await store.readAfter(rest[1] ?? '')).toEqual([])
  expect(await Promise.all(all.map((id) => store.streamOf(id)))).toEqual([a, a, b, a, a])
  expect(new Set(all).size).toBe(5)
  // Its request is in work, so there is nothing to say yet.
  expect(await store.readAfter(two[0] ?? '')).toEqual([])
})

test('a stream of another process gets its answers from the log, and an error for what was never answered', async () => {
  const before = open()
  const [single] = await before.send(post(1), [a, first])
  const batch = await before.send(post('x', 2, 'y'), [b, first], [b, answer(2)])
  const { store } = open()
  await store.load(kept(answered(b, answer(2)), answered(a, answer(1)), answered(b, answer('x'))))

  expect(await store.streamOf(single ?? '')).toBe(a)
  const [replayed] = await store.readAfter(single ?? '')
  expect(replayed?.message).toEqual(answer(1))
  expect(await store.readAfter(replayed?.id ?? '')).toEqual([])
  expect(messages(await store.readAfter(batch[0] ?? ''))).toEqual([answer(2), answer('x'), lost('y')])
  // The answer to 2 was seen. Each id says what is left, so the client may leave again in the middle.
  const rest = await store.readAfter(batch[1] ?? '')
  expect(messages(rest)).toEqual([answer('x'), lost('y')])
  expect(messages(await store.readAfter(rest[0]?.id ?? ''))).toEqual([lost('y')])
  expect(await store.readAfter(rest[1]?.id ?? '')).toEqual([])
})

test('what the client was told without a request is written down before it is sent, and never numbered twice', async () => {
  const before = open()
  const [one] = await before.send(post(), [OWN_STREAM, note(1)], [OWN_STREAM, note(2)])
  expect(before.written).toEqual([
    { n: 1, message: note(1) },
    { n: 2, message: note(2) },
  ])

  const { store, send } = open()
  await store.load(kept(told(1), told(2)))
  expect(messages(await store.readAfter(one ?? ''))).toEqual([note(2)])
  const [three] = await send(post(), [OWN_STREAM, note(3)])
  expect(messages(await store.readAfter(one ?? ''))).toEqual([note(2), note(3)])
  expect(await store.streamOf(three ?? '')).toBe(OWN_STREAM)
  // The earlier process may have sent it and not written it down.
  expect(messages(await store.readAfter(`7.${OWN_STREAM}`))).toEqual([note(3)])
})

test.each([
  ['events', { events: 3, bytes: 1_000_000 }],
  ['bytes', { events: 1_000, bytes: 3 * JSON.stringify(note(0)).length }],
])('forgets the oldest when there are too many %s, and says so', async (_what, limits) => {
  const { store, send } = open(limits)
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1) ids.push(...(await send(post(), [OWN_STREAM, note(i)])))

  expect(await Promise.all(ids.map((id) => store.streamOf(id)))).toEqual([
    null,
    OWN_STREAM,
    ...Array(3).fill(OWN_STREAM),
  ])
  expect(messages(await store.readAfter(ids[1] ?? ''))).toEqual([note(2), note(3), note(4)])
})

test('an answer that is forgotten is asked for again, and one that was too large to forget is kept', async () => {
  const { store, send } = open({ events: 2, bytes: 5 })
  const [one] = await send(post(1), [a, first], [a, answer(1)])
  expect(messages(await store.readAfter(one ?? ''))).toEqual([answer(1)])

  await send(post(2), [b, answer(2)])

  expect(messages(await store.readAfter(one ?? ''))).toEqual([lost(1)])
})

test('the log brings no more back than the memory would hold', async () => {
  const { store } = open({ events: 2, bytes: 1_000_000 })
  await store.load(kept(...[1, 2, 3, 4].map(told)))

  expect(messages(await store.readAfter(`2.${OWN_STREAM}`))).toEqual([note(3), note(4)])
  expect(await store.streamOf(`1.${OWN_STREAM}`)).toBe(null)
})

test('ids of requests that are too long are left out: such a stream can be resumed only while it is known', async () => {
  const { store, send } = open()
  const [id] = await send(post('x'.repeat(2_000)), [a, first])
  expect(id).toBe(`1.${a}.-`)

  expect(await store.streamOf(id ?? '')).toBe(a)
  expect(await open().store.streamOf(id ?? '')).toBe(null)
})

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
test.each([
  '',
  '0',
  '-1',
  '1e0',
  '__proto__',
  '99',
  `99.${OWN_STREAM}`,
  `1.${OWN_STREAM}.-`,
  `1.${a}`,
  `1.${a}.`,
  `1.${a}.@`,
  `1.${a}.AAAA`,
  `1.${a}.${encoded([{}])}`,
  `1.${a}.${encoded({})}`,
  `1.${a}.${encoded(Array(101).fill(1))}`,
  `1.__proto__.${encoded([1])}`,
])('knows no event %j', async (id) => {
  const { store, send } = open()
  await send(post(), [OWN_STREAM, note(1)])

  expect(await store.streamOf(id)).toBe(null)
})
