// Reading a session or one of its runs: first the entries in the log, then new ones as they come, each once.

import { runNotFound, ServerError } from '../../domain/errors.ts'
import type { Entry } from '../../domain/session/entry.ts'
import { isTerminalText } from '../../domain/session/event.ts'
import { isFinished } from '../../domain/session/run.ts'
import type { Store } from '../../store/store.ts'
import type { EngineParts } from '../create-engine.ts'
import type { FollowTarget } from '../ports/runs.ts'
import type { Runner } from '../run/runner.ts'

export interface FollowDeps extends Pick<EngineParts, 'store' | 'log' | 'presence' | 'stuck'> {
  runner: Runner
}

export async function* followEntries(
  { store, log, presence, runner, stuck }: FollowDeps,
  target: FollowTarget,
  signal: AbortSignal,
): AsyncGenerator<readonly Entry[]> {
  const { sessionId, runId } = target
  let after = target.after
  const start = runId === undefined ? 0 : (target.firstSeq ?? 0)
  const fromStart = after < start
  if (fromStart) after = start - 1
  else if (after > 0) await assertKnown(store, sessionId, after)
  if (runId !== undefined && !fromStart) {
    const run = await store.runs.get(runId)
    if (run === null) throw runNotFound(runId)
    if (isFinished(run.status) && run.lastSeq !== null && after >= run.lastSeq) return
    after = Math.max(after, run.firstSeq === null ? await store.head(sessionId) : run.firstSeq - 1)
    // The run may have begun between the two reads.
    const again = run.firstSeq === null ? await store.runs.get(runId) : run
    if (run.firstSeq === null && again?.firstSeq != null) after = Math.min(after, again.firstSeq - 1)
  }

  const leave = presence.arrive(sessionId, runId)
  const watcher = log.watch(sessionId, after, target.holder)
  const close = () => watcher.close()
  const end: { why: ServerError | null } = { why: null }
  const onStuck = (why: ServerError) => {
    end.why = why
    close()
  }
  const unlisten = runId === undefined ? () => {} : stuck.listen(runId, onStuck)
  signal.addEventListener('abort', close)
  runner.ended.addEventListener('abort', close)
  if (signal.aborted || runner.ended.aborted) close()
  try {
    // A deletion ends watchers that are there. If the session was deleted earlier, this stream must end by itself.
    if ((await store.sessions.get(sessionId))?.status === 'terminated') return
    for (let batch = await watcher.next(); batch !== null; batch = await watcher.next()) {
      if (runId === undefined) {
        yield batch
        continue
      }
      let own = batch.every((entry) => entry.runId === runId) ? batch : batch.filter((entry) => entry.runId === runId)
      if (own.length > 0) yield own
      if (hasEnd(own)) return
      // It may be large, and must not stay in memory while this waits for the next one.
      own = []
    }
    if (end.why !== null) throw end.why
  } finally {
    unlisten()
    signal.removeEventListener('abort', close)
    runner.ended.removeEventListener('abort', close)
    watcher.close()
    leave()
  }
}

/** Facts may follow the terminal event: a run that waits can still be cancelled. */
function hasEnd(entries: readonly Entry[]): boolean {
  const last = entries.findLast(({ kind }) => kind === 'event')
  return last !== undefined && isTerminalText(last.data)
}

/** Throws `events_gone` if the log does not have this seq: it was purged, lost in a power cut, or never existed. */
async function assertKnown(store: Pick<Store, 'entries'>, sessionId: string, seq: number): Promise<void> {
  // Compaction merges only neighbours, so the next entry is this one or contains it.
  const [entry] = await store.entries(sessionId, seq - 1, 1)
  if (entry?.seq === seq || entry?.spans?.some(([merged]) => merged === seq)) return
  throw new ServerError(
    'events_gone',
    `Event ${seq} of this session is no longer in the log. Read the session again from its start.`,
    {
      details: { snapshot: `/sessions/${sessionId}/events?after=0` },
    },
  )
}
