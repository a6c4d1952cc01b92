// Stopping a run, whether it runs, is queued or waits.

import { hasCode } from '../domain/errors.ts'
import { factText } from '../domain/session/entry.ts'
import { isFinished, type RunRecord } from '../domain/session/run.ts'
import type { SessionRecord } from '../domain/session/session.ts'
import type { EngineParts } from './create-engine.ts'
import { stoppedEnd } from './run/run-end.ts'
import { logUnexecutedEnd } from './run/run-log.ts'
import { runStart } from './run/run-start.ts'
import { createRunWriter } from './run/run-writer.ts'
import type { Runner } from './run/runner.ts'

/** Returns the run as it is once the request to stop is durable. `by` says who or what asked. */
export type CancelRun = (run: RunRecord, by: string) => Promise<RunRecord>

interface CancelDeps extends Pick<EngineParts, 'store' | 'log' | 'clock' | 'logger' | 'middleware'> {
  runner: Pick<Runner, 'stop' | 'startNext'>
}

export function createCancelRun({ store, log, clock, logger, middleware, runner }: CancelDeps): CancelRun {
  async function cancel(run: RunRecord, by: string): Promise<RunRecord> {
    try {
      const fact = factText({ fact: 'cancel_requested', run: run.id, by, at: clock.now() })
      await log.commit({ type: 'request_cancel', runId: run.id, entries: [{ kind: 'fact', data: fact }] })
    } catch (error) {
      // It ended in the meantime, which is what was asked for.
      if (!hasCode(error, 'conflict')) throw error
    }
    // A run that has just begun to wait may be stopped here too. `endIdle` looks at what it is now.
    const isStopped = runner.stop(run, { kind: 'cancelled', by })
    await endIdle(run.id, by, isStopped)
    const now = (await store.runs.get(run.id)) ?? run
    // Whoever hears that a run has ended must never find it running again.
    if (isFinished(now.status)) await log.synced(now.sessionId)
    return now
  }

  /** Ends a run that nobody executes. */
  async function endIdle(runId: string, by: string, isStopped: boolean): Promise<void> {
    const run = await store.runs.get(runId)
    const session = run === null ? null : await store.sessions.get(run.sessionId)
    if (run === null || session === null) return
    if (run.status === 'queued' && !isStopped) await endQueued(run, session, by)
    if (run.status === 'waiting') await endWaiting(run, by)
    // It began to run just now.
    if (run.status === 'running' && !isStopped) runner.stop(run, { kind: 'cancelled', by })
  }

  /** On the wire it has ended already. What it waited for is interrupted. */
  async function endWaiting(run: RunRecord, by: string): Promise<void> {
    const { id: runId, sessionId, fence, usage } = run
    const end = { status: 'cancelled', now: clock.now(), entries: [], messages: [], usage, error: null } as const
    try {
      await log.commit({ type: 'finish_run', runId, fence, ...end })
      logUnexecutedEnd(logger, run, 'cancelled', { stoppedBy: by })
    } catch (error) {
      if (!hasCode(error, 'run_fenced')) throw error
      // It was answered just now, so its continuation is what has to stop.
      for (const open of await store.runs.open(sessionId)) if (open.status === 'running') await cancel(open, by)
    }
    await runner.startNext(sessionId)
  }

  /** A queued run that is cancelled never began: its whole stream is a start and an end. */
  async function endQueued(run: RunRecord, session: SessionRecord, by: string): Promise<void> {
    const now = Math.max(clock.now(), run.createdAt)
    const writer = createRunWriter({ log, clock, middleware, isOnlyProcess: true, stuck: null }, run)
    const input = { ...run.input, messages: [], regenerateAfter: undefined }
    for (const entry of runStart({ ...run, input }, session, now, middleware).entries) {
      writer.emit(JSON.parse(entry.data))
    }
    try {
      await writer.finish(stoppedEnd({ kind: 'cancelled', by }, { run, session, usage: [], timestamp: now }, []))
      logUnexecutedEnd(logger, run, 'cancelled', { stoppedBy: by })
    } catch (error) {
      if (!hasCode(error, 'run_fenced')) throw error
      // It began to run just now.
      runner.stop(run, { kind: 'cancelled', by })
    }
  }

  return cancel
}
