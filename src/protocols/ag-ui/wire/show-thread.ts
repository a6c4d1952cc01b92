// A thread as it is now, for a client that comes back: what was said, what it waits for, and the run that is under way, live.

import type { Entry } from '../../../domain/entry.ts'
import { AG_UI_VERSION, type RunEvent, type RunEventOf } from '../../../domain/event.ts'
import type { StoredMessage } from '../../../domain/message.ts'
import { isFinished, type RunRecord } from '../../../domain/run.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Runs } from '../../../engine/ports/runs.ts'
import type { Reply, Request } from '../../../http/route.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'
import { type EventReader, openEventStream } from '../../shared/events/open-event-stream.ts'
import type { Reader } from '../../shared/events/protocol-version.ts'
import { beforeFirst, type StreamDeps, streamRun } from '../../shared/events/stream-events.ts'
import type { FileLinks } from '../../shared/request/file-links.ts'
import { sessionSnapshot, withFileUrls } from './session-snapshot.ts'
import { behindFirst } from './stream-warnings.ts'
import { type Outcome, waitingOutcome, withWaitingCalls } from './waiting-calls.ts'

/** More than can be queued and be cancelled there, so that the last one that was at work is among them. */
const LATEST = 20

export interface ShowThreadDeps extends StreamDeps {
  engine: Engine
  approvals: Approvals
  links: FileLinks
}

export interface ThreadRequest {
  request: Request
  reply: Reply
  /** As the client wrote them. */
  threadId: string
  runId: string
  reads: Reader
  /** Warnings about the request. */
  warnings?: readonly RunEvent[]
  /** How the events of a run are read, if not as they are stored. */
  follow?: Runs['follow']
}

/** A thread that nobody has begun. `messages`: what is said of them, where anything can be. */
export async function showUnknownThread(
  { clock }: Pick<ShowThreadDeps, 'clock'>,
  { request, reply, threadId, runId, reads, warnings = [] }: ThreadRequest,
  messages: readonly [] | null,
): Promise<void> {
  const timestamp = clock.now()
  const snapshot = messages && { type: 'MESSAGES_SNAPSHOT' as const, messages: [], timestamp }
  const outcome = { type: 'success' as const }
  const { stream, encoder } = await openEventStream(request, reply, reads)
  const events = hydrationEvents({ threadId, runId, state: undefined, snapshot, warnings, outcome, timestamp })
  await stream.write(encoder.events(events))?.catch(() => {})
  stream.end()
}

/**
 * Where nothing runs, a run that only shows what is there, with the outcome that the session waits for. Else the active run:
 * its start, the thread as a snapshot, and all its events until it ends; then the runs that were queued behind it. Whoever reads
 * this reads those runs.
 */
export async function showThread(deps: ShowThreadDeps, asked: ThreadRequest, session: SessionRecord): Promise<void> {
  const { engine, clock } = deps
  const { request, reply, threadId, runId, reads, warnings = [] } = asked
  reply.note({ session_id: session.id })
  const makeRoom = (bytes: number) => reply.makeRoom(bytes)
  const fileUrl = (id: string) => deps.links.urlOf(request, session.owner, id)
  const outcome = await waitingOutcome(deps, session)
  // Read last: what was answered meanwhile goes on, and is followed.
  const active = await underWay(engine, session)
  if (active !== null) {
    const reader = await openEventStream(request, reply, reads)
    const { follow = engine.runs.follow } = asked
    await followRuns(deps, { session, threadId, reader, makeRoom, fileUrl, warnings, follow }, active)
    return reader.stream.end()
  }
  const timestamp = clock.now()
  const { event: snapshot, leaveRoom } = await sessionSnapshot(engine.messages, session, {
    timestamp,
    makeRoom,
    fileUrl,
  })
  const { stream, encoder } = await openEventStream(request, reply, reads)
  const { state } = session
  const events = hydrationEvents({ threadId, runId, state, snapshot, warnings, outcome, timestamp })
  await stream.write(encoder.events(events))?.catch(() => {})
  leaveRoom()
  stream.end()
}

interface Followed {
  session: SessionRecord
  threadId: string
  reader: EventReader
  makeRoom: Reply['makeRoom']
  fileUrl: (fileId: string) => string
  warnings: readonly RunEvent[]
  follow: Runs['follow']
}

