// Shows the current thread to a client that comes back: its messages, what it waits for, and the active run, live.

import type { Entry } from '../../../domain/session/entry.ts'
import { AG_UI_VERSION, type RunEvent, type RunEventOf } from '../../../domain/session/event.ts'
import { type StoredMessage, textOf } from '../../../domain/session/message.ts'
import { isFinished, type RunRecord } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import { messagesSnapshot, SNAPSHOT_LIMIT, shownMessages } from '../../../engine/loop/messages-snapshot.ts'
import type { Runs } from '../../../engine/ports/runs.ts'
import type { Reply, Request } from '../../../http/route.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'
import type { Reader } from '../../shared/events/encode-events.ts'
import {
  beforeFirst,
  type EventReader,
  openEventStream,
  type StreamDeps,
  streamRun,
} from '../../shared/events/stream-events.ts'
import type { FileLinks, FileUrl } from '../../shared/request/file-links.ts'
import { behindFirst } from './stream-warnings.ts'
import { type Outcome, waitingOutcome, withWaitingCalls } from './waiting-calls.ts'

/** More runs than can be queued and cancelled, so that the last run that executed is among them. */
const LATEST = 20

interface ShowThreadDeps extends StreamDeps {
  engine: Engine
  approvals: Approvals
  links: FileLinks
}

export interface ThreadRequest {
  request: Request
  reply: Reply
  /** The client's own ids. */
  threadId: string
  runId: string
  reads: Reader
  /** Warnings about the request. */
  warnings?: readonly RunEvent[]
  /** How the events of a run are read, if not as they are stored. */
  follow?: Runs['follow']
  /** What is shown of the outcome, if not all of it. */
  showOutcome?: ((outcome: Outcome) => Outcome) | undefined
}

/** Shows a thread that does not exist yet. `messages` is the content of the snapshot; null sends no snapshot. */
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
 * If no run is active, sends a run that only shows the thread; its outcome says what the session waits for. Otherwise sends the
 * active run (its start, the thread as a snapshot, and all its events), then the runs that were queued behind it. The client counts
 * as a reader of these runs.
 */
export async function showThread(deps: ShowThreadDeps, asked: ThreadRequest, session: SessionRecord): Promise<void> {
  const { engine, clock } = deps
  const { request, reply, threadId, runId, reads, warnings = [] } = asked
  reply.note({ session_id: session.id })
  const reserve = (bytes: number) => reply.reserve(bytes)
  const fileUrls = () => deps.links.urlsFor(request, session.owner)
  const outcome = await waitingOutcome(deps, session)
  // Read last, so that a run that an answer has just continued is found.
  const active = await underWay(engine, session)
  if (active !== null) {
    const reader = await openEventStream(request, reply, reads)
    const { follow = engine.runs.follow } = asked
    await followRuns(deps, { session, threadId, reader, reserve, fileUrls, warnings, follow }, active)
    return reader.stream.end()
  }
  const timestamp = clock.now()
  const { event: snapshot, release } = await sessionSnapshot(engine.messages, session, {
    timestamp,
    reserve,
    fileUrls,
    omit: () => false,
  })
  const { stream, encoder } = await openEventStream(request, reply, reads)
  const { state } = session
  const { showOutcome } = asked
  const events = hydrationEvents({ threadId, runId, state, snapshot, warnings, outcome, showOutcome, timestamp })
  await stream.write(encoder.events(events))?.catch(() => {})
  release()
  stream.end()
}

interface Followed {
  session: SessionRecord
  threadId: string
  reader: EventReader
  reserve: Reply['reserve']
  fileUrls: FileUrls
  warnings: readonly RunEvent[]
  follow: Runs['follow']
}

