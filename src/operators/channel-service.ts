// What operators see and do about the channels themselves.

import { ServerError } from '../domain/errors.ts'
import { isRecord } from '../domain/is-record.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import type { ChannelState, Replay } from '../domain/supervision/channel-state.ts'
import type { Feed } from '../engine/feed.ts'
import type { SessionLog } from '../log/session-log.ts'
import { OUTBOX_ITEMS, type OutboxReads } from '../store/ports/outbox.ts'
import { titleOf } from './channels.ts'
import type { OperatorChannel } from './operator.ts'
import type { Outbox } from './outbox.ts'
import type { ShownFrom } from './shown-from.ts'

interface ChannelServiceDeps {
  channels: readonly OperatorChannel[]
  outbox: Pick<Outbox, 'look' | 'lastShownAt'>
  shownFrom: ShownFrom
  feed: Pick<Feed, 'assertKept' | 'items'>
  store: Pick<OutboxReads, 'cursor' | 'deliveries'>
  log: Pick<SessionLog, 'commit'>
}

const READ_LIMIT = 256

export function createChannelService({ channels, outbox, shownFrom, feed, store, log }: ChannelServiceDeps) {
  async function stateOf({ name, surface, isSetUp, trouble }: OperatorChannel): Promise<ChannelState> {
    const deliveries = await store.deliveries(name)
    return {
      name,
      title: titleOf(name),
      surface,
      isSetUp: isSetUp?.() ?? true,
      waiting: deliveries.filter(({ item }) => item !== null).length,
      missed: deliveries.find(({ item }) => item === null)?.count ?? 0,
      lastShownAt: outbox.lastShownAt(name),
      trouble: trouble?.() ?? null,
    }
  }

  return {
    list: (): Promise<ChannelState[]> => Promise.all(channels.map(stateOf)),

    /**
     * Shows what a channel has shown after this number of the feed once more, as far as its outbox has space. The items keep their numbers.
     * Throws `record_not_found` for an unknown channel, and `events_gone`.
     */
    async replay(name: string, after: number): Promise<Replay> {
      const channel = channels.find((one) => one.name === name)
      if (channel === undefined) {
        const text = `There is no channel ${JSON.stringify(name.slice(0, 100))}. GET /channels lists them.`
        throw new ServerError('record_not_found', text)
      }
      await feed.assertKept(after)
      // What comes after its cursor the channel takes by itself.
      const end = (await store.cursor(name)) ?? 0
      const space = Math.max(OUTBOX_ITEMS - (await store.deliveries(name)).length, 0)
      const again: FeedItem[] = []
      let place = after
      while (place < end && again.length < space) {
        const items = (await feed.items(place, READ_LIMIT)).filter(({ n }) => n <= end)
        for (const item of items) {
          if (again.length === space) break
          place = item.n
          if (channel.concerns(item) && (await shownFrom(channel, item)) !== null) again.push(item)
        }
        if (items.length === 0) place = end
      }
      if (again.length > 0) await log.commit({ type: 'replay_deliveries', channel: name, items: again })
      outbox.look(name)
      return { replayed: again.length, upTo: place, hasMore: place < end }
    },
  }
}

export type ChannelService = ReturnType<typeof createChannelService>

// What a process that does not deliver knows about the channels: the one that delivers says it.

/** Where processes on one store say how they are, and hear it of the others. */
interface Board {
  say(topic: string, what: () => unknown): void
  heard(topic: string): readonly { said: unknown }[]
}

const TROUBLES = 'channel troubles'
const SHOWN = 'channels shown'

/** The same channels. One that works here is in trouble if the process that delivers says so. */
export function withTroublesElsewhere(channels: readonly OperatorChannel[], board: Board): OperatorChannel[] {
  board.say(TROUBLES, () =>
    Object.fromEntries(
      channels.flatMap(({ name, trouble }) => {
        const here = trouble?.() ?? null
        return here === null ? [] : [[name, here]]
      }),
    ),
  )
  return channels.map((channel) => {
    const { name, trouble } = channel
    if (trouble === undefined) return channel
    return { ...channel, trouble: () => trouble() ?? textOf(board, name) }
  })
}

/** When a channel last showed something, at whichever process. */
export function lastShownAnywhere(
  channels: readonly OperatorChannel[],
  outbox: Pick<Outbox, 'lastShownAt'>,
  board: Board,
): Outbox['lastShownAt'] {
  board.say(SHOWN, () => Object.fromEntries(channels.map(({ name }) => [name, outbox.lastShownAt(name)])))
  return (channel) => {
    const times = saidOf(board, SHOWN, channel).filter((at) => typeof at === 'number')
    const latest = Math.max(outbox.lastShownAt(channel) ?? 0, ...times)
    return latest === 0 ? null : latest
  }
}

const textOf = (board: Board, channel: string): string | null =>
  saidOf(board, TROUBLES, channel).find((said) => typeof said === 'string') ?? null

const saidOf = (board: Board, topic: string, channel: string): unknown[] =>
  board.heard(topic).flatMap(({ said }) => (isRecord(said) && Object.hasOwn(said, channel) ? [said[channel]] : []))
