// The client of `quarterdeck/client`, for browsers and Node 18 or later. It needs only fetch and streams.

import type { RunEvent } from './ag-ui-event.ts'
import { type Approvals, createApprovals } from './approvals.ts'
import { ClientError, errorOfProblem, jsonObject } from './client-error.ts'
import { at, type Call, type CallOptions, createCalls, createConnection, sleep } from './connection.ts'
import { createKnowledgeClient, type KnowledgeClient } from './knowledge.ts'
import { createMemoriesClient, type MemoriesClient } from './memories.ts'
import { createOversightClient, type OversightClient } from './oversight.ts'
import { resumingStream, SILENCE_MS, type SseMessage } from './read-sse.ts'
import { createSchedulesClient, type SchedulesClient } from './schedules.ts'
import {
  createSearch,
  createSessionReads,
  type FeedEvent,
  type FeedOptions,
  type Search,
  type SessionReads,
} from './sessions.ts'
import { createSignIn, type SignInClient } from './sign-in.ts'
import { createSupervision, type SupervisionClient } from './supervision.ts'
import type { AnsweredRun, ChatAnswer, HostChoice, Run, SentMessage, StreamEventData, UploadedFile } from './wire.ts'

export type * from './ag-ui-event.ts'
export type { ApprovalStatus, Approvals, ApproveOptions, ListOptions, WatchOptions } from './approvals.ts'
export { ClientError, type ClientErrorCode, type Problem } from './client-error.ts'
export type { CallOptions } from './connection.ts'
export type { KnowledgeClient, PassageOptions } from './knowledge.ts'
export type { MemoriesClient, MemoryOwner } from './memories.ts'
export type {
  AuditOptions,
  OversightClient,
  TestCaseEvent,
  TestsDone,
  UsageGroup,
  UsageOptions,
} from './oversight.ts'
export type { SchedulesClient } from './schedules.ts'
export type {
  FeedEvent,
  FeedOptions,
  LogOptions,
  LogPage,
  SearchOptions,
  SessionListOptions,
  SessionReads,
  SessionRow,
} from './sessions.ts'
export {
  encodeProof,
  type SignedInBy,
  type SignInClient,
  type SignInOptions,
  type TokenScope,
  type WithProof,
} from './sign-in.ts'
export type { BrowserPushSubscription, InboxOptions, RecordListOptions, SupervisionClient } from './supervision.ts'
export type * from './wire.ts'

/** Up to 10 MB as base64, or an uploaded file of up to 50 MB. */
export type FileToSend = { content: string; mime_type: string; filename?: string } | { file_id: string }

export type StreamEventType = keyof StreamEventData

/** Use `id` to continue from here: `events({ run: message_id }, { after: id })`. A failure is not an event: it is thrown. */
export type StreamEvent = {
  [T in StreamEventType]: { type: T; id: string | null } & StreamEventData[T]
}[StreamEventType]

/** An AG-UI event from the log of a session, and its id. An event that was made for this reader (a snapshot) has no id. */
export interface LoggedEvent {
  id: string | null
  event: RunEvent
}

export type RunStatus = Run['status']

