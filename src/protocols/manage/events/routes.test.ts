import { describe, expect, test } from 'vitest'
import { ulidOf } from '../../../domain/ids.ts'
import { createGatedModel, stop, text } from '../../testing/gated-model.ts'
import { asAda, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { type Frame, readSse, type SseReader } from '../../testing/sse-reader.ts'
import { FeedItemSchema } from './schema.ts'

type Doors = Awaited<ReturnType<typeof openDoors>>

const unknown = '0192f3a1-7b2c-7def-8abc-0123456789ab'

async function runOf(doors: Doors, alias: string, headers = {}): Promise<{ runId: string; sessionId: string }> {
  const response = await doors.post(`/sessions/${alias}/messages`, { message: 'Hi' }, headers)
  const { run_id: runId } = (await response.json()) as { run_id: string }
  await readSse(await doors.get(`/runs/${runId}/events`, headers)).rest()
  const run = await doors.store.runs.get(runId)
  return { runId, sessionId: run?.sessionId ?? expect.fail('there is no run') }
}

const open = async (doors: Doors, query = '', headers = {}): Promise<SseReader> => {
  const response = await doors.get(`/events${query}`, { ...asOperator, ...headers })
  expect(response.status).toBe(200)
  return readSse(response)
}

const dataOf = ({ data }: Frame): Record<string, unknown> => JSON.parse(data)

/** What a frame is about, in short. */
function shortOf(frame: Frame): string {
  const { type, kind, status, event } = dataOf(frame) as { event?: { type: string } } & Record<string, string>
  return type === 'feed' ? `${kind} ${status}` : type === 'entry' ? `${event?.type}` : `${type}`
}

async function take(reader: SseReader, count: number): Promise<Frame[]> {
  const frames: Frame[] = []
  while (frames.length < count) frames.push((await reader.next()) ?? expect.fail('the stream has ended'))
  return frames
}

const answer = [
  'RUN_STARTED',
  'STEP_STARTED',
  'TEXT_MESSAGE_START',
  'TEXT_MESSAGE_CONTENT',
  'TEXT_MESSAGE_END',
  'STEP_FINISHED',
  'RUN_FINISHED',
]

describe('GET /events', () => {
  test('shows state changes of all sessions from now on, whoever owns them, and no text', async () => {
    await using doors = await openDoors()
    await runOf(doors, 'before')
    const reader = await open(doors)
    const [first] = await take(reader, 1)
    const { runId, sessionId } = await runOf(doors, 'ada-session', asAda)
    const frames = await take(reader, 3)

    expect(first).toEqual({ id: 'f.3', data: '{"type":"cursor"}' })
    const subject = { session_id: sessionId, owner: 'ada', agent: 'tester' }
    const run = { type: 'feed', at: expect.any(String), kind: 'run', run_id: runId, parent_run_id: null, ...subject }
    expect(frames.map(dataOf)).toEqual([
      { type: 'feed', id: 'f.4', at: expect.any(String), kind: 'session', ...subject, status: 'active' },
      { ...run, id: 'f.5', status: 'running' },
      { ...run, id: 'f.6', status: 'completed' },
    ])
    expect(frames.map(({ id }) => id)).toEqual(['f.4', 'f.5', 'f.6'])
    for (const frame of frames) FeedItemSchema.parse(dataOf(frame))
    await reader.close()
  })

  test('carries all events of the named sessions, as their own stream has them', async () => {
    await using doors = await openDoors()
    const { sessionId, runId } = await runOf(doors, 'a', asAda)
    const other = await runOf(doors, 'b')
    const alone = await readSse(await doors.get(`/runs/${runId}/events`, asAda)).rest()
    const reader = await open(doors, `?session=${ulidOf(sessionId)}&session=${other.sessionId}&session=${sessionId}`)
    const frames = (await take(reader, 15)).slice(1)

    const own = frames.map(dataOf).filter((data) => data.session_id === sessionId)
    expect(own.map(({ event }) => JSON.stringify(event))).toEqual(alone.map(({ data }) => data))
    expect(own.map(({ id }) => id)).toEqual(alone.map(({ id }) => id))
    expect(frames.map(dataOf).filter((data) => data.session_id === other.sessionId).length).toBe(7)
    await reader.close()
  })

  test('resumes after every frame: each later one once, in order, then live', async () => {
    await using doors = await openDoors()
    const { sessionId } = await runOf(doors, 'a')
    const query = `?session=${sessionId}`
    const first = await open(doors, query)
    await take(first, 8)
    await runOf(doors, 'a')
    const live = await take(first, 9)
    await first.close()
    const entries = live.filter((frame) => shortOf(frame) !== 'run running' && shortOf(frame) !== 'run completed')
    expect(entries.map(shortOf)).toEqual(answer)
    for (const [i, { id = '' }] of live.entries()) {
      const again = await open(doors, query, { 'Last-Event-ID': id })
      const rest = (await take(again, live.length - i)).slice(1)
      const later = live.slice(i + 1)
      expect(rest.map(({ data }) => data).sort()).toEqual(later.map(({ data }) => data).sort())
      for (const kind of ['entry', 'feed']) {
        const isKind = (frame: Frame) => dataOf(frame).type === kind
        expect(rest.filter(isKind).map(({ data }) => data)).toEqual(later.filter(isKind).map(({ data }) => data))
      }
      expect(rest.at(-1)?.id).toBe(rest.length === 0 ? undefined : live.at(-1)?.id)
      await again.close()
    }
    const byQuery = await open(doors, `${query}&after=${live[7]?.id}`)
    expect((await take(byQuery, 2))[1]?.data).toBe(live[8]?.data)
    await byQuery.close()
  })

  test('begins named sessions anew after a cursor of the feed alone', async () => {
    await using doors = await openDoors()
    const { sessionId } = await runOf(doors, 'a')
    const reader = await open(doors, `?session=${sessionId}&after=f.2`)
    const frames = await take(reader, 9)

    expect(frames.map(shortOf).sort()).toEqual(['cursor', 'run completed', ...answer].sort())
    await reader.close()
  })

  test.each([
    ['a malformed cursor', '?after=12', 400, 'malformed_id'],
    ['a cursor that was never given out', '?after=f.99', 410, 'events_gone'],
    ['an unknown session', `?session=${unknown}`, 404, 'session_not_found'],
    ['an alias of somebody else', '?session=hers', 400, 'malformed_id'],
    ['nine sessions', `?${Array.from({ length: 9 }, (_, i) => `session=s${i}`).join('&')}`, 400, 'invalid_request'],
  ])('%s is refused before the stream', async (_what, query, status, code) => {
    await using doors = await openDoors()
    await runOf(doors, 'hers', asAda)

    expect(await refusalOf(await doors.get(`/events${query}`, asOperator))).toEqual({ status, code })
  })

  test('an event that a session does not have is refused before the stream', async () => {
    await using doors = await openDoors()
    const { sessionId } = await runOf(doors, 'a')
    const query = `?session=${sessionId}&after=f.1,${ulidOf(sessionId)}.999`

    expect(await refusalOf(await doors.get(`/events${query}`, asOperator))).toEqual({
      status: 410,
      code: 'events_gone',
    })
  })

  test('a session that is named by an event id begins after that event, and an unknown event is refused', async () => {
    await using doors = await openDoors()
    const { sessionId, runId } = await runOf(doors, 'a')
    const all = await readSse(await doors.get(`/runs/${runId}/events`)).rest()
    const reader = await open(doors, `?session=${all[4]?.id}`)
    const frames = await take(reader, 3)

    expect(frames.map(shortOf)).toEqual(['cursor', 'STEP_FINISHED', 'RUN_FINISHED'])
    expect(frames[0]?.id).toBe(`f.3,${all[4]?.id}`)
    await reader.close()
    expect(await refusalOf(await doors.get(`/events?session=${ulidOf(sessionId)}.999`, asOperator))).toEqual({
      status: 410,
      code: 'events_gone',
    })
    expect(await refusalOf(await doors.get(`/events?session=${unknown}.1`, asOperator))).toEqual({
      status: 404,
      code: 'session_not_found',
    })
  })

  test('the named sessions may change: the cursor counts where it names one, and each other begins at its own place', async () => {
    await using doors = await openDoors()
    const a = await runOf(doors, 'a')
    const b = await runOf(doors, 'b')
    const first = await open(doors, `?session=${a.sessionId}`)
    const seen = await take(first, 8)
    await first.close()
    const cursor = seen[5]?.id ?? ''

    const withOther = await open(doors, `?session=${ulidOf(a.sessionId)}.2&session=${b.sessionId}`, {
      'Last-Event-ID': cursor,
    })
    const both = (await take(withOther, 10)).slice(1).map(dataOf)
    const of = (id: string) =>
      both.filter((data) => data.session_id === id).map(({ event }) => (event as { type: string }).type)
    expect(of(a.sessionId)).toEqual(answer.slice(5))
    expect(of(b.sessionId)).toEqual(answer)
    await withOther.close()

    const without = await open(doors, `?session=${b.sessionId}`, { 'Last-Event-ID': cursor })
    const [begun, ...rest] = await take(without, 8)
    expect(begun?.id).toBe(`f.6,${ulidOf(b.sessionId)}.0`)
    expect(rest.map(shortOf)).toEqual(answer)
    await without.close()
    const none = await open(doors, `?after=f.4,${unknown}.1`)
    expect((await take(none, 3)).map(({ id }) => id)).toEqual(['f.4', 'f.5', 'f.6'])
    await none.close()
  })

  test('shows users their own sessions, and nothing of others', async () => {
    await using doors = await openDoors()
    const before = await runOf(doors, 'of-somebody-else')
    const reader = await open(doors, '', asAda)
    await take(reader, 1)
    await runOf(doors, 'of-somebody-else')
    const { sessionId } = await runOf(doors, 'ada-session', asAda)
    const frames = await take(reader, 3)

    expect(frames.map(shortOf)).toEqual(['session active', 'run running', 'run completed'])
    expect(frames.map((frame) => dataOf(frame).session_id)).toEqual([sessionId, sessionId, sessionId])
    expect(await refusalOf(await doors.get(`/events?session=${before.sessionId}`, asAda))).toEqual({
      status: 404,
      code: 'session_not_found',
    })
    await reader.close()
  })

  test('does not send users to the inbox, which only operators may read', async () => {
    await using doors = await openDoors()

    const gone = await doors.get('/events?after=f.99', asAda)

    expect([gone.status, await gone.json()]).toEqual([
      410,
      expect.objectContaining({ detail: expect.stringContaining('Connect without it, and read again what you show.') }),
    ])
  })

  test('goes on when a named session is deleted, and says so', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    model.say(text('One'), stop)
    const { sessionId } = await runOf(doors, 'a')
    const reader = await open(doors, `?session=${sessionId}`)
    await take(reader, 8)
    expect((await doors.remove('/sessions/a')).status).toBe(204)
    const [gone] = await take(reader, 1)
    model.say(text('Two'), stop)
    await runOf(doors, 'b')
    const [next] = await take(reader, 1)

    expect([gone, next].map((frame) => frame && shortOf(frame))).toEqual(['session terminated', 'session active'])
    expect(await refusalOf(await doors.get(`/events?session=${sessionId}`, asOperator))).toEqual({
      status: 404,
      code: 'session_not_found',
    })
    await reader.close()
  })

  test('ends with an error frame when the server stops', async () => {
    await using doors = await openDoors()
    const reader = await open(doors)
    await take(reader, 1)
    doors.feed.close()

    expect((await reader.rest()).map(dataOf)).toEqual([
      { type: 'error', code: 'shutting_down', message: expect.any(String) },
    ])
  })
})
