// Sends the events of a run or a session to one reader. The stream of a run always ends with a terminal event. If the log has none for
// this reader, one is made: it has no id and is not stored.

import type { Clock } from '../../../domain/clock.ts'
import { hasCode, runNotFound, ServerError } from '../../../domain/errors.ts'
import { ulidOf } from '../../../domain/ids.ts'
import type { Logger } from '../../../domain/logger.ts'
import { type Entry, isEvent } from '../../../domain/session/entry.ts'
import { isTerminalText, type RunEvent, type RunEventOf } from '../../../domain/session/event.ts'
import type { RunRecord } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Runs } from '../../../engine/ports/runs.ts'
import type { ByteStream, Reply, Request } from '../../../http/route.ts'
import { createProtobufEncoder, createSseEncoder, type EventEncoder, type Reader } from './encode-events.ts'
import { type EventId, formatEventId } from './event-id.ts'

export interface StreamDeps {
  engine: { runs: Pick<Runs, 'follow' | 'get' | 'handsOver'> }
  clock: Pick<Clock, 'now'>
}

interface RunStreamDeps extends StreamDeps {
  /** The reader comes back with its last id when the stream ends without a terminal event, as an EventSource does. */
  comesBack: boolean
}

/**
 * Sends the events of a run after `after`. Resolves at the end of the run, or when the reader is gone; never rejects. `follow` reads
 * the events, if not as they are stored.
 */
export async function streamRun(
  { engine, clock, comesBack }: RunStreamDeps,
  run: RunRecord,
  after: number,
  reader: EventReader,
  follow: Runs['follow'] = engine.runs.follow,
): Promise<void> {
  const { stream, signal } = reader
  await endWith(reader, clock, async () => {
    const holder = { owner: run.owner, onOverdue: () => stream.drop() }
    const target = { sessionId: run.sessionId, runId: run.id, after, ...knownStart(run), holder }
    const source = follow(target, signal)
    const { reading, inRun, lastSeq } = await streamEntries(source, run.sessionId, reader, {
      lastSeq: after,
      inRun: true,
    })
    if (!reading || signal.aborted || !inRun) return null
    // Another process shows the rest, so there is nothing to tell.
    if (comesBack && engine.runs.handsOver && !(await isDeleted(engine, run.owner, run.id))) return null
    // The engine ends the stream of an active run only when the server stops.
    if (isOver(await engine.runs.get(run.owner, run.id), lastSeq)) return null
    return suspensionEvent(`/runs/${run.id}/events`, { sessionId: run.sessionId, seq: lastSeq }, clock.now())
  })
}

/** Sends the last event that `show` makes, or one that says why it failed. Null: the log has the last event, or nobody reads. */
async function endWith(
  { stream, encoder, signal, log }: EventReader,
  clock: StreamDeps['clock'],
  show: () => Promise<RunEvent | null>,
): Promise<void> {
  const last = await show().catch((error: unknown) => (signal.aborted ? null : failureEvent(error, clock.now(), log)))
  if (last !== null) await stream.write(encoder.events([last]))?.catch(() => {})
}

/** Spares the engine a lookup of the run. */
export const knownStart = (run: RunRecord) => (run.firstSeq === null ? {} : { firstSeq: run.firstSeq })

/** The stream of a run begins right before its first event, however long the session is. */
export const beforeFirst = (run: RunRecord): number => (run.firstSeq === null ? 0 : run.firstSeq - 1)

/** Whether this is the last event of the run. Facts may follow it, because a waiting run can be cancelled. */
export const isEndOf = (run: RunRecord, { runId, kind, data }: Entry): boolean =>
  runId === run.id && kind === 'event' && isTerminalText(data)

/** Whether a reader that has seen `after` has seen the whole run. A waiting run has ended on the wire. */
export function isOver(run: RunRecord, after: number): boolean {
  return run.status !== 'queued' && run.status !== 'running' && run.lastSeq !== null && after >= run.lastSeq
}

/**
 * Sends entries at the reader's pace, with one write for what was committed together. Throws only what `source` throws. `reading` is
 * false when the reader is gone; `inRun` says whether the last event that was sent is inside a run.
 */
async function streamEntries(
  source: AsyncIterable<readonly Entry[]>,
  sessionId: string,
  { stream, encoder }: EventReader,
  from: { lastSeq: number; inRun: boolean },
) {
  const session = ulidOf(sessionId)
  let { lastSeq, inRun } = from
  /** Null: no event was sent. */
  let lastRun: string | null = null

  /** A function of its own, so that the text of a large batch does not stay in memory while the loop waits for the next one. */
  function send(batch: readonly Entry[]): Promise<void> | undefined {
    const chunk = encoder.entries(batch, session)
    if (chunk === null) return undefined
    const last = batch.findLast(isEvent)
    if (last !== undefined) {
      lastSeq = last.seq
      lastRun = last.runId
      inRun = !isTerminalText(last.data)
    }
    return stream.write(chunk)
  }

  for await (const batch of source) {
    const blocked = send(batch)
    if (blocked !== undefined && !(await drained(blocked))) return { reading: false, inRun, lastSeq, lastRun }
  }
  return { reading: true, inRun, lastSeq, lastRun }
}

