// The outbox, and the channels that it shows things on. People answer them from `serve-channels.ts` on, when there is somebody to answer to.

import { isWaiting, type PersonRecord } from '../domain/records/record.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import type { TraceContext } from '../domain/telemetry.ts'
import { createFeed } from '../engine/feed.ts'
import type { ChannelParts, ChatParts, OpenedChannels } from '../operators/channel-parts.ts'
import { createChannelService, lastShownAnywhere, withTroublesElsewhere } from '../operators/channel-service.ts'
import { usedChannels } from '../operators/credentials/credentials.ts'
import { createPost } from '../operators/notifications/post.ts'
import { openMessenger } from '../operators/open-messenger.ts'
import type { RecordLookup } from '../operators/operator.ts'
import { createOutbox } from '../operators/outbox.ts'
import { createShownFrom } from '../operators/shown-from.ts'
import { openPushSubscriptions, type PushSubscriptions } from '../operators/web-push/subscriptions.ts'
import { feedView } from '../protocols/manage/events/feed-view.ts'
import { createReadDiff } from '../supervision/approvals/read-diff.ts'
import { createReadScenes } from '../supervision/records/record-scenes.ts'
import { createServiceHttp, MAX_BODY_BYTES, systemNetwork } from '../tools/http/service/service-http.ts'
import type { Known } from './open-access.ts'

/** What exists once people can be told something. */
export type Telling = Known & Awaited<ReturnType<typeof openOutbox>>

/** Nothing is delivered yet. What is opened here is closed by `undo`. */
export async function openOutbox(parts: Known, undo: AsyncDisposableStack) {
  const { settings, store, sessionLog, wake, replica, clock, ids, log } = parts
  // What happens to records and sessions. The outbox takes from it what channels show.
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
  // Null: none is configured.
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
    /** How supervision reaches people. */
    messenger: openMessenger({ channels, outbox, chat, ownRoom, clock, ids, logger: log }),
    channels,
    chat,
    channelService: createChannelService({ ...shared, outbox: { ...outbox, lastShownAt } }),
    push,
  }
}

/** Those that the settings ask for. */
async function openChannels(
  parts: Known,
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

function chatParts(parts: Known, find: RecordLookup['find']): ChatParts {
  const { settings, store, sessionLog, operators, connections, replica, secret, clock } = parts
  const pool = connections.pool({ proxyVariables: settings.tools.proxy })
  return {
    find,
    waits: store.waits,
    sessions: store.sessions,
    outbox: store.outbox,
    log: sessionLog,
    operators,
    readDiff: createReadDiff(store),
    readScenes: createReadScenes({ store, clock }),
    secret,
    alone: replica.isShared ? replica.alone : null,
    outgoing: {
      fetch: pool.fetch,
      dispatcherFor: async (target) => (pool.isProxied(target) ? (await pool.upstreamFor(target)).dispatcher : null),
    },
  }
}

/** A failure to find the trace must not keep a message back. */
async function traceOf({ store, telemetry }: Known, { kind, id }: FeedItem): Promise<TraceContext | undefined> {
  try {
    const runId = kind === 'wait' ? (await store.waits.get(id))?.runId : id
    const run = kind === 'session' || runId === undefined ? null : await store.runs.get(runId)
    return run === null ? undefined : telemetry.contextOf(run)
  } catch {
    return undefined
  }
}
