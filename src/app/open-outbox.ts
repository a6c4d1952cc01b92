// The outbox, and the channels that it shows things on. People answer them from `serve-channels.ts` on, when there is somebody to answer to.

import type { ServerSettings } from '../config/settings/server-settings.ts'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { isWaiting, type PersonRecord } from '../domain/records/record.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import type { ProgramWords } from '../domain/settings/program-words.ts'
import type { Telemetry, TraceContext } from '../domain/telemetry.ts'
import { createFeed, type Feed } from '../engine/feed.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Wake } from '../log/wake.ts'
import type { ChannelParts, ChatParts, OpenedChannels, Terminal } from '../operators/channel-parts.ts'
import {
  type ChannelService,
  createChannelService,
  lastShownAnywhere,
  withTroublesElsewhere,
} from '../operators/channel-service.ts'
import type { Chat } from '../operators/chat.ts'
import type { ConsoleLink } from '../operators/console-link.ts'
import { type ChannelCredentials, usedChannels } from '../operators/credentials/credentials.ts'
import { createPost } from '../operators/notifications/post.ts'
import { openMessenger } from '../operators/open-messenger.ts'
import type { OperatorChannel, RecordLookup } from '../operators/operator.ts'
import { createOutbox, type Outbox } from '../operators/outbox.ts'
import { createShownFrom } from '../operators/shown-from.ts'
import { openPushSubscriptions, type PushSubscriptions } from '../operators/web-push/subscriptions.ts'
import type { VapidKeys } from '../operators/web-push/vapid.ts'
import type { Connections } from '../outgoing/connections.ts'
import { feedView } from '../protocols/manage/events/feed-view.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Store } from '../store/store.ts'
import { createReadDiff } from '../supervision/approvals/read-diff.ts'
import type { Messenger } from '../supervision/messenger.ts'
import type { Operators } from '../supervision/sessions/may-command.ts'
import { createServiceHttp, MAX_BODY_BYTES, systemNetwork } from '../tools/http/service/service-http.ts'

interface OutboxParts {
  settings: ServerSettings
  operators: Operators
  store: Store
  sessionLog: SessionLog
  wake: Wake
  connections: Connections
  credentials: ChannelCredentials
  /** The key pair for Web Push, made at its first use. */
  pushKeys: () => Promise<VapidKeys>
  /** Signs the values of buttons. */
  secret: () => Promise<Uint8Array>
  link: ConsoleLink
  telemetry: Telemetry
  replica: Pick<Replica, 'isShared' | 'changes' | 'board' | 'alone'>
  /** The terminal that the server runs in. Null: it runs in none. */
  terminal: Terminal | null
  program: ProgramWords
  clock: Clock
  ids: Ids
  log: Logger
}

export interface OpenOutbox {
  /** What happens to records and sessions. The outbox takes from it what channels show. */
  feed: Feed
  outbox: Outbox
  /** How supervision reaches people. */
  messenger: Messenger
  channels: readonly OperatorChannel[]
  /** Null: none is configured. */
  chat: Chat | null
  channelService: ChannelService
  push: PushSubscriptions
}

/** Nothing is delivered yet. What is opened here is closed by `undo`. */
export async function openOutbox(parts: OutboxParts, undo: AsyncDisposableStack): Promise<OpenOutbox> {
  const { settings, store, sessionLog, wake, replica, clock, ids, log } = parts
  const feed = createFeed({ store: store.feed, wake })
  undo.defer(() => feed.close())
  const find = async ({ kind, id }: Pick<FeedItem, 'kind' | 'id'>): Promise<PersonRecord | null> => {
    const wait = kind === 'wait' ? await store.waits.get(id) : null
    return wait === null || wait.wait === 'client_call' ? null : wait
  }
  const push = await openPushSubscriptions({
    store: store.outbox,
    log: sessionLog,
    clock,
    operators: settings.supervision.operators,
    keys: parts.pushKeys,
    isLocalServer: settings.loopback,
    logger: log,
    changes: replica.changes,
  })
  const opened = await openChannels(parts, find, push, undo)
  const chat = opened.find((one) => one.chat !== null)?.chat ?? null
  const here = opened.flatMap((one) => one.channels).map((create) => create({ find }))
  const channels = withTroublesElsewhere(here, replica.board)
  const ownRoom = settings.supervision.slack.channelId
  const shownFrom = createShownFrom({ channels, ownRoom, find, session: (id) => store.sessions.get(id) })
  const shared = { channels, shownFrom, feed, store: store.outbox, log: sessionLog }
  const outbox = createOutbox({
    ...shared,
    async stillWaits(item) {
      const wait = await find(item)
      return wait !== null && isWaiting(wait)
    },
    clock,
    logger: log,
    changes: replica.changes,
  })
  undo.defer(() => outbox.close())
  push.watch(outbox.look)
  const lastShownAt = lastShownAnywhere(here, outbox, replica.board)
  return {
    feed,
    outbox,
    messenger: openMessenger({ channels, outbox, chat, ownRoom, clock, ids, logger: log }),
    channels,
    chat,
    channelService: createChannelService({ ...shared, outbox: { ...outbox, lastShownAt } }),
    push,
  }
}

/** Those that the settings ask for. */
async function openChannels(
  parts: OutboxParts,
  find: RecordLookup['find'],
  subscriptions: PushSubscriptions,
  undo: AsyncDisposableStack,
): Promise<OpenedChannels[]> {
  const { settings, connections, credentials, terminal, program, link, clock, ids, log: logger } = parts
  const pool = connections.pool({ proxyVariables: settings.tools.proxy })
  const http = createServiceHttp({ connections, pool, network: systemNetwork, maxBytes: MAX_BODY_BYTES })
  const shared: Omit<ChannelParts, 'settings' | 'supervision'> = {
    credentials,
    publicUrl: settings.channels.publicUrl,
    terminal,
    program,
    link,
    post: createPost({ http, clock }),
    feedView,
    traceOf: (item) => traceOf(parts, item),
    push: { subscriptions, keys: parts.pushKeys },
    chat: chatParts(parts, find),
    clock,
    ids,
    logger,
  }
  const opened: OpenedChannels[] = []
  for (const { kind, configured } of usedChannels(settings)) {
    const one = await kind.open({ ...shared, ...configured })
    undo.defer(async () => one.chat?.close())
    opened.push(one)
  }
  return opened
}

function chatParts(parts: OutboxParts, find: RecordLookup['find']): ChatParts {
  const { settings, store, sessionLog, operators, connections, replica, secret } = parts
  const pool = connections.pool({ proxyVariables: settings.tools.proxy })
  return {
    find,
    waits: store.waits,
    sessions: store.sessions,
    outbox: store.outbox,
    log: sessionLog,
    operators,
    readDiff: createReadDiff(store),
    secret,
    alone: replica.isShared ? replica.alone : null,
    outgoing: {
      fetch: pool.fetch,
      dispatcherFor: async (target) => (pool.isProxied(target) ? (await pool.upstreamFor(target)).dispatcher : null),
    },
  }
}

/** A failure to find the trace must not keep a message back. */
async function traceOf({ store, telemetry }: OutboxParts, { kind, id }: FeedItem): Promise<TraceContext | undefined> {
  try {
    const runId = kind === 'wait' ? (await store.waits.get(id))?.runId : id
    const run = kind === 'session' || runId === undefined ? null : await store.runs.get(runId)
    return run === null ? undefined : telemetry.contextOf(run)
  } catch {
    return undefined
  }
}