/**
 * Whether somebody has deleted the run's session at another server. Its last events were gone before they could be shown here. A store
 * that is away tells nothing.
 */
const isDeleted = (engine: StreamDeps['engine'], owner: string, runId: string): Promise<boolean> =>
  engine.runs.get(owner, runId).then(
    () => false,
    (error: unknown) => hasCode(error, 'run_not_found'),
  )

const drained = (blocked: Promise<void>): Promise<boolean> =>
  blocked.then(
    () => true,
    () => false,
  )

/**
 * Sends all events of a session after `from.lastSeq`, run after run, until the reader disconnects or the server stops. `inRun` says
 * whether the reader joins inside a run. `follow` as in `streamRun`. Never rejects.
 */
export async function streamSession(
  { engine, clock }: StreamDeps,
  session: SessionRecord,
  from: { lastSeq: number; inRun: boolean },
  reader: EventReader,
  follow: Runs['follow'] = engine.runs.follow,
): Promise<void> {
  const { stream, signal } = reader
  await endWith(reader, clock, async () => {
    const holder = { owner: session.owner, onOverdue: () => stream.drop() }
    const source = follow({ sessionId: session.id, after: from.lastSeq, holder }, signal)
    const { reading, inRun, lastSeq, lastRun } = await streamEntries(source, session.id, reader, from)
    if (!reading || signal.aborted || !inRun) return null
    if (engine.runs.handsOver) {
      if (lastRun === null || !(await isDeleted(engine, session.owner, lastRun))) return null
      throw runNotFound(lastRun)
    }
    return suspensionEvent(`/sessions/${session.id}/events`, { sessionId: session.id, seq: lastSeq }, clock.now())
  })
}

/** The server stops, and the run continues after its restart. `path` shows the rest. */
function suspensionEvent(path: string, seen: EventId, timestamp: number): RunEventOf<'RUN_ERROR'> {
  const header = seen.seq === 0 ? '' : ` with the header Last-Event-ID: ${formatEventId(seen)}`
  const message = `The server is stopping. The run continues after its restart: read GET ${path}${header}.`
  return { type: 'RUN_ERROR', message, code: 'shutting_down', timestamp }
}

/** The stream broke. The text of an unexpected error goes only to the log. */
function failureEvent(error: unknown, timestamp: number, log: Logger): RunEventOf<'RUN_ERROR'> {
  if (error instanceof ServerError) return { type: 'RUN_ERROR', message: error.message, code: error.code, timestamp }
  log.error('a stream of events failed', { error })
  const message = 'The server failed to show the run. Its log has the reason under the correlation id.'
  return { type: 'RUN_ERROR', message, code: 'internal_error', timestamp }
}

/** One reader of events and its open stream. */
export interface EventReader {
  stream: ByteStream
  encoder: EventEncoder
  /** Aborts when the reader disconnects. */
  signal: AbortSignal
  log: Logger
}

/** Answers 200 and opens the stream in the format that the request asks for. */
export async function openEventStream(request: Request, reply: Reply, reader: Reader): Promise<EventReader> {
  const { signal, log } = request
  if (!wantsProtobuf(request.header('accept'))) {
    return { stream: reply.sse(), encoder: createSseEncoder(reader), signal, log }
  }
  const { encode } = await import('@ag-ui/proto')
  return { stream: reply.stream(PROTOBUF_TYPE), encoder: createProtobufEncoder(encode, reader), signal, log }
}

/** The media type of AG-UI's binary format. With a parameter after it, clients would read the stream as SSE. */
export const PROTOBUF_TYPE = 'application/vnd.ag-ui.event+proto'

export const wantsProtobuf = (accept: string | undefined): boolean => wantsType(accept, PROTOBUF_TYPE)

/**
 * Whether an Accept header asks for a media type by name, with q > 0. A wildcard does not count: curl, fetch and browsers send it by
 * default, and their users want readable text.
 */
export function wantsType(accept: string | undefined, wanted: string): boolean {
  if (accept === undefined) return false
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === wanted && quality(parameters) > 0
  })
}

function quality(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => /^q\s*=/.test(parameter))
  if (q === undefined) return 1
  const value = Number(q.slice(q.indexOf('=') + 1))
  return Number.isNaN(value) ? 1 : value
}