async function followRuns(deps: ShowThreadDeps, followed: Followed, first: RunRecord): Promise<void> {
  const { engine, clock } = deps
  const { session, threadId, reader, reserve, fileUrls } = followed
  let warnings = followed.warnings

  /** Called when the run has begun. Before that its messages are not in the thread. */
  async function tellThread(run: RunRecord): Promise<void> {
    const timestamp = clock.now()
    const now = (await engine.sessions.find(session.owner, session.id)) ?? session
    const omit = toldByItsEvents(run)
    const { event, release } = await sessionSnapshot(engine.messages, now, { timestamp, reserve, fileUrls, omit })
    const parent = run.parentRunId === null ? {} : { parentRunId: run.parentRunId }
    // The stored RUN_STARTED holds the new messages, and a client would put them before the older messages of the snapshot.
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
    release()
    warnings = []
  }

  for (let run: RunRecord | null = first; run !== null; run = await nextOf(engine, session, run)) {
    const shown = run
    const follow: Runs['follow'] = (target, until) =>
      behindFirst(withLinks(followed.follow(target, until), fileUrls), () => tellThread(shown), 'replaced')
    await streamRun({ ...deps, comesBack: false }, run, beforeFirst(run), reader, follow)
    if (reader.signal.aborted) return
  }
}

/** A run that continued after a crash has its own snapshot. As stored, it would remove the file addresses that this reader just got. */
async function* withLinks(
  source: AsyncIterable<readonly Entry[]>,
  fileUrls: FileUrls,
): AsyncGenerator<readonly Entry[]> {
  const linked = async (entry: Entry): Promise<Entry> =>
    isSnapshot(entry) ? { ...entry, data: JSON.stringify(await withFileUrls(JSON.parse(entry.data), fileUrls)) } : entry
  for await (const batch of source) yield batch.some(isSnapshot) ? await Promise.all(batch.map(linked)) : batch
}

const isSnapshot = ({ kind, data }: Entry): boolean =>
  kind === 'event' && data.startsWith('{"type":"MESSAGES_SNAPSHOT"')

/** The active run, or the next queued one. A run that waits for a person does not count. */
async function underWay(engine: Engine, { id }: SessionRecord): Promise<RunRecord | null> {
  const [run] = await engine.runs.open(id)
  return run === undefined || run.status === 'waiting' ? null : run
}

/**
 * The run that follows this one; null if this run has not ended, which the reader has been told. A run that began and ended while the
 * reader lagged counts too, because the reader has not seen its messages.
 */
async function nextOf(engine: Engine, session: SessionRecord, run: RunRecord): Promise<RunRecord | null> {
  const ended = await engine.runs.get(session.owner, run.id).catch(() => null)
  if (ended === null || !isFinished(ended.status)) return null
  return (await underWay(engine, session)) ?? lastAfter(engine, session, ended)
}

/** The last run that executed after this one. Its snapshot has the messages in between. */
async function lastAfter(engine: Engine, session: SessionRecord, { lastSeq }: RunRecord): Promise<RunRecord | null> {
  const end = lastSeq ?? Number.POSITIVE_INFINITY
  const later = (await engine.runs.list(session.id, LATEST)).filter(
    // A run that was cancelled in the queue has events too, but no messages.
    ({ startedAt, firstSeq }) => startedAt !== null && firstSeq !== null && firstSeq > end,
  )
  const last = later.toSorted((a, b) => (b.firstSeq ?? 0) - (a.firstSeq ?? 0))[0]
  return last === undefined ? null : engine.runs.get(session.owner, last.id).catch(() => null)
}

/**
 * The messages of the active run come with its events. In the snapshot they would appear twice, because a client appends to a message
 * that it knows.
 */
function toldByItsEvents(active: RunRecord): (message: StoredMessage) => boolean {
  const asked = new Set(active.input.messages.map(({ id }) => id))
  return ({ id, runId }) => runId === active.id && !asked.has(id)
}

interface Hydration {
  threadId: string
  runId: string
  /** Undefined if the session has no state. */
  state: unknown
  snapshot: RunEventOf<'MESSAGES_SNAPSHOT'> | null
  /** Warnings about the request. */
  warnings?: readonly RunEvent[]
  outcome: Outcome
  showOutcome?: ThreadRequest['showOutcome']
  timestamp: number
}

