// The channels to operators, and the outbox that brings them what waits. Which kinds there are says `operators/channels.ts`.

import type { ServerSettings } from '../config/settings/server-settings.ts'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { isWaiting, type PersonRecord } from '../domain/records/record.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import type { ProgramWords } from '../domain/settings/program-words.ts'
import type { Telemetry, TraceContext } from '../domain/telemetry.ts'
import type { Jobs } from '../engine/sessions/jobs.ts'
import type { SessionLog } from '../log/session-log.ts'
import {
  type ChannelDesk,
  createChannelDesk,
  lastShownAnywhere,
  withTroublesElsewhere,
} from '../operators/channel-desk.ts'
import type { ChannelParts, ChatParts, OpenedChannels, Terminal } from '../operators/channel-parts.ts'
import type { CommandDesk } from '../operators/commands/command-desk.ts'
import type { ConsoleLink } from '../operators/console-link.ts'
import { type ChannelCredentials, usedChannels } from '../operators/credentials/credentials.ts'
import { createPost } from '../operators/notice/post.ts'
import { openReach } from '../operators/open-reach.ts'
import type { OperatorChannel, OperatorDesk } from '../operators/operator.ts'
import { createOutbox, noChanges } from '../operators/outbox.ts'
import { createShownFrom } from '../operators/shown-from.ts'
import { openPushSubscriptions, type PushSubscriptions } from '../operators/web-push/subscriptions.ts'
import type { VapidKeys } from '../operators/web-push/vapid.ts'
import type { Connections } from '../outgoing/connections.ts'
import { feedView } from '../protocols/manage/events/feed-view.ts'
import type { Store } from '../store/store.ts'
import type { Reach } from '../supervision/reach.ts'
import { createServiceHttp, systemLookup } from '../tools/http/service/service-http.ts'
import type { Services } from './create-services.ts'
import type { SupervisedWork } from './create-supervised-work.ts'
import type { Replica } from './open-replica.ts'

interface Parts {
  settings: ServerSettings
  services: Services
  work: SupervisedWork
  store: Store
  sessionLog: SessionLog
  connections: Connections
  credentials: ChannelCredentials
  /** The key pair for Web Push, made at its first use. */
  pushKeys: () => VapidKeys
  /** Signs the values of buttons. */
  secret: () => Uint8Array
  link: ConsoleLink
  telemetry: Telemetry
  /** What the processes on one store tell each other. Null: this is the only one. */
  replica: Pick<Replica, 'changes' | 'board' | 'alone'> | null
  /** The terminal that the server runs in. Left out: it runs in none. */
  terminal?: Terminal
  program: ProgramWords
  clock: Clock
  ids: Ids
  log: Logger
}

export interface Channels {
  reach: Reach
  list: readonly OperatorChannel[]
  channelDesk: ChannelDesk
  push: PushSubscriptions
}

