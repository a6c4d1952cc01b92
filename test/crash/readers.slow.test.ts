// Readers that do not read, and readers that come back with an invalid event id.
//
//   READERS=500 vitest run test/crash/readers.slow.test.ts      the long variant

import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createIds, parseUuid, ulidOf } from '../../src/domain/ids.ts'
import { breakMachine } from './support/broken-machine.ts'
import { fromEnvironment, megabytes, ms, print, quantile } from './support/figures.ts'
import { openStreams } from './support/open-streams.ts'
import { createPersistentClient } from './support/persistent-client.ts'
import { runInput } from './support/run-input.ts'
import { type Frame, record } from './support/sse-recorder.ts'
import { openYard } from './support/start-server.ts'
import { until } from './support/until.ts'

const READERS = fromEnvironment('READERS', 50)
// 50 × 256 KiB, the run itself, and what V8's nursery may grow to (up to 48 MB) while it all happens. Without the bound it
// would be 50 × 8 MB more. Alone it grows by 40 MB, on a busy machine by up to 280.
const GROWTH_LIMIT = 350_000_000
const STALL_MS = 30_000
/** For a machine that has other things to do. */
const PATIENCE_MS = 180_000
/** How many read late, and how many of the dropped ones come back. */
const SLOW = 4
const LARGE_EVENTS = 120
const STALLED = 1_000
/** How much memory may stay for each, besides what the first runs of a server leave. */
const LEFT_BYTES = 160_000

const answers = [
  // 8 MB: more than the kernel keeps for a connection that nobody reads.
  { when: 'long', parts: [{ text: 'x'.repeat(8_000), repeat: 1_000, delay_ms: 1 }] },
  { when: 'big', parts: [{ text: 'ok' }] },
  { parts: [{ text: 'tok ', repeat: 20, delay_ms: 5 }] },
]