async function followRuns(deps: ShowThreadDeps, followed: Followed, first: RunRecord): Promise<void> {
  const { engine, clock } = deps
  const { session, threadId, reader, makeRoom, fileUrl } = followed
  let warnings = followed.warnings

  /** Made when the run has begun: before that its messages are not in the thread yet. */
  async function tellThread(run: RunRecord): Promise<void> {
    const timestamp = clock.now()
    const now = (await engine.sessions.find(session.owner, session.id)) ?? session
    const omit = toldByItsEvents(run)
    const { event, leaveRoom } = await sessionSnapshot(engine.messages, now, { timestamp, makeRoom, fileUrl, omit })
    const parent = run.parentRunId === null ? {} : { parentRunId: run.parentRunId }
    // The stored one names the new messages, and a client would put them in front of the older ones that the snapshot brings.
    const started = {
      type: 'RUN_STARTED' as const,
      threadId,
      runId: run.wireId,
      protocolVersion: AG_UI_VERSION,
      ...parent,
    }
    const state = now.state === undefined ? [] : [{ type: 'STATE_SNAPSHOT' as const, snapshot: now.state, timestamp }]
    await reader.stream
      .write(reader.encoder.events([{ ...started, timestamp }, ...warnings, ...state, event]))
      ?.catch(() => {})
    leaveRoom()
    warnings = []
  }

  for (let run: RunRecord | null = first; run !== null; run = await nextOf(engine, session, run)) {
    const shown = run
    const follow: Runs['follow'] = (target, until) =>
      behindFirst(withLinks(followed.follow(target, until), fileUrl), () => tellThread(shown), 'replaced')
    await streamRun(deps, run, beforeFirst(run), reader, follow)
    if (reader.signal.aborted) return
  }
}

/** A run that went on after a crash has a snapshot of its own. As it is stored, it would take away the files that this reader just got. */
async function* withLinks(
  source: AsyncIterable<readonly Entry[]>,
  fileUrl: Followed['fileUrl'],
): AsyncGenerator<readonly Entry[]> {
  const linked = (entry: Entry): Entry =>
    isSnapshot(entry) ? { ...entry, data: JSON.stringify(withFileUrls(JSON.parse(entry.data), fileUrl)) } : entry
  for await (const batch of source) yield batch.some(isSnapshot) ? batch.map(linked) : batch
}

const isSnapshot = ({ kind, data }: Entry): boolean =>
  kind === 'event' && data.startsWith('{"type":"MESSAGES_SNAPSHOT"')

/** The run that is at work or about to be. One that waits for a person is neither. */
async function underWay(engine: Engine, { id }: SessionRecord): Promise<RunRecord | null> {
  const [run] = await engine.runs.open(id)
  return run === undefined || run.status === 'waiting' ? null : run
}

/**
 * What goes on where this run has ended; null when it has not: then its reader has been told why. A run that came and ended while
 * the reader was behind is the next as well: what it said is in no snapshot yet.
 */
async function nextOf(engine: Engine, session: SessionRecord, run: RunRecord): Promise<RunRecord | null> {
  const ended = await engine.runs.get(session.owner, run.id).catch(() => null)
  if (ended === null || !isFinished(ended.status)) return null
  return (await underWay(engine, session)) ?? lastAfter(engine, session, ended)
}

/** The last run that was at work after this one. Its snapshot has what was said in between. */
async function lastAfter(engine: Engine, session: SessionRecord, { lastSeq }: RunRecord): Promise<RunRecord | null> {
  const end = lastSeq ?? Number.POSITIVE_INFINITY
  const later = (await engine.runs.list(session.id, LATEST)).filter(
    // One that was cancelled in the queue has events, too, and said nothing.
    ({ startedAt, firstSeq }) => startedAt !== null && firstSeq !== null && firstSeq > end,
  )
  const last = later.toSorted((a, b) => (b.firstSeq ?? 0) - (a.firstSeq ?? 0))[0]
  return last === undefined ? null : engine.runs.get(session.owner, last.id).catch(() => null)
}

/**
 * Messages of the active run come with its events. In the snapshot as well they would be doubled: a client appends what a
 * known message says again.
 */
function toldByItsEvents(active: RunRecord): (message: StoredMessage) => boolean {
  const asked = new Set(active.input.messages.map(({ id }) => id))
  return ({ id, runId }) => runId === active.id && !asked.has(id)
}

export interface Hydration {
  threadId: string
  runId: string
  /** Undefined when the session has none. */
  state: unknown
  snapshot: RunEventOf<'MESSAGES_SNAPSHOT'> | null
  /** What the reader is told beside it. */
  warnings?: readonly RunEvent[]
  outcome: Outcome
  timestamp: number
}

/** A run that only shows what is there. It is made for one reader: not stored, without ids. */
export function hydrationEvents({ threadId, runId, timestamp, ...hydration }: Hydration): RunEvent[] {
  const { state, snapshot, warnings = [], outcome } = hydration
  return [
    { type: 'RUN_STARTED', threadId, runId, protocolVersion: AG_UI_VERSION, timestamp },
    ...warnings,
    ...(state === undefined ? [] : [{ type: 'STATE_SNAPSHOT' as const, snapshot: state, timestamp }]),
    ...(snapshot === null ? [] : withWaitingCalls(snapshot, outcome)),
    { type: 'RUN_FINISHED', threadId, runId, outcome, timestamp },
  ]
}
