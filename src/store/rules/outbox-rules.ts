// The outbox of a channel: a bounded list of items, and one summary that counts what does not fit.

import { ServerError } from '../../domain/errors.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { QueuedDelivery } from '../../domain/supervision/delivery.ts'
import type { Command } from '../ports/command.ts'
import {
  MOST_LINES,
  type NoteForChannel,
  OUTBOX_ITEMS,
  type OutboxCommand,
  type QueueLine,
  type ReplayDeliveries,
  type SettleDelivery,
  type TakeDeliveries,
} from '../ports/outbox.ts'
import { conflict } from './find-rows.ts'
import { ask, type Change, type Decision, done, type Rule, type RulesOf } from './rows.ts'

function* takeDeliveries({ channel, after, upTo, items, notBefore, skipped }: TakeDeliveries): Rule<Decision> {
  const { cursor, deliveries } = yield* ask('outbox', channel)
  if (cursor !== after) {
    throw conflict(`Channel ${JSON.stringify(channel)} is at ${cursor} and not at ${after}.`)
  }
  return done([
    { write: 'put_outbox_cursor', channel, n: upTo },
    ...placed(channel, deliveries, items, { count: skipped, at: upTo }, notBefore),
  ])
}

function* replayDeliveries({ channel, items, notBefore }: ReplayDeliveries): Rule<Decision> {
  const { deliveries } = yield* ask('outbox', channel)
  const waiting = new Set(deliveries.map(({ n }) => n))
  const again = items.filter(({ n }) => !waiting.has(n))
  return done(placed(channel, deliveries, again, { count: 0, at: 0 }, notBefore))
}

/** As many of the items as fit. The summary counts the others, and those that were skipped. */
function placed(
  channel: string,
  deliveries: readonly QueuedDelivery[],
  items: readonly FeedItem[],
  skipped: { count: number; at: number },
  notBefore: TakeDeliveries['notBefore'] = {},
): Change[] {
  const summary = deliveries.find(({ item }) => item === null)
  const space = summary === undefined ? Math.max(OUTBOX_ITEMS - deliveries.length, 0) : 0
  const changes = items.slice(0, space).map((item) => {
    const nextTryAt = notBefore[item.n] ?? 0
    return put({ ...fresh, channel, n: item.n, item, count: 1, nextTryAt })
  })
  const left = items.slice(space)
  const count = left.length + skipped.count
  return count === 0 ? changes : [...changes, put(withMore(summary, channel, left[0]?.n ?? skipped.at, count))]
}

function* queueLine({ channel, line }: QueueLine): Rule<Decision> {
  const { cursor, deliveries } = yield* ask('outbox', channel)
  const own = deliveries.filter(({ item }) => item?.sessionId === line.sessionId).length
  if (own >= MOST_LINES || deliveries.length >= OUTBOX_ITEMS) {
    const [most, whose] = own >= MOST_LINES ? [MOST_LINES, ' of this session'] : [OUTBOX_ITEMS, '']
    throw new ServerError('limit', `${most} lines${whose} wait to be posted already. Say it again later.`)
  }
  const n = (cursor ?? 0) + 1
  return done([
    { write: 'put_outbox_cursor', channel, n },
    put({ ...fresh, channel, n, item: { ...line, n }, count: 1 }),
  ])
}

function* noteForChannel(command: NoteForChannel): Rule<Decision> {
  const { channel, key, was } = command
  if (was !== undefined && was !== ((yield* ask('note', channel, key))?.value ?? null)) {
    throw conflict(`Somebody else has changed the note ${JSON.stringify(key)} of ${JSON.stringify(channel)}.`)
  }
  if (command.value === null) return done([{ write: 'remove_note', channel, key }])
  const { session, value, at } = command
  return done([{ write: 'put_note', note: { channel, key, session, value, at } }])
}

function* settleDelivery({ channel, n, outcome }: SettleDelivery): Rule<Decision> {
  const { deliveries } = yield* ask('outbox', channel)
  const delivery = deliveries.find((one) => one.n === n)
  if (delivery === undefined) {
    throw conflict(`Channel ${JSON.stringify(channel)} has nothing to deliver with number ${n}.`)
  }
  const { item } = delivery
  const remove: Change = { write: 'remove_delivery', channel, n }
  switch (outcome.type) {
    case 'failed':
      return done([put({ ...delivery, attempts: delivery.attempts + 1, nextTryAt: outcome.nextTryAt })])
    case 'given_up': {
      const summary = deliveries.find((one) => one.item === null)
      return done(item === null ? [remove] : [remove, put(withMore(summary, channel, n, 1))])
    }
    case 'delivered': {
      if (item === null && delivery.count > outcome.count) {
        return done([put({ ...delivery, ...fresh, count: delivery.count - outcome.count })])
      }
      const wait = item?.kind === 'wait' && outcome.ref !== null ? yield* ask('wait', item.id) : null
      if (wait === null || wait.wait === 'client_call' || outcome.ref === null) return done([remove])
      const messageRefs = { ...wait.messageRefs, [channel]: outcome.ref }
      return done([remove, { write: 'update_wait', before: wait, wait: { ...wait, messageRefs } }])
    }
  }
}

const fresh = { attempts: 0, nextTryAt: 0 }

const withMore = (summary: QueuedDelivery | undefined, channel: string, n: number, more: number): QueuedDelivery =>
  summary === undefined
    ? { ...fresh, channel, n, item: null, count: more }
    : { ...summary, count: summary.count + more }

const put = (delivery: QueuedDelivery): Change => ({ write: 'put_delivery', delivery })

export const outboxRules: RulesOf<OutboxCommand> = {
  take_deliveries: takeDeliveries,
  settle_delivery: settleDelivery,
  replay_deliveries: replayDeliveries,
  queue_line: queueLine,
  note_for_channel: noteForChannel,
}

export const isOutboxCommand = (command: Command): command is OutboxCommand => command.type in outboxRules
