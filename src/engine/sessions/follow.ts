// Reading a session or one of its runs: first the entries in the log, then new ones as they come, each once.

import { runNotFound, ServerError } from '../../domain/errors.ts'
import { type Entry, isEvent } from '../../domain/session/entry.ts'
import { isTerminalText } from '../../domain/session/event.ts'
import { isFinished } from '../../domain/session/run.ts'
import type { Watcher } from '../../log/watcher.ts'
import type { Store } from '../../store/store.ts'
import type { EngineParts } from '../create-engine.ts'
import type { FollowTarget } from '../ports/runs.ts'
import type { Runner } from '../run/runner.ts'

export interface FollowDeps extends Pick<EngineParts, 'store' | 'log' | 'presence' | 'stuck'> {
  runner: Runner
}

/** A plain iterator, where a generator would make three promises more for every token. */
export const followEntries = (
  deps: FollowDeps,
  target: FollowTarget,
  signal: AbortSignal,
): AsyncIterable<readonly Entry[]> => ({ [Symbol.asyncIterator]: () => createFollower(deps, target, signal) })

type Batch = IteratorResult<readonly Entry[], undefined>

const DONE: Batch = { done: true, value: undefined }

function createFollower(
  { store, log, presence, runner, stuck }: FollowDeps,
  target: FollowTarget,
  signal: AbortSignal,
): AsyncIterator<readonly Entry[], undefined> {
  const { sessionId, runId, holder } = target
  let watcher: Watcher | null = null
  let hasEnded = false

  const isOwn = (entry: Entry): boolean => entry.runId === runId

  /** The entries of the run. It ends after its terminal event. */
  function pick(batch: readonly Entry[]): readonly Entry[] {
    const own = batch.every(isOwn) ? batch : batch.filter(isOwn)
    hasEnded = hasEnd(own)
    return own
  }

  async function open(): Promise<Batch> {
    const after = await placeOf(store, target)
    if (after === null || hasEnded) return end()
    const leave = presence.arrive(sessionId, runId)
    const close = () => opened.close()
    const unlisten = runId === undefined ? () => {} : stuck.listen(runId, (why) => opened.close(why))
    const unlistenEnd = runner.onEnd(() => opened.close())
    const onClose = () => {
      unlisten()
      signal.removeEventListener('abort', close)
      unlistenEnd()
      leave()
    }
    const opened = log.watch(sessionId, after, runId === undefined ? { holder, onClose } : { holder, onClose, pick })
    watcher = opened
    signal.addEventListener('abort', close)
    if (signal.aborted || runner.hasEnded) close()
    try {
      // A deletion ends watchers that are there. If the session was deleted earlier, this stream must end by itself.
      if (!opened.isFresh && (await store.sessions.get(sessionId))?.status === 'terminated') return end()
    } catch (error) {
      close()
      throw error
    }
    return opened.next()
  }

  function end(): Batch {
    hasEnded = true
    watcher?.close()
    return DONE
  }

  return {
    next: () => (hasEnded ? Promise.resolve(end()) : (watcher?.next() ?? open())),
    return: async () => end(),
  }
}

/** The seq after which this reader begins. Null: it has seen the whole run. */
async function placeOf(
  store: FollowDeps['store'],
  { sessionId, runId, after, firstSeq = 0 }: FollowTarget,
): Promise<number | null> {
  if (runId !== undefined && after < firstSeq) return firstSeq - 1
  if (after > 0) await assertKnown(store, sessionId, after)
  if (runId === undefined) return after
  const run = await store.runs.get(runId)
  if (run === null) throw runNotFound(runId)
  if (isFinished(run.status) && run.lastSeq !== null && after >= run.lastSeq) return null
  if (run.firstSeq !== null) return Math.max(after, run.firstSeq - 1)
  const head = Math.max(after, await store.head(sessionId))
  // The run may have begun between the two reads.
  const begun = (await store.runs.get(runId))?.firstSeq ?? null
  return begun === null ? head : Math.min(head, begun - 1)
}

/** Facts may follow the terminal event: a run that waits can still be cancelled. */
function hasEnd(entries: readonly Entry[]): boolean {
  const last = entries.findLast(isEvent)
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
