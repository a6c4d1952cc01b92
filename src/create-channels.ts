// The channels to operators, and the outbox that brings them what waits. A new channel is a folder in `operators/` and one line here.

import { type NoticeParts, openNotices } from './create-notices.ts'
import type { SlackParts } from './create-slack-chat.ts'
import type { Clock } from './domain/clock.ts'
import type { FeedItem } from './domain/feed.ts'
import type { Logger } from './domain/logger.ts'
import type { ProgramWords } from './domain/program-words.ts'
import { isWaiting, type PersonRecord } from './domain/records/record.ts'
import type { Jobs } from './engine/sessions/jobs.ts'
import { createBell, type Terminal } from './operators/bell/create-bell.ts'
import { type ChannelDesk, createChannelDesk } from './operators/channel-desk.ts'
import type { Chat } from './operators/chat.ts'
import { lastShownAnywhere, withTroublesElsewhere } from './operators/heard-channels.ts'
import { openReach } from './operators/open-reach.ts'
import type { CreateChannel, OperatorChannel, OperatorDesk } from './operators/operator.ts'
import { createOutbox } from './operators/outbox.ts'
import { createShownFrom } from './operators/shown-from.ts'
import type { PushSubscriptions } from './operators/web-push/subscriptions.ts'
import type { Replica } from './start/open-replica.ts'
import type { Reach } from './supervision/reach.ts'

interface ChannelParts extends Omit<NoticeParts, 'onSubscribed'>, SlackParts {
  /** What the processes on one store tell each other. Null: this is the only one. */
  replica: Pick<Replica, 'changes' | 'board' | 'alone'> | null
  /** The terminal that the server runs in. Left out: it runs in none. */
  terminal?: Terminal
  program: ProgramWords
  clock: Clock
  log: Logger
}

export interface Channels {
  reach: Reach
  list: readonly OperatorChannel[]
  channelDesk: ChannelDesk
  push: PushSubscriptions
}

/** What is opened here is closed by `undo`. */
export async function createChannels(parts: ChannelParts, undo: AsyncDisposableStack): Promise<Channels> {
  const { settings, services, store, sessionLog, replica, clock, log } = parts
  const find = async ({ kind, id }: Pick<FeedItem, 'kind' | 'id'>): Promise<PersonRecord | null> => {
    const wait = kind === 'wait' ? await store.waits.get(id) : null
    return wait === null || wait.wait === 'client_call' ? null : wait
  }
  const desk: OperatorDesk = { approvals: services.approvals, find }
  const chat = await openChat(parts, find)
  if (chat !== null) undo.defer(() => chat.close())
  const { push, channels: notices } = await openNotices({ ...parts, onSubscribed: (channel) => outbox.look(channel) })
  const here = [...(chat?.channels ?? []), ...ownChannels(parts), ...notices].map((create) => create(desk))
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
    ...(replica === null ? {} : { changes: replica.changes }),
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

const ownChannels = ({ terminal, program }: ChannelParts): readonly CreateChannel[] =>
  terminal === undefined ? [] : [createBell(terminal, program)]

/** Slack, where it is configured. Loaded only then. */
async function openChat(parts: ChannelParts, find: OperatorDesk['find']): Promise<Chat | null> {
  const { slack } = parts.credentials
  if (slack === null) return null
  const { openSlackChat } = await import('./create-slack-chat.ts')
  return openSlackChat(parts, slack, find)
}
