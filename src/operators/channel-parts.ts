// What the channels are made from. Each takes what it needs.

import type { Dispatcher } from 'undici'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import type { ProgramWords } from '../domain/settings/program-words.ts'
import type { SupervisionSettings } from '../domain/settings/supervision-settings.ts'
import type { TraceContext } from '../domain/telemetry.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Alone } from '../replicas/create-alone.ts'
import type { OutboxReads } from '../store/ports/outbox.ts'
import type { SessionReads } from '../store/ports/sessions.ts'
import type { WaitReads } from '../store/ports/waits.ts'
import type { ReadDiff } from '../supervision/approvals/read-diff.ts'
import type { ReadScenes } from '../supervision/records/record-scenes.ts'
import type { Operators } from '../supervision/sessions/may-command.ts'
import type { Chat } from './chat.ts'
import type { ConsoleLink } from './console-link.ts'
import type { Post } from './notifications/post.ts'
import type { CreateChannel, RecordLookup } from './operator.ts'
import type { PushSubscriptions } from './web-push/subscriptions.ts'
import type { VapidKeys } from './web-push/vapid.ts'

/** `Own` is what the settings say about this kind of channel, `Secret` the names of its credentials. */
export interface ChannelParts<Own = unknown, Secret extends string = string> {
  settings: Own
  credentials: Readonly<Record<Secret, string | null>>
  supervision: SupervisionSettings
  /** Where people open this server in a browser; null: it was not set. */
  publicUrl: string | null
  /** The terminal that the server runs in; null: it runs in none. */
  terminal: Terminal | null
  program: ProgramWords
  link: ConsoleLink
  /** For channels that only tell. */
  post: Post
  /** An item of the feed as `GET /inbox/events` sends it. */
  feedView(item: FeedItem): { kind: string; status: string }
  /** The trace of the run that an item is about. */
  traceOf(item: FeedItem): Promise<TraceContext | undefined>
  push: { subscriptions: PushSubscriptions; keys: () => Promise<VapidKeys> }
  chat: ChatParts
  clock: Clock
  ids: Ids
  logger: Logger
}

export interface Terminal {
  write(text: string): void
}

/** What a chat needs to show things. What people answer and command there goes to `ChatServices`. */
export interface ChatParts {
  find: RecordLookup['find']
  waits: Pick<WaitReads, 'list'>
  sessions: Pick<SessionReads, 'get'>
  outbox: OutboxReads
  log: SessionLog
  operators: Operators
  readDiff: ReadDiff
  readScenes: ReadScenes
  /** Signs what a chat service sends back to us, such as the values of buttons. */
  secret: () => Promise<Uint8Array>
  /** Does work that no other process does under the same name at the same time. Null: there is no other one. */
  alone: Alone | null
  /** How requests leave this machine. `dispatcherFor` gives undici's for a proxy; null: there is none on the way. */
  outgoing: { fetch: typeof fetch; dispatcherFor(target: URL): Promise<Dispatcher | null> }
}

export interface OpenedChannels {
  channels: readonly CreateChannel[]
  /** The chat behind them, for what agents say there; null: nobody can write there. */
  chat: Chat | null
}
