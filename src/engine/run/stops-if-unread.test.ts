// A new message stops the run before it if nobody reads that any more, unless somebody said what it should do.

import { describe, expect, test } from 'vitest'
import type { ScriptedOptions } from '../../models/scripted/scripted.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import type { AcceptedRun, StartRequest } from '../ports/runs.ts'
import { openEngine, outline, type TestEngineOptions, testAgent, userInput } from '../testing/open-engine.ts'

const GRACE_MS = 10_000

/** An engine whose first answer never ends, with a clock that stands still. */
function open(options: TestEngineOptions = {}) {
  const clock = createManualClock()
  const answers: ScriptedOptions['answers'] = [
    { parts: [{ text: 'Half' }, { hang: true }] },
    { parts: [{ text: 'Whole.' }] },
  ]
  const engine = openEngine({ answers, clock, limits: { disconnectGraceMs: GRACE_MS }, ...options })

  /** Moves time on, little by little, until the work is done. It must be done within `most` milliseconds. */
  async function within<T>(most: number, work: Promise<T>): Promise<T> {
    let isDone = false
    const done = () => {
      isDone = true
    }
    work.then(done, done)
    for (let ms = 0; !isDone && ms < most; ms += 5) await clock.advance(5)
    return isDone ? work : Promise.reject(new Error(`not done after ${most} ms`))
  }

  /** Reads a run until its answer has begun. The returned function disconnects. */
  async function read({ run, session }: AcceptedRun): Promise<() => Promise<void>> {
    const reader = new AbortController()
    const stream = engine.engine.runs.follow({ sessionId: session.id, runId: run.id, after: 0 }, reader.signal)
    let seen = ''
    while (!seen.includes('Half')) {
      const { value } = await within(1_000, stream[Symbol.asyncIterator]().next())
      seen += JSON.stringify(value)
    }
    return async () => {
      reader.abort()
      await stream[Symbol.asyncIterator]().return?.(undefined)
    }
  }

  const start = (text: string, more: Partial<StartRequest> = {}) => within(1_000, engine.start(text, more))
  const first = (more: Partial<StartRequest> = {}) => start('count', { origin: 'reader', ...more })
  const end = (accepted: AcceptedRun, most = 1_000) =>
    within(most, engine.events(accepted)).then((events) => outline(events).at(-1))
  const status = async ({ run }: AcceptedRun) => (await engine.store.runs.get(run.id))?.status
  const close = () => within(60_000, engine.close())
  return { ...engine, clock, start, first, read, end, status, within, close }
}

describe('a new message', () => {
  test('stops a run whose reader has left, and is answered at once', async () => {
    const server = open()
    const first = await server.first()
    const leave = await server.read(first)
    await leave()

    const second = await server.start('no, this', { origin: 'reader', session: { existing: first.session } })

    expect(await server.end(second)).toBe('RUN_FINISHED success')
    expect(await server.end(first)).toBe('RUN_FINISHED cancelled')
    await server.close()
  })

  test('stops it also if the reader is seen to leave a moment later', async () => {
    const server = open()
    const first = await server.first()
    const leave = await server.read(first)
    const second = await server.start('no, this', { session: { existing: first.session } })
    expect(await server.status(second)).toBe('queued')

    await leave()

    expect(await server.end(second)).toBe('RUN_FINISHED success')
    await server.close()
  })

  test('stops it where readers may be away for ever', async () => {
    const server = open({ limits: { disconnectGraceMs: null } })
    const first = await server.first()
    await (await server.read(first))()
    await server.clock.advance(60 * GRACE_MS)
    expect(await server.status(first)).toBe('running')

    const second = await server.start('no, this', { session: { existing: first.session } })

    expect(await server.end(second)).toBe('RUN_FINISHED success')
    await server.close()
  })

  test.each<[what: string, first: Partial<StartRequest>, second: Partial<StartRequest>, options: TestEngineOptions]>([
    ['the header says queue', {}, { onBusy: 'queue' }, {}],
    ['the agent says queue', {}, {}, { agent: { sessions: { ...testAgent.sessions, onBusy: 'queue' } } }],
    ['it is the same message again', {}, { input: userInput('again', 'count') }, {}],
    ['it asks for another answer', {}, { input: { ...userInput('', ''), messages: [], regenerateAfter: 'm1' } }, {}],
    ['the run was started in the background', { origin: 'background' }, {}, {}],
  ])('waits if %s', async (_what, before, after, options) => {
    const server = open(options)
    const first = await server.first({ input: userInput('m1', 'count'), ...before })
    await (await server.read(first))()

    const second = await server.start('no, this', { session: { existing: first.session }, ...after })
    await server.clock.advance(GRACE_MS / 2)

    expect([await server.status(first), await server.status(second)]).toEqual(['running', 'queued'])
    await server.close()
  })

  test('waits while somebody reads the run, as does a second one', async () => {
    const server = open()
    const first = await server.first()
    const [, leave] = [await server.read(first), await server.read(first)]
    await leave()

    const session = { existing: first.session }
    const later = [await server.start('2', { session }), await server.start('3', { session })]
    await server.clock.advance(2 * GRACE_MS)

    expect(await Promise.all([first, ...later].map(server.status))).toEqual(['running', 'queued', 'queued'])
    await server.close()
  })

  test('waits for a run that nobody has begun to read', async () => {
    const server = open()
    const first = await server.first()

    const second = await server.start('and this', { session: { existing: first.session } })
    await server.clock.advance(GRACE_MS / 2)

    expect([await server.status(first), await server.status(second)]).toEqual(['running', 'queued'])
    await server.close()
  })

  test('with the id of the run itself attaches to it', async () => {
    const server = open()
    const first = await server.first({ wireRunId: 'run-1' })
    await (await server.read(first))()

    const again = await server.first({ wireRunId: 'run-1', session: { existing: first.session } })
    await server.clock.advance(GRACE_MS / 2)

    expect([again.run.id, again.existing, await server.status(first)]).toEqual([first.run.id, true, 'running'])
    await server.close()
  })

  test('under the same idempotency key attaches to it', async () => {
    const server = open()
    const idempotency = { key: 'k', digest: 'd' }
    const first = await server.first({ idempotency })
    await (await server.read(first))()

    const again = await server.first({ idempotency, session: { existing: first.session } })
    await server.clock.advance(GRACE_MS / 2)

    expect([again.run.id, again.existing, await server.status(first)]).toEqual([first.run.id, true, 'running'])
    await server.close()
  })
})
