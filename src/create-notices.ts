// The channels that only tell: ntfy, Web Push and webhooks. Nobody can answer there.

import type { ServerSettings } from './config/settings/server-settings.ts'
import type { Clock } from './domain/clock.ts'
import type { FeedItem } from './domain/feed.ts'
import type { Logger } from './domain/logger.ts'
import type { Telemetry, TraceContext } from './domain/telemetry.ts'
import type { SessionLog } from './log/session-log.ts'
import type { ConsoleLink } from './operators/console-link.ts'
import type { ChannelCredentials } from './operators/credentials/channel-credentials.ts'
import { createPost, type Post } from './operators/notice/post.ts'
import { createNtfy } from './operators/ntfy/create-ntfy.ts'
import type { CreateChannel } from './operators/operator.ts'
import { createPersonRules } from './operators/people/person-rules.ts'
import { createWebPush } from './operators/web-push/create-web-push.ts'
import { openPushSubscriptions, type PushSubscriptions } from './operators/web-push/subscriptions.ts'
import { createVapid, type VapidKeys } from './operators/web-push/vapid.ts'
import { createWebhook } from './operators/webhook/create-webhook.ts'
import type { Connections } from './outgoing/connections.ts'
import { feedView } from './protocols/manage/events/feed-view.ts'
import type { Replica } from './start/open-replica.ts'
import type { Store } from './store/store.ts'
import { createServiceHttp, systemLookup } from './tools/http/service/service-http.ts'

export interface NoticeParts {
  settings: ServerSettings
  store: Store
  sessionLog: SessionLog
  connections: Connections
  credentials: ChannelCredentials
  /** The key pair for Web Push, made at its first use. */
  pushKeys: () => VapidKeys
  link: ConsoleLink
  telemetry: Telemetry
  /** What the processes on one store tell each other. Null: this is the only one. */
  replica: Pick<Replica, 'changes'> | null
  /** A browser has subscribed to this channel. */
  onSubscribed(channel: string): void
  clock: Clock
  log: Logger
}

export interface Notices {
  channels: readonly CreateChannel[]
  push: PushSubscriptions
}

export async function openNotices(parts: NoticeParts): Promise<Notices> {
  const { settings, store, sessionLog, connections, pushKeys, replica, onSubscribed, clock, log } = parts
  const { operators } = settings.supervision
  const proxy = settings.tools.proxy
  const proxied = proxy === null ? null : connections.pool({ proxyVariables: proxy })
  const post = createPost({ http: createServiceHttp({ connections, proxied, lookup: systemLookup }), clock })
  const push = await openPushSubscriptions({
    store: store.outbox,
    log: sessionLog,
    clock,
    operators,
    keys: pushKeys,
    isLocalServer: settings.loopback,
    onSubscribed,
    logger: log,
    ...(replica === null ? {} : { changes: replica.changes }),
  })
  return { channels: [...personalChannels(parts, post, push), ...webhooks(parts, post)], push }
}

function personalChannels(
  { settings: { supervision, channels }, credentials, pushKeys, link, clock, log: logger }: NoticeParts,
  post: Post,
  subscriptions: PushSubscriptions,
): CreateChannel[] {
  const { operators, escalation } = supervision
  const { ntfyToken: token } = credentials
  const { publicUrl } = channels
  const contact = channels.webPush.contact ?? (publicUrl?.startsWith('https:') === true ? publicUrl : null)
  let sign: ReturnType<typeof createVapid> | null = null
  const vapid = (endpoint: URL): string => {
    sign ??= createVapid(pushKeys(), { contact, clock })
    return sign(endpoint)
  }
  return operators.flatMap((operator) => {
    const rules = createPersonRules({ person: operator, operators, escalation })
    const shared = { person: operator.name, rules, isDigest: operator.notify.digestMs !== null, post, link }
    return [
      createWebPush({ ...shared, subscriptions, vapid, logger }),
      ...(operator.ntfy === null
        ? []
        : [createNtfy({ ...shared, server: channels.ntfy.url, topic: operator.ntfy, token })]),
    ]
  })
}

function webhooks(parts: NoticeParts, post: Post): CreateChannel[] {
  const { settings, credentials, clock } = parts
  const { webhookSecret: secret } = credentials
  // Without webhooks no secret is read.
  if (secret === null) return []
  return settings.channels.webhooks.map(
    (one) => () =>
      createWebhook({ settings: one, secret, view: feedView, post, traceOf: (item) => traceOf(parts, item), clock }),
  )
}

/** A failure to find the trace must not keep a message back. */
async function traceOf({ store, telemetry }: NoticeParts, { kind, id }: FeedItem): Promise<TraceContext | undefined> {
  try {
    const runId = kind === 'wait' ? (await store.waits.get(id))?.runId : id
    const run = kind === 'session' || runId === undefined ? null : await store.runs.get(runId)
    return run === null ? undefined : telemetry.contextOf(run)
  } catch {
    return undefined
  }
}