describe('a reader that does not read', () => {
  test('costs little, is served from the log when it reads, and is dropped when it never does', {
    timeout: 600_000,
  }, async () => {
    const yard = await openYard(onTestFinished, { answers, agent: { limits: { answer_chars: 10_000_000 } } })
    const machine = await breakMachine(yard)
    const server = await yard.start({ env: machine?.env ?? {}, flags: ['--log-level', 'warn'] })
    const { url } = server
    // Readers that read come first, so that only the cost of those that do not read is measured.
    const warm = record({ url, method: 'POST', body: runInput('first', 'first', 'long') })
    await until('the first run has begun', () => warm.recording.frames.length > 0)
    await Promise.all(Array.from({ length: 4 }, () => record({ url: `${url}/runs/first/events` }).done))
    const before = await server.rss()
    const peak = { rss: before }
    const sampler = setInterval(async () => {
      peak.rss = Math.max(peak.rss, await server.rss().catch(() => 0))
    }, 100)
    onTestFinished(() => clearInterval(sampler))

    const later = Promise.withResolvers<void>()
    const tooLate = Promise.withResolvers<void>()
    const body = runInput('long', 'long', 'long')
    const first = record({ url, method: 'POST', body, hold: later.promise })
    await until('the run has begun', async () => (await record({ url: `${url}/runs/long` }).done).status === 200)
    const watch = (hold: Promise<void>) => record({ url: `${url}/runs/long/events`, hold })
    const slow = [first, ...Array.from({ length: SLOW - 1 }, () => watch(later.promise))]
    const stuck = Array.from({ length: READERS - SLOW }, () => watch(tooLate.promise))
    await until('all are answered', () => [...slow, ...stuck].every(({ recording }) => recording.status === 200))

    const others = Array.from({ length: 20 }, (_, i) =>
      createPersistentClient({ kind: 'stream', threadId: `other-${i}`, name: `other-${i}` }),
    )
    const took = await Promise.all(
      others.map(async (client) => {
        const began = performance.now()
        await client.go(url)
        return performance.now() - began
      }),
    )
    const isOver = async () => JSON.parse((await record({ url: `${url}/runs/long` }).done).body).status === 'completed'
    await until('the long answer is complete', isOver, PATIENCE_MS)
    const growth = peak.rss - before

    later.resolve()
    const log = (await record({ url: `${url}/runs/long/events` }).done).frames
    const served = await Promise.all(slow.map(({ done }) => done))
    const complete = served.map(({ frames, complete }) => complete && isSame(frames, log))

    expect(await openStreams(server)).toBe(stuck.length)
    if (machine !== null) await machine.moveClocks({ monotonic: STALL_MS })
    await until(
      'those who never read are dropped',
      async () => (await openStreams(server)) === 0,
      STALL_MS + PATIENCE_MS,
    )
    for (const reader of stuck.splice(SLOW)) reader.close()
    tooLate.resolve()
    const cut = await Promise.all(stuck.map(({ done }) => done))
    const resumed = await Promise.all(
      cut.map(async ({ frames }) => {
        const lastId = frames.at(-1)?.id
        const headers: Record<string, string> = lastId == null ? {} : { 'Last-Event-ID': lastId }
        const rest = await record({ url: `${url}/runs/long/events`, headers }).done
        return isSame([...frames, ...rest.frames], log)
      }),
    )

    print(
      `P12: ${READERS} readers that did not read an answer of 8 MB: memory grew by ${megabytes(growth)}; ${SLOW} read it late and got it all, ${READERS - SLOW} were dropped after 30 s${machine === null ? '' : ' (of a clock moved forward)'}, ${SLOW} of them resumed without a gap; 20 others meanwhile: p99 ${ms(quantile(took, 0.99))}`,
    )
    const all = Array(SLOW).fill(true)
    expect(others.map(({ ended }) => ended)).toEqual(Array(20).fill(true))
    expect({ complete, cut: cut.map(({ complete }) => !complete), resumed }).toEqual({
      complete: all,
      cut: all,
      resumed: all,
    })
    expect(growth).toBeLessThan(GROWTH_LIMIT)
  })
  test('costs little even if single events are large', { timeout: 600_000 }, async () => {
    const yard = await openYard(onTestFinished, { answers })
    const server = await yard.start({ flags: ['--log-level', 'warn'] })
    const { url } = server
    const text = `big ${'x'.repeat(90_000)}`
    for (let i = 0; i < LARGE_EVENTS; i += 1) {
      await record({ url, method: 'POST', body: runInput('big', `big-${i}`, text) }).done
    }
    // Readers that read come first, so that only the cost of those that do not read is measured.
    const readAll = async () => {
      const reader = record({ url: `${url}/sessions/big/events` })
      await until('it is read', () => count(reader.recording.frames) === LARGE_EVENTS, PATIENCE_MS)
      reader.close()
    }
    await Promise.all(Array.from({ length: 4 }, readAll))
    const before = await server.rss()
    let peak = before

    const later = Promise.withResolvers<void>()
    const readers = Array.from({ length: READERS }, () =>
      record({ url: `${url}/sessions/big/events`, hold: later.promise }),
    )
    await until(
      'all of them are answered',
      () => readers.every(({ recording }) => recording.status === 200),
      PATIENCE_MS,
    )
    for (let i = 0; i < 20; i += 1) {
      // An answer to this shows that the work for the readers is done.
      await record({ url: `${url}/health` }).done
      peak = Math.max(peak, await server.rss())
    }
    for (const reader of readers) reader.close()
    later.resolve()

    print(
      `P12: ${READERS} readers that did not read ${LARGE_EVENTS} events of 90 kB: memory grew by ${megabytes(peak - before)}`,
    )
    // Most of this is garbage. If each reader held all events it would be 700 MB.
    expect(peak - before).toBeLessThan(200_000_000)
  })
})

