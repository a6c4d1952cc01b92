// Two engines on one store, as two processes would be. Time stands still, so what waits for it is moved on by hand.

import { describe, expect, onTestFinished, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import { createLocalWake } from '../../log/wake.ts'
import type { ScriptedOptions } from '../../models/scripted/scripted.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import type { Command } from '../../store/ports/command.ts'
import { createSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { type Store, wrapReads } from '../../store/store.ts'
import { createLocalPresence } from '../sessions/presence.ts'
import { openEngine, outline, type TestEngineOptions, testTool, userInput } from '../testing/open-engine.ts'

const endless: ScriptedOptions['answers'] = [{ parts: [{ text: 'Half' }, { hang: true }] }]
const whole: ScriptedOptions['answers'] = [{ parts: [{ text: 'Whole.' }] }]

interface TwoOptions extends TestEngineOptions {
  pollMs?: number
  /** The way of the first engine to the store. */
  way?: (store: Store) => Store
  /** Answers of the second engine. */
  second?: ScriptedOptions['answers']
}

const openStore = (): Store =>
  createSqliteStore({
    path: ':memory:',
    fatal(error) {
      throw error
    },
  })

/** The first engine never finishes its answer, the second one answers at once. With `pollMs`, no wake reaches the other engine. */
async function openTwo({ pollMs, way = (one) => one, second: answers = whole, ...more }: TwoOptions = {}) {
  const clock = createManualClock()
  const store = more.store ?? openStore()
  const common = createLocalWake({ clock, pollMs: null })
  const wake = () => (pollMs === undefined ? common : createLocalWake({ clock, pollMs }))
  const shared = { clock, presence: createLocalPresence(clock), isOnlyProcess: false }
  const lines: LogLine[] = []
  const logger = recordingLogger(lines)
  const first = openEngine({ ...shared, wake: wake(), answers: endless, logger, ...more, store: way(store) })
  const second = openEngine({ ...shared, wake: wake(), answers, store })

  /** Moves time on in small steps until the work is done. */
  async function settle<T>(work: Promise<T>): Promise<T> {
    let isDone = false
    const done = () => {
      isDone = true
    }
    work.then(done, done)
    while (!isDone) await clock.advance(5)
    return work
  }

  await settle(first.engine.recover())
  await settle(second.engine.recover())
  const end = async () => {
    await settle(second.engine.drain(0))
    await settle(first.engine.drain(0))
    await Promise.all([first.engine.close(), second.engine.close()])
    await settle(Promise.all([first.log.close(), second.log.close()]))
    await store.close()
  }
  return { first, second, store, clock, settle, lines, end }
}

test('a run is taken over when the lease of its owner has run out, and not before', async () => {
  const { first, second, store, clock, settle, end } = await openTwo()
  const accepted = await settle(first.start('go'))
  const { id, leaseOwner } = accepted.run
  await clock.advance(60_000)
  await settle(second.engine.recover())
  expect(await store.runs.get(id)).toMatchObject({ leaseOwner, fence: 1 })

  // From now on the owner does not renew its lease.
  await first.engine.close()
  await clock.advance(5_000)
  await settle(second.engine.recover())
  expect(await store.runs.get(id)).toMatchObject({ leaseOwner, fence: 1 })

  await clock.advance(4_000)
  await settle(second.engine.recover())
  expect(outline(await settle(second.events(accepted))).slice(-4)).toEqual([
    'TEXT_MESSAGE_CONTENT Whole.',
    'TEXT_MESSAGE_END',
    'STEP_FINISHED step_1',
    'RUN_FINISHED success',
  ])
  await end()
})

test('the only process of a store takes runs over at once, whatever the lease of their owner says', async () => {
  const { first, store, clock, settle, end } = await openTwo()
  const { run } = await settle(first.start('go'))

  const next = openEngine({ clock, store, answers: whole })
  await settle(next.engine.recover())

  const taken = await store.runs.get(run.id)
  expect([taken?.fence, taken?.leaseOwner === run.leaseOwner]).toEqual([2, false])
  await settle(next.engine.drain(0))
  await next.engine.close()
  await end()
})

test('a session that two engines delete at once is gone for both', async () => {
  let isDeleting = false
  const way = (store: Store): Store => ({
    ...store,
    runs: {
      ...store.runs,
      async open(sessionId) {
        const found = await store.runs.open(sessionId)
        if (isDeleting) {
          isDeleting = false
          await second.engine.sessions.remove(session)
        }
        return found
      },
    },
  })
  const { first, second, store, settle, end } = await openTwo({ way })
  const { session } = await settle(first.start('go'))
  isDeleting = true

  await settle(first.engine.sessions.remove(session))

  expect((await store.sessions.get(session.id))?.status).toBe('terminated')
  await end()
})

test('a run stops when it is cancelled through another engine, and its log line says who asked', async () => {
  const { first, second, settle, lines, end } = await openTwo()
  const accepted = await settle(first.start('go'))

  await settle(second.engine.runs.cancel(accepted.run, 'alice'))

  expect(outline(await settle(second.events(accepted))).at(-1)).toBe('RUN_FINISHED cancelled')
  expect(lines).toMatchObject([{ message: 'run', fields: { outcome: 'cancelled', stopped_by: 'alice' } }])
  await end()
})

test('where wakes get lost, a cancel is noticed within a second', async () => {
  const { first, second, store, clock, settle, end } = await openTwo({ pollMs: 1_000 })
  const { run } = await settle(first.start('go'))
  await settle(second.engine.runs.cancel(run, 'alice'))
  expect(await store.runs.get(run.id)).toMatchObject({ status: 'running', cancelRequested: true })

  await clock.advance(1_010)

  expect(await store.runs.get(run.id)).toMatchObject({ status: 'cancelled' })
  await end()
})

test('a run that was cancelled elsewhere does not begin to wait, even before it hears of the cancel', async () => {
  const { promise: isCancelled, resolve: cancelled } = Promise.withResolvers<void>()
  const act = testTool({
    name: 'act',
    async call() {
      await isCancelled
      return { content: 'done', isError: false }
    },
  })
  const clientTools = [{ name: 'pick', description: 'Lets the user pick.', parameters: { type: 'object' } }]
  const input = { ...userInput('m1', 'go'), clientTools, clientAnswers: 'next_request' as const }
  const answers = ['act', 'pick'].map((name) => ({ parts: [{ tool_call: { name } }] }))
  const { first, second, settle, end } = await openTwo({ pollMs: 1e9, tools: [act], answers })
  const accepted = await settle(first.start('go', { input }))
  await settle(second.engine.runs.cancel(accepted.run, 'alice'))
  cancelled()

  expect(outline(await settle(first.events(accepted))).at(-1)).toBe('RUN_FINISHED cancelled')
  await end()
})

test('a reader at another engine keeps a run alive, until it leaves', async () => {
  const { first, second, store, clock, settle, end } = await openTwo()
  const { run, session } = await settle(first.start('go', { origin: 'reader' }))
  const target = { sessionId: session.id, runId: run.id, after: 0 }
  const reader = second.engine.runs.follow(target, new AbortController().signal)[Symbol.asyncIterator]()
  await settle(reader.next())

  await clock.advance(60_000)
  expect(await store.runs.get(run.id)).toMatchObject({ status: 'running' })

  await reader.return?.()
  await clock.advance(11_000)
  expect(await store.runs.get(run.id)).toMatchObject({ status: 'cancelled' })
  await end()
})

test('a run that one engine gives back when it stops goes on at the other at once', async () => {
  const { first, second, settle, end } = await openTwo()
  const accepted = await settle(first.start('go'))
  const queued = await settle(second.start('and then', { session: { existing: accepted.session } }))

  await settle(first.engine.drain(0))

  expect(outline(await settle(second.events(accepted))).at(-1)).toBe('RUN_FINISHED success')
  expect(outline(await settle(second.events(queued))).at(-1)).toBe('RUN_FINISHED success')
  await end()
})

test('a newer run at one engine interrupts the run at the other, and is next', async () => {
  const { first, second, settle, end } = await openTwo()
  const before = await settle(first.start('go'))
  const session = { existing: before.session }

  const after = await settle(second.start('no, this', { session, onBusy: 'interrupt' }))

  expect(outline(await settle(second.events(before))).at(-1)).toBe('RUN_FINISHED cancelled')
  await settle(second.engine.runs.cancel(after.run, 'alice'))
  expect(outline(await settle(second.events(after)))[0]).toBe('RUN_STARTED')
  await end()
})

test.each([
  ['has left', 'cancelled', 'cancelled'],
  ['is still there', 'running', 'queued'],
] as const)(
  'a new message at one engine, while the reader of a run at the other %s',
  async (_what, firstIs, secondIs) => {
    const { first, second, store, clock, settle, end } = await openTwo()
    const before = await settle(first.start('go', { origin: 'reader' }))
    const reader = new AbortController()
    const target = { sessionId: before.session.id, runId: before.run.id, after: 0 }
    const stream = second.engine.runs.follow(target, reader.signal)[Symbol.asyncIterator]()
    await settle(stream.next())
    if (firstIs === 'cancelled') {
      reader.abort()
      await stream.return?.(undefined)
    }

    const after = await settle(second.start('no, this', { session: { existing: before.session } }))
    await clock.advance(3_000)

    expect((await store.runs.get(before.run.id))?.status).toBe(firstIs)
    if (secondIs === 'queued') expect((await store.runs.get(after.run.id))?.status).toBe(secondIs)
    else expect((await store.runs.get(after.run.id))?.status).not.toBe('queued')
    reader.abort()
    await end()
  },
)

test('a session is deleted through one engine while its run executes at the other, without asking in a hot loop', async () => {
  const inner = openStore()
  let requests = 0
  const counted: Store = {
    ...inner,
    commit(commands) {
      requests += commands.filter(({ type }) => type === 'request_cancel').length
      return inner.commit(commands)
    },
  }
  const { first, second, store, settle, end } = await openTwo({ pollMs: 1_000, store: counted })
  const { session, run } = await settle(first.start('go'))

  await settle(second.engine.sessions.remove(session))

  expect(await store.sessions.get(session.id)).toMatchObject({ status: 'terminated' })
  expect(first.engine.stats()).toMatchObject({ activeRuns: 0 })
  expect(await store.runs.get(run.id)).toBeNull()
  expect(requests).toBeLessThanOrEqual(3)
  await end()
})

/** A store that one engine cannot reach while `isAway`; while `isPaused`, its process does not renew its lease. */
function createWay() {
  const state = { isAway: false, isPaused: false }
  const away = () => Promise.reject(new ServerError('storage_failed', 'The database does not answer.'))
  const way = (store: Store): Store => ({
    ...store,
    ...wrapReads(store, async (read) => (state.isAway ? away() : read())),
    commit(commands) {
      if (state.isAway) return away()
      const isHeld = ({ type }: Command) => state.isPaused && type === 'renew_lease'
      return store.commit(
        commands.map((command) => (isHeld(command) ? ({ ...command, until: 0 } as Command) : command)),
      )
    },
  })
  return { state, way }
}

test('whenever a process dies, its run goes on at another one within 15 seconds', async () => {
  for (const lifeMs of [0, 700, 1_900, 2_999, 4_444, 8_100]) {
    const { first, second, store, clock, settle, end } = await openTwo({ pollMs: 1_000 })
    const { run } = await settle(first.start('go'))
    await clock.advance(lifeMs)
    await first.engine.close()
    const died = clock.mono()

    while ((await store.runs.get(run.id))?.status !== 'completed') {
      await clock.advance(100)
      expect(clock.mono() - died).toBeLessThanOrEqual(15_000)
    }

    expect(second.engine.stats().runsFinished).toEqual({ completed: 1 })
    await end()
  }
})

/** Three engines on one store. The first one has 40 runs that never end, and dies; the others know of each other. */
async function openSurvivors(isGone: (name: string) => boolean = () => false) {
  const clock = createManualClock()
  const store = openStore()
  const names = ['a', 'b', 'c']
  const limits = { activeRuns: 1_000 }
  const openOne = (leaseOwner: string) =>
    openEngine({
      clock,
      store,
      limits,
      leaseOwner,
      isOnlyProcess: false,
      presence: createLocalPresence(clock),
      answers: endless,
      wake: createLocalWake({ clock, pollMs: 1_000 }),
      otherProcesses: () => names.filter((one) => one !== leaseOwner),
    })
  const engines = names.map(openOne)
  const [first] = engines
  const ready = Promise.all(engines.map(({ engine }) => engine.recover()))
  await clock.advance(100)
  await ready
  if (first === undefined) expect.fail()
  for (let i = 0; i < 40; i += 1) {
    const started = first.start('go', { session: { create: { alias: `s${i}` } } })
    await clock.advance(5)
    await started
  }
  const died = clock.mono()
  for (const [i, { engine }] of engines.entries()) if (i === 0 || isGone(names[i] ?? '')) await engine.close()

  /** How many runs each has when all have been taken over, and after how many ms. */
  async function takenOver(): Promise<{ owned: number[]; ms: number }> {
    const owned = () => Promise.all(names.map(async (name) => (await store.runs.owned(name)).length))
    while (((await owned())[0] ?? 0) > 0) {
      await clock.advance(100)
      if (clock.mono() - died > 60_000) break
    }
    return { owned: await owned(), ms: clock.mono() - died }
  }

  onTestFinished(async () => {
    const drained = Promise.all(engines.map(({ engine }) => engine.drain(0)))
    await clock.advance(5_000)
    await drained
    for (const { engine } of engines) await engine.close()
    await store.close()
  })
  return { takenOver }
}

test('the runs of a dead process are shared out among those that live', async () => {
  const { takenOver } = await openSurvivors()

  const { owned, ms } = await takenOver()

  expect(owned[0]).toBe(0)
  // The ids of the runs decide, and they are random. Fewer than four of 40 would be a chance of one in fifty million.
  expect(Math.min(owned[1] ?? 0, owned[2] ?? 0)).toBeGreaterThanOrEqual(4)
  expect(ms).toBeLessThanOrEqual(15_000)
})

test('the share of a process that does not take it is taken by another one, within 15 seconds', async () => {
  const { takenOver } = await openSurvivors((name) => name === 'c')

  const { owned, ms } = await takenOver()

  expect(owned).toEqual([0, 40, 0])
  expect(ms).toBeLessThanOrEqual(15_000)
})

test('a process that was paused stops the runs that others took over, and its readers go on reading', async () => {
  const { state, way } = createWay()
  const { first, second, store, clock, settle, lines, end } = await openTwo({ pollMs: 1_000, way })
  const accepted = await settle(first.start('go'))
  const seen = settle(first.events(accepted))
  await clock.advance(100)

  state.isPaused = true
  state.isAway = true
  await clock.advance(14_000)
  expect(await store.runs.get(accepted.run.id)).toMatchObject({ status: 'completed', fence: 2 })
  expect(first.engine.stats()).toMatchObject({ activeRuns: 1 })

  Object.assign(state, { isPaused: false, isAway: false })
  await clock.advance(1_000)
  expect(first.engine.stats()).toMatchObject({ activeRuns: 0, runsFinished: { lost: 1 } })
  expect(lines.filter(({ level }) => level === 'error')).toEqual([])
  expect(outline(await seen)).toEqual(outline(await settle(second.events(accepted))))
  await end()
})

test('a process that starts when the database is back gives those that live a moment, too', async () => {
  const { state, way } = createWay()
  const inner = openStore()
  const { first, store, clock, settle, end } = await openTwo({ pollMs: 1_000, store: { ...inner, ...way(inner) } })
  const { run } = await settle(first.start('go'))
  state.isAway = true
  await clock.advance(25_000)

  const common = { clock, presence: createLocalPresence(clock), isOnlyProcess: false, store: inner, answers: whole }
  const third = openEngine({ ...common, wake: createLocalWake({ clock, pollMs: 1_000 }) })
  await settle(third.engine.recover())
  await clock.advance(500)
  state.isAway = false
  await clock.advance(10_000)

  expect(await store.runs.get(run.id)).toMatchObject({
    status: 'running',
    leaseOwner: run.leaseOwner,
    fence: run.fence,
  })
  await third.engine.close()
  await end()
})

test('while the database is away runs wait for it, and nobody takes them from a process that lives', async () => {
  const { state, way } = createWay()
  const parts = [{ text: 'One ' }, { delay_ms: 5_000, text: 'two ' }, { delay_ms: 30_000, text: 'three.' }]
  const inner = openStore()
  const shared = { ...inner, ...way(inner) }
  const { first, second, store, clock, settle, end } = await openTwo({
    pollMs: 1_000,
    store: shared,
    answers: [{ parts }],
  })
  const accepted = await settle(first.start('go'))
  await clock.advance(1_000)

  state.isAway = true
  await clock.advance(25_000)
  state.isAway = false
  await clock.advance(25_000)

  expect(outline(await settle(second.events(accepted))).slice(-6)).toEqual([
    'TEXT_MESSAGE_CONTENT One ',
    'TEXT_MESSAGE_CONTENT two ',
    'TEXT_MESSAGE_CONTENT three.',
    'TEXT_MESSAGE_END',
    'STEP_FINISHED step_1',
    'RUN_FINISHED success',
  ])
  expect(await store.runs.get(accepted.run.id)).toMatchObject({ fence: 1 })
  await end()
})

test('a run that was stored for a process that never heard of it is executed all the same', async () => {
  let isLost = false
  const way = (store: Store): Store => ({
    ...store,
    async commit(commands) {
      const committed = await store.commit(commands)
      if (isLost && commands.some(({ type }) => type === 'accept_run')) {
        throw new ServerError('storage_failed', 'The answer of the database got lost.')
      }
      return committed
    },
  })
  const { first, store, clock, settle, end } = await openTwo({ pollMs: 1_000, way, answers: whole })
  isLost = true
  await expect(settle(first.start('go'))).rejects.toMatchObject({ code: 'storage_failed' })
  const session = await store.sessions.byAlias('local_user', 'thread')

  await clock.advance(5_000)

  expect(await store.runs.list(session?.id ?? '')).toMatchObject([{ status: 'completed' }])
  await end()
})

describe('a process that stops on a shared store', () => {
  test('hands runs that are read live over, and that is no death', async () => {
    const { first, second, store, settle, end } = await openTwo()
    const accepted = await settle(first.start('go', { origin: 'reader' }))

    await settle(first.engine.drain(0))

    expect(outline(await settle(second.events(accepted))).at(-1)).toBe('RUN_FINISHED success')
    const facts = (await store.entries(accepted.session.id, 0, 100)).filter(({ kind }) => kind === 'fact')
    const recovered = facts.map(({ data }) => JSON.parse(data)).find(({ fact }) => fact === 'run_recovered')
    expect(recovered).not.toHaveProperty('died')
    await end()
  })

  test('lets go of a run between two steps, so its readers see one whole answer', async () => {
    const { promise: isDone, resolve: done } = Promise.withResolvers<void>()
    const act = testTool({
      name: 'act',
      async call() {
        await isDone
        return { content: 'done', isError: false }
      },
    })
    const { first, second, clock, settle, end } = await openTwo({
      tools: [act],
      answers: [{ parts: [{ tool_call: { name: 'act' } }] }, { parts: [{ text: 'Half' }, { hang: true }] }],
    })
    const accepted = await settle(first.start('go', { origin: 'reader' }))
    const seenHere = first.events(accepted)
    await clock.advance(100)

    const draining = first.engine.drain(30_000)
    await clock.advance(3_000)
    done()
    await settle(draining)

    // It had time, so its own reader saw everything too.
    expect(clock.mono()).toBeLessThan(10_000)
    const seen = outline(await settle(second.events(accepted)))
    expect(outline(await settle(seenHere))).toEqual(seen)
    expect(seen.filter((line) => !line.startsWith('TOOL_CALL_'))).toEqual([
      'RUN_STARTED',
      'STEP_STARTED step_1',
      'STEP_FINISHED step_1',
      'STEP_STARTED step_2',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT Whole.',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_2',
      'RUN_FINISHED success',
    ])
    await end()
  })
})