/** A run that only shows the thread. It is made for one reader: it is not stored, and its events have no ids. */
export function hydrationEvents({ threadId, runId, timestamp, ...hydration }: Hydration): RunEvent[] {
  const { state, snapshot, warnings = [], outcome, showOutcome = (whole) => whole } = hydration
  return [
    { type: 'RUN_STARTED', threadId, runId, protocolVersion: AG_UI_VERSION, timestamp },
    ...warnings,
    ...(state === undefined ? [] : [{ type: 'STATE_SNAPSHOT' as const, snapshot: state, timestamp }]),
    ...(snapshot === null ? [] : withWaitingCalls(snapshot, outcome)),
    { type: 'RUN_FINISHED', threadId, runId, outcome: showOutcome(outcome), timestamp },
  ]
}

interface SnapshotOptions {
  timestamp: number
  /** Waits for memory before a large read. */
  reserve: Reply['reserve']
  /** Asked for the addresses of files for this reader, if there are files. */
  fileUrls: FileUrls
  /** Leaves out messages that the reader gets in another way. */
  omit: (message: StoredMessage) => boolean
}

const PAGE = 200
const PAGE_CHARS = 64 * 1024

/** The newest messages of a session, as many as fit. Call `release` when the event is sent. */
export async function sessionSnapshot(
  store: Pick<Engine['messages'], 'page'>,
  session: SessionRecord,
  { timestamp, reserve, fileUrls, omit }: SnapshotOptions,
) {
  const pages: StoredMessage[][] = []
  let chars = 0
  let page: StoredMessage[]
  let release: (() => void) | null = null
  do {
    // Twice: for the event, and for its text.
    if (chars >= PAGE_CHARS) release ??= await reserve(2 * SNAPSHOT_LIMIT)
    page = await store.page(session.id, PAGE, { before: pages[0]?.[0]?.id, maxChars: PAGE_CHARS, asides: true })
    pages.unshift(page)
    for (const message of shownMessages(page)) chars += charsOf(message)
    // Nothing older fits into a snapshot.
  } while (page.length > 0 && chars <= SNAPSHOT_LIMIT)
  const messages = shownMessages(pages.flat()).filter((message) => !omit(message))
  const total = page.length > 0 ? session.messageCount : messages.length
  const event = messagesSnapshot(messages, total, timestamp)
  return { event: await withFileUrls(event, fileUrls), release: release ?? (() => {}) }
}

/** The approximate size in the snapshot. Calls and activities can be longer than the text. */
function charsOf({ content, toolCalls, activity, metadata, encryptedValue = '' }: StoredMessage): number {
  const objects = [toolCalls, activity, metadata].filter((object) => object !== undefined)
  return textOf(content).length + encryptedValue.length + (objects.length === 0 ? 0 : JSON.stringify(objects).length)
}

type Snapshot = RunEventOf<'MESSAGES_SNAPSHOT'>

/** Clients cannot show a `file` source, and 0.x rejects the whole snapshot because of one. */
async function withFileUrls(snapshot: Snapshot, fileUrls: FileUrls): Promise<Snapshot> {
  if (!snapshot.messages.some(hasFile)) return snapshot
  const fileUrl = await fileUrls()
  return { ...snapshot, messages: snapshot.messages.map((message) => messageWithUrls(message, fileUrl)) }
}

type FileUrls = () => Promise<FileUrl>

type Message = Snapshot['messages'][number]

const hasFile = (message: Message): boolean =>
  message.role === 'user' &&
  typeof message.content !== 'string' &&
  message.content.some((part) => part.type !== 'text' && part.source.type === 'file')

function messageWithUrls(message: Message, fileUrl: FileUrl): Message {
  if (message.role !== 'user' || typeof message.content === 'string') return message
  const content = message.content.map((part) => {
    if (part.type === 'text' || part.source.type !== 'file') return part
    const { value, mimeType } = part.source
    const type = mimeType === undefined ? {} : { mimeType }
    return { ...part, source: { type: 'url' as const, value: fileUrl(value), ...type } }
  })
  return { ...message, content }
}
