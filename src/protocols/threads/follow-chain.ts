// A chain: a run, and the runs that continued it after client tools. For the engine each wait for the client ends a run. Here the
// chain is one stream, which also enforces the time limit of the client.

import { type Clock, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Entry } from '../../domain/session/entry.ts'
import { isTerminalText, type RunEventOf, typeOfEventText } from '../../domain/session/event.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { waitsFor } from '../../domain/session/run-answer.ts'
import type { Engine } from '../../engine/engine.ts'
import { chainOf, type RunChain } from '../shared/answer/run-chain.ts'
import { beforeFirst, isOver } from '../shared/events/stream-events.ts'
import { nullIf } from '../shared/request/null-if.ts'

export interface ChainDeps {
  engine: Pick<Engine, 'runs' | 'sessions' | 'waits' | 'messages'>
  clock: Clock
}

export interface ChainPlace {
  chain: RunChain
  /** The last entry that the reader has seen. */
  after: number
  /** The calls for the client, if the reader is at the end of a run. Empty if the reader is inside a run. */
  left: readonly string[]
}

/** The start of a new or known run. */
export const startOfChain = (run: RunRecord): ChainPlace => ({
  chain: [run],
  after: beforeFirst(run),
  left: [],
})

/** Where a reader continues that has seen `after`, an entry of this run. Null if it has seen everything. */
export async function placeInChain(
  { engine }: ChainDeps,
  run: RunRecord,
  seen: Entry,
  after: number,
): Promise<ChainPlace | null> {
  const left = seen.runId === run.id ? clientWaits(seen) : []
  if (left.length === 0 && isOver(run, after)) return null
  return { chain: await chainOf(engine, run), after, left }
}

/**
 * The entries of the chain after `place`, then live, to the end of its last run. While it is read, it ends calls that the client does
 * not answer in time. Throws `cancelled` if a waiting run was stopped or given up, and `shutting_down` if the server stops first.
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
  /** The calls that the current run leaves to the client. */
  let pending = left
  let waits = left.length > 0

  async function expire(id: string): Promise<void> {
    try {
      // Read again: it may belong to another run by now.
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

  /** Whether a waiting run has stopped. It may just have been answered instead. */
  async function hasStopped(): Promise<boolean> {
    while (!signal.aborted) {
      const now = await engine.runs.get(owner, current).catch(nullIf('run_not_found'))
      if (now?.status !== 'waiting') return now?.status !== 'completed'
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
            ending = stopped('A new message continued the thread before all client tools had answered.')
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
      'The server is stopping. The run continues after its restart: send the request again with the header Last-Event-ID.',
      { details: { retry_after_seconds: 5 } },
    )
  } finally {
    for (const stop of timers.values()) stop()
  }
}

const stopped = (message: string): ServerError => new ServerError('cancelled', message)

const isStart = ({ kind, data }: Entry): boolean => kind === 'event' && typeOfEventText(data) === 'RUN_STARTED'

const isCancel = ({ kind, data }: Entry): boolean => kind === 'fact' && JSON.parse(data).fact === 'cancel_requested'

/** A client of another protocol may have answered, with any parentRunId. */
const bringsResult = ({ input }: RunEventOf<'RUN_STARTED'>, callIds: readonly string[]): boolean =>
  input?.messages.some((message) => message.role === 'tool' && callIds.includes(message.toolCallId)) === true

/** The calls for the client, if this entry ends a run that waits only for the client. */
const clientWaits = ({ kind, data }: Entry): readonly string[] =>
  kind === 'event' && isTerminalText(data) ? waitsFor(JSON.parse(data)).clientCallIds : []
