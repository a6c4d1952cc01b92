// Sessions: lists, their logs, search, and one stream over many of them.

import type { RunEvent } from './ag-ui-event.ts'
import { at, type CallOptions, type Calls, type PageOptions, queryOf } from './connection.ts'
import type {
  AppAnswer,
  AppRequest,
  FeedItem,
  FeedTaken,
  GivenFeedback,
  MessageFeedback,
  Run,
  Search as SearchPage,
  SearchResult,
  Session,
  SessionExport,
  SessionMessages,
  SessionTitle,
  Step,
} from './wire.ts'

/** What every list of sessions shows of one. */
export type SessionRow = Omit<SearchResult, 'hits'>

export interface SessionListOptions extends PageOptions {
  /** For operators: an owner, or `*` for all. Default: your own. */
  owner?: string
  agent?: string
  status?: SessionRow['status']
  kind?: SessionRow['kind']
  /** By the last activity, or most tokens first. Default: newest. */
  sort?: 'newest' | 'oldest' | 'tokens'
  /** Also says how many there are. */
  count?: boolean
  /** Only sessions with an answer of which somebody thinks so. */
  feedback?: MessageFeedback['value']
  /** ISO 8601: last active at or after this time, and at or before that time. */
  since?: string
  until?: string
}

export interface SearchOptions extends Omit<SessionListOptions, 'status' | 'kind' | 'feedback' | 'sort' | 'count'> {}

export interface LogOptions extends CallOptions {
  /** The id or the number of an event: only later ones, or only earlier ones. */
  after?: string | number
  before?: string | number
  limit?: number
  /** Leaves out the pieces of texts, reasoning and arguments. */
  structure?: boolean
}

export interface LogPage {
  events: { id: string; seq: number; at: string | null; event: RunEvent }[]
  first_seq: number
  last_seq: number
  /** `after`, or `before` if that was asked for, of the next page. Null on the last one. */
  next: string | null
}

/** What `feed` yields. `cursor` is where to go on. */
export type FeedEvent = { cursor: string } & (
  | { type: 'cursor' }
  | {
      type: 'entry'
      /** The id of the event in its session. */
      id: string
      session_id: string
      event: RunEvent
    }
  | FeedItem
  | FeedTaken
)

export interface FeedOptions extends CallOptions {
  /** Up to 8 sessions whose events come too: an id (all of them), or the id of one of its events (those after it). */
  sessions?: readonly string[]
  /** The `cursor` of an earlier event. Left out: what happens from now on. */
  after?: string
}

export interface SessionReads {
  /** `next` is null on the last page. `total` is null unless it was asked for; from 10,000 on there may be more. */
  list(options?: SessionListOptions): Promise<{ sessions: Session[]; next: string | null; total: number | null }>
  /** A session and its newest messages. `tools` shows the work of tools, too. */
  get(id: string, options?: PageOptions & { tools?: boolean }): Promise<SessionMessages & { next: string | null }>
  /** Newest first. */
  runs(id: string, options?: PageOptions): Promise<{ runs: Run[]; next: string | null }>
  /** The events of a session in pages, from any place. */
  log(id: string, options?: LogOptions): Promise<LogPage>
  /** What people think of its answers. */
  feedback(id: string, options?: CallOptions): Promise<MessageFeedback[]>
  /** Says what you think of an answer, by its message id. `value` null takes it back. */
  rate(
    messageId: string,
    feedback: { value: MessageFeedback['value'] | null; note?: string | null },
    options?: CallOptions,
  ): Promise<GivenFeedback>
  /** Names a session. Blank or null: it has its automatic title again. */
  rename(id: string, title: string | null, options?: CallOptions): Promise<SessionTitle>
  /** What an app of an MCP server asks for. */
  app(id: string, request: AppRequest, options?: CallOptions): Promise<AppAnswer>
  /** For operators: what the step that began with this event has sent to its model. */
  step(id: string, seq: number, options?: CallOptions): Promise<Step>
  /** Everything as one document. */
  export(id: string, options?: CallOptions): Promise<SessionExport>
  /** The same to read, as Markdown. */
  exportMarkdown(id: string, options?: CallOptions): Promise<string>
}

export function createSessionReads({ get, post, postOnce, json, text, page, listPage }: Calls): SessionReads {
  return {
    async list({ signal, ...query } = {}) {
      const { list, next, total } = await listPage<Session>(`/sessions${queryOf({ ...query })}`, { signal })
      return { sessions: list, next, total }
    },
    get(id, { signal, limit, before, tools } = {}) {
      const query = queryOf({ limit, before, include: tools === true ? 'tools' : undefined })
      return page<SessionMessages>(at('sessions', id, query), { signal })
    },
    runs: (id, { signal, ...query } = {}) => page(at('sessions', id, `/runs${queryOf({ ...query })}`), { signal }),
    log(id, { signal, structure, ...query } = {}) {
      const path = at(
        'sessions',
        id,
        `/log${queryOf({ ...query, structure: structure === true ? 'true' : undefined })}`,
      )
      return page(path, { signal }, query.before === undefined ? 'after' : 'before')
    },
    feedback: async (id, options) =>
      (await get<{ feedback: MessageFeedback[] }>(at('sessions', id, '/feedback'), options)).feedback,
    rate: (messageId, feedback, options) => post(at('messages', messageId, '/feedback'), feedback, options),
    rename: (id, title, { signal } = {}) =>
      json({ method: 'PATCH', path: at('sessions', id), body: { title }, signal }),
    // Once: a call of a tool must not be repeated by itself.
    app: (id, request, options) => postOnce(at('sessions', id, '/apps'), request, options),
    step: (id, seq, options) => get(at('sessions', id, `/steps/${seq}`), options),
    exportMarkdown: (id, { signal } = {}) =>
      text({ method: 'GET', path: at('sessions', id, '/export?format=markdown'), signal }),
    export: (id, options) => get(at('sessions', id, '/export'), options),
  }
}

/** `complete` is false while older sessions are still being indexed. A page may be short, even empty, and still have a `next`. */
export type Search = (text: string, options?: SearchOptions) => Promise<SearchPage & { next: string | null }>

export const createSearch =
  ({ page }: Calls): Search =>
  (text, { signal, ...query } = {}) =>
    page<SearchPage>(`/search${queryOf({ q: text, ...query })}`, { signal })
