// Schedules on a real engine and a real store, with a clock of the test.

import type { AgentDefinition } from '../../domain/agent/agent.ts'
import type { ScheduleSettings } from '../../domain/agent/schedule.ts'
import { type Logger, silentLogger } from '../../domain/logger.ts'
import type { ChannelLine } from '../../domain/supervision/delivery.ts'
import { openEngine, type TestEngineOptions, testAgent } from '../../engine/testing/open-engine.ts'
import { createManualClock } from '../../http/testing/server-fixture.ts'
import { createNotes, type Notes } from '../../log/notes.ts'
import { createSchedules } from '../schedules.ts'

export const daily: ScheduleSettings = {
  name: 'daily',
  times: { type: 'cron', cron: '0 8 * * *', timeZone: 'UTC' },
  jitterMs: 0,
  until: null,
  count: null,
  missed: 'skip',
  message: 'Write the report.',
  inputs: {},
  session: null,
  owner: 'local_user',
  notify: [],
}

/** A manual clock that can begin anywhere and be set. */
export function createTestClock(begin: string) {
  const clock = createManualClock()
  let ahead = Date.parse(begin) - clock.now()
  return {
    ...clock,
    now: () => clock.now() + ahead,
    /** The wall clock is set, and timers do not notice. */
    set(ms: number) {
      ahead += ms
    },
  }
}

export type TestClock = ReturnType<typeof createTestClock>

interface Options {
  clock: TestClock
  settings?: readonly ScheduleSettings[]
  engine?: TestEngineOptions
  logger?: Logger
}

/** One server. `replica` is another one on the same store and engine. */
export function openTestSchedules({ clock, settings = [daily], engine: options, logger = silentLogger }: Options) {
  const opened = openEngine({ clock, ...options })
  const { engine, store, log, ids } = opened
  const told: (Omit<ChannelLine, 'n'> & { channel: string })[] = []
  const agents: AgentDefinition[] = [{ ...testAgent, schedules: settings }]
  const notes = createNotes({ log, outbox: store.outbox, clock })

  const replica = (more: { notes?: Notes; engine?: typeof engine; agents?: AgentDefinition[] } = {}) =>
    createSchedules({
      agents,
      engine,
      notes,
      channels: ['slack:C1', 'webhook:pager'],
      queue: async (channel, line) => {
        told.push({ channel, ...line })
      },
      asHolder: (work) => work(),
      tellOthers: async () => {},
      clock,
      ids,
      logger,
      ...more,
    })

  /** Until all that was begun has ended. The log waits for a few milliseconds of the clock between two commits. */
  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < 20; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(1)
      if (engine.stats().activeRuns > 0) quiet = 0
    }
  }

  /** Moves the time on step by step, and lets everybody do what is due then. */
  async function pass(ms: number, stepMs = ms): Promise<void> {
    await settle()
    for (let done = 0; done < ms; done += stepMs) {
      clock.advance(Math.min(stepMs, ms - done))
      await settle()
    }
  }

  /** Each run that a schedule started, by what it was told and when, in order. */
  async function started(): Promise<string[]> {
    const sessions = await store.sessions.list({ limit: 10_000 })
    const runs = await Promise.all(sessions.map(({ id }) => store.runs.latest(id, 1_000)))
    return runs
      .flat()
      .map(({ createdAt }) => new Date(createdAt).toISOString().slice(0, 16))
      .sort()
  }
  return { ...opened, notes, replica, told, started, settle, pass }
}
