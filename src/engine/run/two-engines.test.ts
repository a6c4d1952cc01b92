// Two engines on one store, as two processes would be. Time stands still, so what waits for it is moved on by hand.

import { expect, test } from 'vitest'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import { createLocalWake } from '../../log/wake.ts'
import type { ScriptedOptions } from '../../models/scripted/scripted.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { createSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { createLocalPresence } from '../sessions/presence.ts'
import { openEngine, outline, type TestEngineOptions, testTool, userInput } from '../testing/open-engine.ts'

const endless: ScriptedOptions['answers'] = [{ parts: [{ text: 'Half' }, { hang: true }] }]
const whole: ScriptedOptions['answers'] = [{ parts: [{ text: 'Whole.' }] }]

/** The first engine never finishes its answer, the second one answers at once. With `pollMs`, no wake reaches the other engine. */
async function openTwo({ pollMs, ...more }: TestEngineOptions & { pollMs?: number } = {}) {
  const clock = createManualClock()
  const common = createLocalWake({ clock, pollMs: null })
  const wake = () => (pollMs === undefined ? common : createLocalWake({ clock, pollMs }))
  const shared = { clock, presence: createLocalPresence(clock), isOnlyProcess: false }
  const lines: LogLine[] = []
  const first = openEngine({ ...shared, wake: wake(), answers: endless, logger: recordingLogger(lines), ...more })
  const { store } = first
  const second = openEngine({ ...shared, wake: wake(), answers: whole, store })

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
  await clock.advance(9_000)
  await settle(second.engine.recover())
  expect(await store.runs.get(id)).toMatchObject({ leaseOwner, fence: 1 })

  await clock.advance(6_000)
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

test('a session is deleted through one engine while its run executes at the other, without asking in a hot loop', async () => {
  const inner = createSqliteStore({
    path: ':memory:',
    fatal(error) {
      throw error
    },
  })
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