/** What is opened here is closed by `undo`. */
export async function createChannels(parts: Parts, undo: AsyncDisposableStack): Promise<Channels> {
  const { settings, services, store, sessionLog, replica, clock, log } = parts
  const find = async ({ kind, id }: Pick<FeedItem, 'kind' | 'id'>): Promise<PersonRecord | null> => {
    const wait = kind === 'wait' ? await store.waits.get(id) : null
    return wait === null || wait.wait === 'client_call' ? null : wait
  }
  const desk: OperatorDesk = { approvals: services.approvals, find }
  const push = await openPushSubscriptions({
    store: store.outbox,
    log: sessionLog,
    clock,
    operators: settings.supervision.operators,
    keys: parts.pushKeys,
    isLocalServer: settings.loopback,
    onSubscribed: (channel) => outbox.look(channel),
    logger: log,
    changes: replica?.changes ?? noChanges,
  })
  const opened = await openChannels(parts, find, push, undo)
  const chat = opened.find((one) => one.chat !== null)?.chat ?? null
  const here = opened.flatMap(({ channels }) => channels).map((create) => create(desk))
  const list = replica === null ? here : withTroublesElsewhere(here, replica.board)
  const ownRoom = settings.supervision.slack.channelId
  const shownFrom = createShownFrom({ channels: list, ownRoom, find, session: (id) => store.sessions.get(id) })
  const shared = { channels: list, shownFrom, feed: services.feed, store: store.outbox, log: sessionLog }
  // One process delivers and listens: what it posted is fresh in its memory when somebody answers.
  const jobs: Pick<Jobs, 'whileHeld'> = {
    whileHeld: (job, deliver) =>
      services.jobs.whileHeld(job, async (signal) => {
        await Promise.all([deliver(signal), chat?.serve(signal)])
      }),
  }
  const outbox = createOutbox({
    ...shared,
    async stillWaits(item) {
      const wait = await find(item)
      return wait !== null && isWaiting(wait)
    },
    clock,
    logger: log,
    jobs,
    changes: replica?.changes ?? noChanges,
  })
  undo.defer(() => outbox.close())
  const lastShownAt = replica === null ? outbox.lastShownAt : lastShownAnywhere(here, outbox, replica.board)
  return {
    reach: openReach({ channels: list, outbox, chat, ownRoom, clock, ids: parts.ids, logger: log }),
    list,
    channelDesk: createChannelDesk({ ...shared, outbox: { ...outbox, lastShownAt } }),
    push,
  }
}

/** Those that the settings ask for. */
async function openChannels(
  parts: Parts,
  find: OperatorDesk['find'],
  subscriptions: PushSubscriptions,
  undo: AsyncDisposableStack,
): Promise<OpenedChannels[]> {
  const { settings, connections, credentials, terminal = null, program, link, clock, ids, log: logger } = parts
  const proxy = settings.tools.proxy
  const proxied = proxy === null ? null : connections.pool({ proxyVariables: proxy })
  const shared: Omit<ChannelParts, 'settings' | 'supervision'> = {
    credentials,
    publicUrl: settings.channels.publicUrl,
    terminal,
    program,
    link,
    post: createPost({ http: createServiceHttp({ connections, proxied, lookup: systemLookup }), clock }),
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

function chatParts(parts: Parts, find: OperatorDesk['find']): ChatParts {
  const { settings, services, store, sessionLog, connections, replica, secret } = parts
  const { answer, elsewhere, readDiff, noteShown, noteRefused } = services
  const proxy = settings.tools.proxy
  const pool = connections.pool(proxy === null ? {} : { proxyVariables: proxy })
  return {
    find,
    waits: store.waits,
    sessions: store.sessions,
    outbox: store.outbox,
    log: sessionLog,
    answer,
    elsewhere,
    commands: commandDesk(parts),
    readDiff,
    noteShown,
    noteRefused,
    secret,
    alone: replica?.alone ?? null,
    outgoing: {
      fetch: pool.fetch,
      dispatcherFor: async (target) => (pool.isProxied(target) ? (await pool.upstreamFor(target)).dispatcher : null),
    },
  }
}

function commandDesk({ settings, services, work, clock, log: logger }: Parts): CommandDesk {
  const { slack, commands, workspaces } = settings.supervision
  return {
    sessions: services.elsewhere.sessions,
    stalls: services.elsewhere.stalls,
    checkpoints: work.checkpoints,
    commands: work.commands,
    spawner: work.spawner,
    inbox: services.inbox,
    oversight: services.oversight,
    aliases: Object.keys(commands),
    workspaces,
    defaultChannelId: slack.channelId,
    clock,
    logger,
  }
}

/** A failure to find the trace must not keep a message back. */
async function traceOf({ store, telemetry }: Parts, { kind, id }: FeedItem): Promise<TraceContext | undefined> {
  try {
    const runId = kind === 'wait' ? (await store.waits.get(id))?.runId : id
    const run = kind === 'session' || runId === undefined ? null : await store.runs.get(runId)
    return run === null ? undefined : telemetry.contextOf(run)
  } catch {
    return undefined
  }
}
