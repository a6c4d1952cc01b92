// A replica inside the measuring process: the real engine and log on the real Postgres store, with a model that speaks at a set pace.

import type { Clock } from '../../src/domain/clock.ts'
import { createSystemClock, sleep } from '../../src/domain/clock.ts'
import { silentLogger } from '../../src/domain/logger.ts'
import type { AcceptedRun } from '../../src/engine/ports/runs.ts'
import { createSharedPresence } from '../../src/engine/sessions/shared-presence.ts'
import { openEngine } from '../../src/engine/testing/open-engine.ts'
import { createNotifiedWake } from '../../src/log/notified-wake.ts'
import { type Model, type ModelPart, streamOf } from '../../src/models/model.ts'
import { createReaderRows } from '../../src/store/postgres/reader-rows.ts'
import { openTestPostgres } from '../../src/store/postgres/testing/open-postgres.ts'

const clock = createSystemClock()
let count = 0

/** What the next answers are like. Shared by all replicas of the process. */
export interface Pace {
  tokens: number
  /** Between two tokens. */
  everyMs: number
}

export type Replica = Awaited<ReturnType<typeof openReplica>>

export async function openReplica(url: string, pace: Pace) {
  count += 1
  const replica = `measured-${count}`
  const store = await openTestPostgres(url, { clock, writerId: replica })
  const { statements, notifications } = store.database
  const rows = createReaderRows(statements, store.time.nowForOthers)
  const wake = createNotifiedWake({ notifications, clock, replica, findOthers: () => rows.others(replica) })
  const isAlone = () => wake.isAlone
  const presence = createSharedPresence({ rows, replica, clock, logger: silentLogger, isAlone })
  const model = createPacedModel(clock, () => pace)
  const limits = { activeRuns: 100_000 }
  const sharing = { leaseOwner: replica, isOnlyProcess: false, otherProcesses: () => wake.others }
  const parts = openEngine({ clock, store, wake, presence, model, limits, ...sharing })
  await parts.engine.recover()

  return {
    ...parts,
    store,
    /** A run in a session of its own. */
    start: (name: string) => parts.start('Tell me.', { session: { create: { alias: name } } }),
    /** Reads a run to its end. */
    async follow({ run, session }: AcceptedRun): Promise<void> {
      const target = { sessionId: session.id, runId: run.id, after: 0 }
      for await (const _ of parts.engine.runs.follow(target, new AbortController().signal));
    },
    async close(): Promise<void> {
      await parts.engine.drain(0)
      await presence.close()
      wake.close()
      await parts.close()
    },
  }
}

/** A model that says one short word at a time. */
export function createPacedModel(time: Clock, pace: () => Pace): Model {
  async function* parts(_: unknown, signal: AbortSignal): AsyncGenerator<readonly ModelPart[]> {
    const { tokens, everyMs } = pace()
    // Streams that begin together do not speak in chorus.
    await sleep(time, Math.random() * everyMs, signal)
    for (let i = 0; i < tokens && !signal.aborted; i += 1) {
      yield [{ type: 'text', delta: ' token' }]
      if (everyMs > 0) await sleep(time, everyMs, signal)
    }
    if (signal.aborted) return
    yield [{ type: 'usage', usage: { inputTokens: 20, outputTokens: tokens } }]
    yield [{ type: 'finish', reason: 'stop' }]
  }
  return { provider: 'paced', name: 'paced', stream: streamOf(parts), check: async () => {} }
}