test('1,000 readers that stall give their memory back when they leave', { timeout: 600_000 }, async () => {
  const yard = await openYard(onTestFinished, { answers })
  // The flag that the launcher uses.
  const server = await yard.start({
    flags: ['--log-level', 'warn'],
    nodeArgs: ['--max-semi-space-size=32'],
    env: { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '131072' },
  })
  const { url, port } = server
  for (let i = 0; i < 40; i += 1) {
    await record({ url, method: 'POST', body: runInput('big', `big-${i}`, `big ${'x'.repeat(90_000)}`) }).done
  }
  const before = await server.rss()

  const sockets = Array.from({ length: STALLED }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write(`GET /sessions/big/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
    return socket
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  await until('all of them are served', async () => (await openStreams(server)) === STALLED, PATIENCE_MS)
  const held = await server.rss()
  for (const socket of sockets) socket.destroy()

  let left = held
  const isBack = async () => {
    left = await server.rss()
    return left - before < STALLED * LEFT_BYTES
  }
  await until('the memory is back', isBack, PATIENCE_MS)
  print(`P12: ${STALLED} readers that stalled held ${megabytes(held - before)}, and left ${megabytes(left - before)}`)
})

const count = (frames: readonly Frame[] = []): number =>
  frames.filter(({ data }) => data.startsWith('{"type":"RUN_FINISHED"')).length

const isSame = (a: readonly Frame[], b: readonly Frame[]): boolean =>
  a.length === b.length && a.every(({ id, data }, i) => id === b[i]?.id && data === b[i]?.data)

describe('a Last-Event-ID', () => {
  test('that is malformed, foreign or lost is answered with 400, 404 or 410, and never with an empty 200', async () => {
    const yard = await openYard(onTestFinished, { answers })
    const server = await yard.start({ flags: ['--log-level', 'error'] })
    const { url } = server
    const run = async (name: string) =>
      (await record({ url, method: 'POST', body: runInput(name, name, 'Hello') }).done).frames
    const frames = await run('mine')
    const other = await run('other')
    const [mine = '', last = ''] = [frames[2]?.id, frames.at(-1)?.id].map((id) => id ?? '')
    const [ulid = '', seq = ''] = mine.split('.')
    const uuid = parseUuid(ulid)
    const stranger = ulidOf(createIds(Date.now).uuid())
    const gone = '410 events_gone'
    const noId = '400 malformed_id'
    const noSession = '404 session_not_found'

    // Each spelling, and what it gets at `POST /`, `GET /runs/{id}/events` and `GET /sessions/{id}/events`.
    const spellings: readonly (readonly [id: string, post: string, run: string, session: string])[] = [
      ['nonsense', noId, noId, noId],
      ['', noId, noId, noId],
      [ulid, noId, noId, noId],
      [`.${seq}`, noId, noId, noId],
      [`${ulid}.`, noId, noId, noId],
      [`${ulid}.-1`, noId, noId, noId],
      [`${ulid}.1e3`, noId, noId, noId],
      [`${ulid}.007`, noId, noId, noId],
      [`${ulid}.99999999999999999999`, noId, noId, noId],
      [`${ulid.slice(1)}.${seq}`, noId, noId, noId],
      [`mine.${seq}`, noId, noId, noId],
      [`${ulid}.${seq}, ${ulid}.${seq}`, noId, noId, noId],
      // A bare number means the session that the path names.
      ['999999', noId, gone, gone],
      [`${ulid}.999999`, gone, gone, gone],
      [`${stranger}.1`, noSession, noSession, noSession],
      [`${other[0]?.id}`, noSession, noSession, noSession],
      [seq, noId, '200 rest', '200 rest'],
      [mine, '200 rest', '200 rest', '200 rest'],
      [mine.toLowerCase(), '200 rest', '200 rest', '200 rest'],
      [`${uuid}.${seq}`, '200 rest', '200 rest', '200 rest'],
      // Everything has been seen: 204 tells an EventSource to stop, and a session's stream waits for the next run.
      [last, '204', '204', '200 open'],
    ]
    const rest = frames.slice(3)

    async function ask(lastEventId: string, path: string): Promise<string> {
      const isPost = path === '/'
      const recorder = record({
        url: url + path,
        method: isPost ? 'POST' : 'GET',
        headers: { 'Last-Event-ID': lastEventId },
        ...(isPost ? { body: runInput('mine', 'mine', 'Hello') } : {}),
      })
      const { recording } = recorder
      await until('an answer', () => recording.status !== null)
      if (recording.status === 200) {
        // A session's stream does not end by itself.
        const wanted = lastEventId === last ? 0 : rest.length
        await until('the events', () => recording.frames.length >= wanted)
        recorder.close()
        const seen = isSame(recording.frames, rest) ? 'rest' : `${recording.frames.length} events`
        return `200 ${lastEventId === last && recording.frames.length === 0 ? 'open' : seen}`
      }
      const { status, body } = await recorder.done
      if (status === 204) return '204'
      const problem: Record<string, unknown> = JSON.parse(body)
      if (status === 410) {
        const snapshot = record({ url: url + String(problem.snapshot) })
        await until('the snapshot', () => snapshot.recording.frames.length >= frames.length)
        snapshot.close()
      }
      return `${status} ${problem.code}`
    }

    const answered: string[][] = []
    for (const [id] of spellings) {
      answered.push([
        id,
        await ask(id, '/'),
        await ask(id, '/runs/mine/events'),
        await ask(id, '/sessions/mine/events'),
      ])
    }

    expect(answered).toEqual(spellings)
    const { body } = await record({ url: `${url}/runs/mine` }).done
    expect(JSON.parse(body)).toMatchObject({ run_id: 'mine', status: 'completed' })
    const refused = answered.flat().filter((answer) => /^4\d\d /.test(answer)).length
    print(
      `P6: ${spellings.length} spellings of Last-Event-ID at 3 routes: ${refused} refusals with 400, 404 or 410, 0 empty answers`,
    )
  })
})