export interface ClientOptions {
  /** For example http://127.0.0.1:8000. */
  url: string
  /** Sent as a bearer token. A server on loopback does not need one. */
  token?: string | undefined
  fetch?: typeof fetch
  /** How many times in a row a request is repeated, or a stream resumed, while the server is away. Default 4. */
  retries?: number
  /** Waits, for tests. */
  sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

export interface StartOptions extends CallOptions {
  /** What to do if the session is busy. Default: the server's setting. */
  onBusy?: 'queue' | 'reject' | 'interrupt'
  /** Two calls with the same key and content start only one run. Default: a new key for every call. */
  idempotencyKey?: string
  /** At most 10 files and 100 MB in all. Results of `upload` can be passed as they are. */
  files?: readonly FileToSend[]
}

export interface ChatOptions extends StartOptions {
  /** The `session_id` of an earlier answer, or the name that another client chose. Without it a new session begins. */
  session?: string
}

export interface SendOptions extends StartOptions {
  agent?: string
  /** For operators: one of `try_models`, in the place of the agent's own. */
  model?: string
  /** For hosted agents: a mode, a command or options of their program, as `host` of the session tells them. */
  host?: HostChoice
  /** The id of a message of yours, which this one replaces. It and what followed it stay in the log. */
  replaces?: string
}

/** What to follow: one run, or all runs of a session. */
export type Followed = { run: string } | { session: string }

/** Every method throws `ClientError`, or the reason of its signal. A repeated POST never starts a second run. */
export interface Client
  extends Approvals,
    SupervisionClient,
    SignInClient,
    OversightClient,
    KnowledgeClient,
    MemoriesClient,
    SchedulesClient {
  /** Sends a message and waits for the whole answer. Throws `waiting` (202) if the run waits for a person. */
  chat(agent: string, message: string, options?: ChatOptions): Promise<ChatAnswer>
  /**
   * Sends a message and yields the answer as it is written, from `stream_start` to `stream_end`. A dropped connection is resumed where
   * it stopped, and each event comes once. Throws the error of a run that fails. Leaving the loop disconnects you: the server stops the
   * run after its grace time, `cancel(message_id)` stops it at once.
   */
  stream(agent: string, message: string, options?: ChatOptions): AsyncGenerator<StreamEvent, void, undefined>
  /** Sends a message. Its run executes in the background, whether or not anybody reads it. */
  send(session: string, message: string, options?: SendOptions): Promise<SentMessage>
  /** Asks for another answer to a message. What followed it stays in the log, and is no longer part of the conversation. */
  again(session: string, messageId: string, options?: Omit<SendOptions, 'files' | 'replaces'>): Promise<SentMessage>
  run(id: string, options?: CallOptions): Promise<AnsweredRun>
  /**
   * The events of a run to its end, or of a session until the signal aborts: all after `after`, then live. Dropped connections are
   * resumed. A run that fails ends with the event RUN_ERROR; it is not thrown.
   */
  events(
    followed: Followed,
    options?: CallOptions & { after?: string | number },
  ): AsyncGenerator<LoggedEvent, void, undefined>
  /** Lists, logs and exports of sessions, and the commands for agents elsewhere. */
  sessions: SessionReads & SupervisionClient['sessions']
  /** Searches in what was said. */
  search: Search
  /**
   * What changes in all sessions (for users: in their own), and all events of the named ones, until the signal aborts. Dropped connections are
   * resumed. To name other sessions, leave the loop and call it again with `after`: nothing is missed.
   */
  feed(options?: FeedOptions): AsyncGenerator<FeedEvent, void, undefined>
  /** Stops a run. A run that has ended stays as it is. */
  cancel(run: string, options?: CallOptions): Promise<Run>
  /** Deletes a session and everything in it. Deleting an unknown session is not an error. */
  deleteSession(session: string, options?: CallOptions): Promise<void>
  /** Uploads a file of up to 50 MB, for `files` of a message. A file that is not sent in a message is removed after a day. */
  upload(content: Blob, options?: CallOptions & { name?: string }): Promise<UploadedFile>
  /** The bytes of one of your files. */
  download(file: Pick<UploadedFile, 'file_id'>, options?: CallOptions): Promise<Blob>
}

const DEFAULT_RETRIES = 4

export function createClient(options: ClientOptions): Client {
  const connection = createConnection({
    url: options.url,
    token: options.token ?? null,
    // A browser's fetch must be called as a method of the window.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    retries: options.retries ?? DEFAULT_RETRIES,
    sleep: options.sleep ?? sleep,
  })

  const calls = createCalls(connection)
  const { json, get, post, remove } = calls
  const supervision = createSupervision(calls)

  /** The messages of a stream that a call opens. */
  const messagesOf = (call: Call, after: string | null, kindOf: Parameters<typeof resumingStream>[0]['kindOf']) =>
    resumingStream({
      connection,
      open: (lastId) =>
        connection.once({ ...call, headers: { ...call.headers, Accept: EVENTS, ...lastEventId(lastId) } }),
      after,
      kindOf,
      signal: call.signal,
      silenceMs: SILENCE_MS,
    })

  const sendTo = (session: string, body: object, more: SendOptions): Promise<SentMessage> =>
    json({
      method: 'POST',
      path: at('sessions', session, '/messages'),
      headers: startHeaders(more),
      body: { ...body, agent: more.agent, model: more.model, host: more.host },
      signal: more.signal,
    })

  return {
    ...createApprovals(calls, options.sleep ?? sleep),
    ...supervision,
    sessions: { ...supervision.sessions, ...createSessionReads(calls) },
    search: createSearch(calls),
    ...createSignIn(calls),
    ...createOversightClient(calls, connection.once),
    ...createKnowledgeClient(calls),
    ...createMemoriesClient(calls),
    ...createSchedulesClient(calls),

    async *feed({ sessions = [], after, signal } = {}) {
      const query = sessions.map((one) => `session=${encodeURIComponent(one)}`).join('&')
      const path = query === '' ? '/events' : `/events?${query}`
      const messages = messagesOf({ method: 'GET', path, signal }, after ?? null, (one) =>
        dataOf(one).type === 'error' ? 'away' : 'message',
      )
      let cursor = after ?? ''
      for await (const one of messages) {
        cursor = one.id ?? cursor
        yield { cursor, ...dataOf(one) } as FeedEvent
      }
    },

    chat: (agent, message, more = {}) => json(chatCall('chat', agent, message, more)),

    async *stream(agent, message, more = {}) {
      // Without an id, the same Idempotency-Key leads back to the run.
      const messages = messagesOf(chatCall('chat/stream', agent, message, more), null, (one) =>
        isFarewell(one, dataOf(one).code) ? 'away' : endsStream.has(one.event) ? 'end' : 'message',
      )
      for await (const one of messages) {
        const data = dataOf(one)
        if (one.event === 'error') throw errorOfProblem(data)
        if (isStreamEvent(one.event)) yield { ...data, type: one.event, id: one.id } as StreamEvent
      }
    },

    send: (session, message, more = {}) =>
      sendTo(session, { message, ...filesIn(more), replaces: more.replaces }, more),

    again: (session, messageId, more = {}) => sendTo(session, { again: messageId }, more),

    run: (id, options) => get(at('runs', id), options),

    async *events(followed, { after, signal } = {}) {
      const path = 'run' in followed ? at('runs', followed.run, '/events') : at('sessions', followed.session, '/events')
      const from = after === undefined ? null : String(after)
      const messages = messagesOf({ method: 'GET', path, signal }, from, (one) => {
        const { type, code } = dataOf(one)
        if (type === 'RUN_ERROR' && isFarewell(one, code)) return 'away'
        return 'run' in followed && (type === 'RUN_FINISHED' || type === 'RUN_ERROR') ? 'end' : 'message'
      })
      for await (const one of messages) yield { id: one.id, event: dataOf(one) as LoggedEvent['event'] }
    },

    cancel: (run, options) => post(at('runs', run, '/cancel'), {}, options),

    deleteSession: (session, options) => remove(at('sessions', session), options),

    upload(content, { name, signal } = {}) {
      const form = new FormData()
      form.append('file', content, name ?? nameOf(content))
      // A second try may leave an unused file, which the server removes.
      return json({ method: 'POST', path: '/files', form, signal })
    },

    download: ({ file_id }, { signal } = {}) =>
      connection.patiently({ method: 'GET', path: at('files', file_id), signal }, (one) => one.blob()),
  }
}

/** Only a `File` has a name. */
const nameOf = (content: Blob): string =>
  'name' in content && typeof content.name === 'string' && content.name !== '' ? content.name : 'file'

const EVENTS = 'text/event-stream'

function chatCall(route: 'chat' | 'chat/stream', agent: string, message: string, options: ChatOptions): Call {
  return {
    method: 'POST',
    path: at('agent', agent, `/${route}`),
    headers: startHeaders(options),
    body: { message, ...filesIn(options), session_id: options.session },
    signal: options.signal,
  }
}

function startHeaders({ idempotencyKey = randomKey(), onBusy }: StartOptions): Record<string, string> {
  return { 'Idempotency-Key': idempotencyKey, ...(onBusy === undefined ? {} : { 'X-On-Busy': onBusy }) }
}

/** Unique, but not secret, so it needs no `crypto`: Node 18 and pages over plain HTTP have only parts of it. */
function randomKey(): string {
  const part = () => Math.random().toString(36).slice(2)
  return `client-${part()}${part()}`
}

const filesIn = ({ files = [] }: StartOptions): { files?: readonly FileToSend[] } =>
  files.length === 0 ? {} : { files: files.map((one) => ('file_id' in one ? { file_id: one.file_id } : one)) }

const lastEventId = (id: string | null): Record<string, string> => (id === null ? {} : { 'Last-Event-ID': id })

const streamEvents: Readonly<Record<StreamEventType, true>> = {
  stream_start: true,
  message_delta: true,
  tool_call_start: true,
  tool_call_args: true,
  tool_call_end: true,
  stream_end: true,
}
const endsStream: ReadonlySet<string> = new Set(['stream_end', 'error'])

const isStreamEvent = (name: string): name is StreamEventType => Object.hasOwn(streamEvents, name)

/** The server stops, and the run continues after its restart. This event is made for one reader and is not in the log. */
const isFarewell = ({ id }: SseMessage, code: unknown): boolean => id === null && code === 'shutting_down'

function dataOf({ data }: SseMessage): Record<string, unknown> {
  const value = jsonObject(data)
  if (value !== null) return value
  throw new ClientError('unexpected_answer', 'An event is not a JSON object. Check the address.')
}
