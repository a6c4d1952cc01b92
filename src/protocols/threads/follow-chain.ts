// A piece of work as this family sees it: a run, and the runs that went on where it waited for tools of the client. To the
// engine each wait ends a run; here it is one stream, which also keeps the time that the client has.

import { type Clock, sleep } from '../../domain/clock.ts'
import type { Entry } from '../../domain/entry.ts'
import { ServerError } from '../../domain/errors.ts'
import { isTerminalText, type RunEventOf, typeOfEventText } from '../../domain/event.ts'
import type { Logger } from '../../domain/logger.ts'
import type { RunRecord } from '../../domain/run.ts'
import { waitsFor } from '../../domain/run-answer.ts'
import type { Engine } from '../../engine/engine.ts'
import { beforeFirst, isOver } from '../shared/events/stream-events.ts'

export interface ChainDeps {
  engine: Pick<Engine, 'runs' | 'sessions' | 'waits' | 'messages'>
  clock: Clock
}

/** The runs of one piece of work up to the one that a reader is at, the first one first. */
export type RunChain = readonly [RunRecord, ...RunRecord[]]

export interface ChainPlace {
  chain: RunChain
  /** The last entry that the reader has seen. */
  after: number
  /** The calls that were left to the client where that was the end of a run; none: the reader is inside of a run. */
  left: readonly string[]
}

/** Where a run begins that was just taken, or was there already. */
export const startOfChain = (run: RunRecord): ChainPlace => ({
  chain: [run],
  after: beforeFirst(run),
  left: [],
})

/** Where a reader goes on that has seen `after`, an entry of this run. Null: it has seen all. */
export async function placeInChain(
  { engine }: ChainDeps,
  run: RunRecord,
  seen: Entry,
  after: number,
): Promise<ChainPlace | null> {
  const left = seen.runId === run.id ? clientWaits(seen) : []
  if (left.length === 0 && isOver(run, after)) return null
  let chain: RunChain = [run]
  for (let parent = await parentOf(engine, run); parent !== null; parent = await parentOf(engine, parent)) {
    chain = [parent, ...chain]
  }
  return { chain, after, left }
}

/** The run that this one goes on from; null for one that began with a word of its own. */
async function parentOf(engine: Pick<Engine, 'runs'>, run: RunRecord): Promise<RunRecord | null> {
  const { parentRunId, input, sessionId } = run
  if (parentRunId === null || input.messages.some(({ role }) => role === 'user')) return null
  const parent = await engine.runs.byWireId(sessionId, parentRunId)
  return parent === null || parent.createdAt > run.createdAt || parent.id === run.id ? null : parent
}

/** The run whose request began the work of this one. */
export async function firstRun(engine: Pick<Engine, 'runs'>, run: RunRecord): Promise<RunRecord> {
  const parent = await parentOf(engine, run)
  return parent === null ? run : firstRun(engine, parent)
}

/**
 * The entries of the work behind `place`, then live, over all waits for the client, to the end of the run that ends it. While
 * it is read, a call that the client does not answer in time is ended. Throws `cancelled` when a waiting run was stopped or
 * given up, `shutting_down` when the server stops first.
 */
export async function* followChain(
  { engine, clock }: ChainDeps,
  { chain, after, left }: ChainPlace,
  signal: AbortSignal,
  log: Logger,
): AsyncGenerator<readonly Entry[]> {
  const run = chain[chain.length - 1] ?? chain[0]
  const { sessionId, owner } = run
  const wireIds = new Set(chain.map(({ wireId }) => wireId))
  const timers = new Map<string, () => void>()
  let current = run.id
  let seen = after
  /** The calls that the current run left to the client. */
  let pending = left
  let waits = left.length > 0

  async function expire(id: string): Promise<void> {
    try {
      // As it is now: meanwhile it may wait for another run.
      const call = await engine.waits.clientCall(owner, id)
      if (call.status === 'pending') await engine.waits.expire(call)
    } catch (error) {
      log.warn('a call of the client could not be ended in time; it is tried again', { wait_id: id, error })
    }
  }

  async function keepTime(): Promise<void> {
    for (const { id, expiresAt } of await engine.waits.openClientCalls(sessionId)) {
      if (expiresAt === null || timers.has(id)) continue
      timers.set(
        id,
        clock.after(Math.max(0, expiresAt - clock.now()), () => void expire(id)),
      )
    }
  }

  /** Whether a waiting run that was asked to stop has stopped: it may just have been answered. */
  async function hasStopped(): Promise<boolean> {
    while (!signal.aborted) {
      try {
        const { status } = await engine.runs.get(owner, current)
        if (status !== 'waiting') return status !== 'completed'
      } catch (error) {
        if (error instanceof ServerError && error.code === 'run_not_found') return true
        throw error
      }
      await sleep(clock, 20, signal)
    }
    return false
  }

  try {
    if (!waits) {
      const first = run.firstSeq === null ? {} : { firstSeq: run.firstSeq }
      for await (const batch of engine.runs.follow({ sessionId, runId: run.id, after, ...first }, signal)) {
        yield batch
        const last = batch[batch.length - 1]
        if (last === undefined) continue
        seen = last.seq
        pending = clientWaits(last)
        waits = pending.length > 0
      }
    }
    if (!waits || signal.aborted) return
    await keepTime()

    for await (const batch of engine.runs.follow({ sessionId, after: seen }, signal)) {
      const own: Entry[] = []
      let isNewWait = false
      let ending: ServerError | null = null
      for (const entry of batch) {
        if (waits && isStart(entry)) {
          const start: RunEventOf<'RUN_STARTED'> = JSON.parse(entry.data)
          if (!wireIds.has(start.parentRunId ?? '') && !bringsResult(start, pending)) {
            ending = stopped('The thread went on with another message before all tools of the client had answered.')
            break
          }
          wireIds.add(start.runId)
          current = entry.runId ?? current
          waits = false
        }
        if (entry.runId !== current) continue
        if (waits) {
          if (!isCancel(entry) || !(await hasStopped())) continue
          ending = stopped('The run was stopped.')
          break
        }
        own.push(entry)
        if (entry.kind !== 'event' || !isTerminalText(entry.data)) continue
        pending = clientWaits(entry)
        waits = pending.length > 0
        isNewWait = waits
        if (waits) continue
        yield own
        return
      }
      if (own.length > 0) yield own
      if (ending !== null) throw ending
      if (isNewWait) await keepTime()
    }
    if (signal.aborted) return
    throw new ServerError(
      'shutting_down',
      'The server is stopping. The run goes on after its restart: send the request again with the header Last-Event-ID.',
      { details: { retry_after_seconds: 5 } },
    )
  } finally {
    for (const stop of timers.values()) stop()
  }
}

const stopped = (message: string): ServerError => new ServerError('cancelled', message)

const isStart = ({ kind, data }: Entry): boolean => kind === 'event' && typeOfEventText(data) === 'RUN_STARTED'

const isCancel = ({ kind, data }: Entry): boolean => kind === 'fact' && JSON.parse(data).fact === 'cancel_requested'

/** A client of another door may have answered, and said what it likes about where its run comes from. */
const bringsResult = ({ input }: RunEventOf<'RUN_STARTED'>, callIds: readonly string[]): boolean =>
  input?.messages.some((message) => message.role === 'tool' && callIds.includes(message.toolCallId)) === true

/** The calls that are left where this is the end of a run that waits for nothing but the client. */
const clientWaits = ({ kind, data }: Entry): readonly string[] =>
  kind === 'event' && isTerminalText(data) ? waitsFor(JSON.parse(data)).clientCallIds : []
