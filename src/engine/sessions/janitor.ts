// Regular housekeeping: takes over abandoned runs, expires waits, compacts idle sessions and purges old ones.

import type { SessionSettings } from '../../domain/agent/agent.ts'
import { type Clock, createSteadyTime } from '../../domain/clock.ts'
import { hasCode } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { isSupervised, type SupervisedRecord } from '../../domain/records/record.ts'
import { compactEntries } from '../../log/compact.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Store } from '../../store/store.ts'
import type { Engine } from '../engine.ts'
import type { Files } from '../files-port.ts'
import type { Jobs } from './jobs.ts'

export interface Janitor {
  /** One round of everything that is due. */
  sweep(): Promise<void>
  start(): void
  stop(): void
}

export interface JanitorDeps {
  engine: Pick<Engine, 'recover' | 'agents' | 'waits'>
  /** Null: this server keeps no files. */
  files: Pick<Files, 'sweep'> | null
  store: Pick<Store, 'entries' | 'head' | 'sessions' | 'waits'>
  log: SessionLog
  clock: Clock
  logger: Logger
  /** For sessions whose agent is no longer served. Otherwise the agent's own settings count. */
  sessions: Pick<SessionSettings, 'ttlSeconds' | 'retentionDays'>
  /** Ends what an agent elsewhere asked and nobody answered in time. */
  expireElsewhere: (wait: SupervisedRecord) => Promise<void>
  /** Looks after the sessions of agents elsewhere. */
  sweepElsewhere: () => Promise<void>
  /** Ends programs of this process that nobody has used for long enough. */
  tidyPrograms: () => Promise<void>
  /** Removes what is left of sessions of agents elsewhere. */
  tidyElsewhere: () => Promise<void>
  jobs: Jobs
  /** Removes what dead processes left, once an hour. */
  tidyReplicas: () => Promise<void>
  /** How long an uploaded file is kept if no message brings it. */
  unsentFileSeconds: number
}

const SWEEP_MS = 10_000
/** Whoever keeps house does so until it misses a round. */
const HOUSEKEEPING = { job: 'housekeeping', ms: 15_000 }
const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * 60 * 60 * 1000
const SESSIONS_PER_SWEEP = 50
const PURGE_BATCH = 200
/** A log may have a million entries. What is compacted in one piece, all other commits of this process wait for. */
const COMPACTED_AT_ONCE = { entries: 5_000, chars: 2_000_000 }
const WAITS_PER_SWEEP = 200

export function createJanitor(deps: JanitorDeps): Janitor {
  const { engine, files, store, log, clock, logger, sessions, unsentFileSeconds, jobs } = deps
  let stopTimer = () => {}
  let stopped = false
  let nextTidy = clock.mono()

  const ttls = [...engine.agents.list.map((agent) => agent.sessions.ttlSeconds), sessions.ttlSeconds]
  const longest = Math.max(...ttls, ...engine.agents.list.map((agent) => agent.approval.expiresSeconds))
  const steadyTime = createSteadyTime(clock, 1_000 * longest)
  const ttlOf = (agent: string): number =>
    1_000 * (engine.agents.list.find((one) => one.name === agent)?.sessions ?? sessions).ttlSeconds

  async function compactIdle(): Promise<void> {
    const now = steadyTime()
    for (const id of await store.sessions.toCompact(now - 1_000 * Math.min(...ttls), SESSIONS_PER_SWEEP)) {
      const session = await store.sessions.get(id)
      if (session === null || session.lastActivity >= now - ttlOf(session.agent)) continue
      await compact(id)
    }
  }

  async function compact(sessionId: string): Promise<void> {
    const head = await store.head(sessionId)
    try {
      for (let seq = 0, isPart = true; isPart; ) {
        const entries = await store.entries(sessionId, seq, COMPACTED_AT_ONCE.entries, COMPACTED_AT_ONCE.chars)
        seq = entries.at(-1)?.seq ?? head
        isPart = seq < head
        await log.commit({ type: 'compact_session', sessionId, head, entries: compactEntries(entries), isPart })
      }
    } catch (error) {
      // It was used in the meantime. It is compacted when it is idle again.
      if (!hasCode(error, 'conflict')) throw error
    }
  }

  async function purge(): Promise<void> {
    let count = 0
    for (const agent of engine.agents.list) count += await purgeWith(agent.sessions.retentionDays, agent.name)
    // The server's own setting is for the sessions of agents that are no longer served.
    const longest = Math.max(...engine.agents.list.map((agent) => agent.sessions.retentionDays), sessions.retentionDays)
    const keepsAll =
      engine.agents.list.some((agent) => agent.sessions.retentionDays === 0) || sessions.retentionDays === 0
    if (!keepsAll) count += await purgeWith(longest)
    if (count > 0) logger.info('purged sessions past their retention', { count })
  }

  /** 0 days: sessions are kept for ever, except unlisted ones. */
  async function purgeWith(days: number, agent?: string): Promise<number> {
    const now = clock.now()
    const command = {
      type: 'purge_sessions',
      before: days === 0 ? null : now - days * DAY_MS,
      unlistedBefore: now - DAY_MS,
      unsentBefore: now - unsentFileSeconds * 1_000,
      now,
      limit: PURGE_BATCH,
      agent,
    } as const
    let total = 0
    for (;;) {
      const { count = 0 } = await log.commit(command)
      total += count
      // A batch may be smaller because others work on some of its sessions. Those are left for the next hour.
      if (count === 0) return total
    }
  }

  async function expireWaits(): Promise<void> {
    for (const wait of await store.waits.expired(steadyTime(), WAITS_PER_SWEEP)) {
      try {
        if (!isSupervised(wait)) await engine.waits.expire(wait)
        else await deps.expireElsewhere(wait)
      } catch (error) {
        logger.warn('a wait could not be ended yet', {
          wait_id: wait.id,
          session_id: wait.sessionId,
          run_id: wait.runId,
          error,
        })
      }
    }
  }

  async function sweep(): Promise<void> {
    await engine.recover()
    // One process does for all what belongs to the store.
    await jobs.asHolder(HOUSEKEEPING.job, HOUSEKEEPING.ms, async () => {
      await expireWaits()
      await deps.sweepElsewhere()
      await compactIdle()
    })
    await jobs.onceIn(HOUR_MS, 'purge', async () => {
      await purge()
      await deps.tidyReplicas()
    })
    await deps.tidyPrograms()
    // Each process has folders of its own.
    if (clock.mono() >= nextTidy) {
      nextTidy = clock.mono() + HOUR_MS
      await files?.sweep?.()
      await deps.tidyElsewhere()
    }
  }

  function schedule(): void {
    stopTimer = clock.after(SWEEP_MS, async () => {
      try {
        await sweep()
      } catch (error) {
        logger.warn('housekeeping failed and will be tried again', { error })
      }
      if (!stopped) schedule()
    })
  }

  return {
    sweep,
    start: schedule,
    stop() {
      stopped = true
      stopTimer()
      // If this fails, the next holder waits a little longer.
      void jobs.release(HOUSEKEEPING.job).catch(() => {})
    },
  }
}
