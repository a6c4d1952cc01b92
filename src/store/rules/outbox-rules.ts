// The outbox of a channel: a bounded list of items, and one summary that counts what finds no room in it.

import type { Delivery } from '../../domain/delivery.ts'
import { ServerError } from '../../domain/errors.ts'
import { OUTBOX_ITEMS, type SettleDelivery, type TakeDeliveries } from '../ports/outbox.ts'
import { ask, type Change, type Decision, type Rule } from './rows.ts'

export function* takeDeliveries({ channel, after, upTo, items, skipped }: TakeDeliveries): Rule<Decision> {
  const { cursor, deliveries } = yield* ask('outbox', channel)
  if (cursor !== after) {
    throw new ServerError('conflict', `Channel ${JSON.stringify(channel)} is at ${cursor} and not at ${after}.`)
  }
  const summary = deliveries.find(({ item }) => item === null)
  const room = summary === undefined && skipped === 0 ? Math.max(OUTBOX_ITEMS - deliveries.length, 0) : 0
  const changes: Change[] = [{ write: 'put_outbox_cursor', channel, n: upTo }]
  for (const item of items.slice(0, room)) changes.push(put({ ...fresh, channel, n: item.n, item, count: 1 }))
  const left = items.slice(room)
  const count = left.length + skipped
  if (count > 0) changes.push(put(withMore(summary, channel, left[0]?.n ?? upTo, count)))
  return done(changes)
}

export function* settleDelivery({ channel, n, outcome }: SettleDelivery): Rule<Decision> {
  const { deliveries } = yield* ask('outbox', channel)
  const delivery = deliveries.find((one) => one.n === n)
  if (delivery === undefined) {
    throw new ServerError('conflict', `Channel ${JSON.stringify(channel)} has nothing to deliver with number ${n}.`)
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

const withMore = (summary: Delivery | undefined, channel: string, n: number, more: number): Delivery =>
  summary === undefined
    ? { ...fresh, channel, n, item: null, count: more }
    : { ...summary, count: summary.count + more }

const put = (delivery: Delivery): Change => ({ write: 'put_delivery', delivery })

const done = (changes: Change[]): Decision => ({ result: { ok: true, firstSeq: 0 }, changes })
