// Brings what the feed tells to the channels. What a channel has to show is written to the store first, so nothing is lost while a
// channel, or this process, is down.

import { abortAfter } from '../domain/abort.ts'
import { type Clock, sleep } from '../domain/clock.ts'
import { hasCode } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import { isOfFeed, isOfLine, type QueuedDelivery } from '../domain/supervision/delivery.ts'
import type { Feed } from '../engine/feed.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { SharedChanges } from '../replicas/shared-changes.ts'
import type { OutboxReads, QueueLine, SettleDelivery } from '../store/ports/outbox.ts'
import type { Surface } from '../supervision/sessions/set-mode.ts'
import { DeliveryFailed, type OperatorChannel, unlessAborted } from './operator.ts'
import { planDeliveries, retryDelay } from './schedule.ts'
import { createMissed, notBeforeOf, stillWaiting, type Wanted, type WantedDeps, wantedOf } from './wanted.ts'

interface OutboxDeps extends WantedDeps {
  channels: readonly OperatorChannel[]
  feed: Feed
  store: OutboxReads
  log: Pick<SessionLog, 'commit'>
  clock: Clock
  logger: Logger
  /** Wakes the process that delivers, and is woken by the others. */
  changes: Changes
}

export type Changes = Pick<SharedChanges, 'tell' | 'watch'>

/** A try that takes longer than this has failed. */
const DELIVERY_MS = 30_000
/** A channel that wanted none of this many items writes down how far it has looked. */
const CURSOR_EVERY = 1_000
/** After a failure of the store. */
const AGAIN_MS = 1_000
const TOPIC = 'outbox'

export function createOutbox(deps: OutboxDeps) {
  const { channels, changes, logger } = deps
  /** By channel, while this process delivers. */
  const looks = new Map<string, () => void>()
  const shownAt = new Map<string, number>()

  /**
   * Delivers until the signal aborts. Where several processes share the store, one of them does at a time. A channel that is new begins
   * with what waits already. Resolves when no delivery is under way any more. What was not delivered stays in the store.
   */
  async function deliver(signal: AbortSignal): Promise<void> {
    const working = channels.map((channel) => {
      channel.takeOver?.()
      const sender = createSender(deps, channel, signal, () => void shownAt.set(channel.name, deps.clock.now()))
      const setUp = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => setUp.resolve())
      looks.set(channel.name, () => {
        if (channel.isSetUp?.() !== false) setUp.resolve()
        sender.look()
      })
      const taking =
        channel.say === undefined ? takeFromFeed(deps, channel, sender.look, setUp.promise, signal) : Promise.resolve()
      return Promise.all([taking, sender.run()])
    })
    await Promise.all(working)
    looks.clear()
  }

  /** Something was put into the outbox of this channel, or it was set up. */
  function look(channel: string): void {
    looks.get(channel)?.()
    // It is in the store already. A process that begins to deliver later finds it there.
    changes.tell(TOPIC).catch((error: unknown) => {
      logger.warn('another replica was not told that a channel has something to show', { channel, error })
    })
  }

  const stopWatching = changes.watch(TOPIC, () => {
    for (const look of looks.values()) look()
  })
  return {
    /** Tells the channels of these surfaces something that is not an item of the feed. */
    announce(surfaces: readonly Surface[], text: string): void {
      for (const channel of deps.channels) if (surfaces.includes(channel.surface)) channel.announce?.(text)
    },
    /** Puts a line into the outbox of a channel that takes lines. It is there after a restart, and posted in its order. Throws `limit`. */
    async queue(channel: string, line: QueueLine['line']): Promise<void> {
      await deps.log.commit({ type: 'queue_line', channel, line })
      look(channel)
    },
    look,
    /** Epoch ms at which this channel last showed something here; null: not since the start. */
    lastShownAt: (channel: string): number | null => shownAt.get(channel) ?? null,
    deliver,
    /** Closes the channels. Call it when `deliver` has ended. */
    async close(): Promise<void> {
      stopWatching()
      await Promise.all(deps.channels.map((channel) => channel.close()))
    },
  }
}

export type Outbox = ReturnType<typeof createOutbox>

/**
 * Writes to the outbox what the channel has to show. A channel that reaches nobody yet costs nothing: it begins when `setUp` resolves.
 * Resolves when the signal aborts or the feed is closed; never rejects.
 */
async function takeFromFeed(
  deps: OutboxDeps,
  channel: OperatorChannel,
  onTaken: () => void,
  setUp: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { feed, store, log, clock, logger } = deps
  let isNew = channel.isSetUp?.() === false
  let stored: number | null = null

  async function take(upTo: number, wanted: readonly Wanted[], skipped = 0): Promise<void> {
    const items = wanted.map(({ item }) => item)
    const notBefore = notBeforeOf(wanted)
    await log.commit({ type: 'take_deliveries', channel: channel.name, after: stored, upTo, items, notBefore, skipped })
    stored = upTo
    onTaken()
  }

  async function follow(): Promise<void> {
    stored = await store.cursor(channel.name)
    if (stored === null || isNew) {
      const head = await feed.head()
      await take(head, await stillWaiting(deps, channel, { after: 0, upTo: head }))
      isNew = false
    }
    const from = stored ?? 0
    for await (const items of feed.follow(from, signal)) {
      const upTo = items.at(-1)?.n ?? from
      const wanted = await wantedOf(deps, channel, items)
      if (wanted.length > 0 || upTo - (stored ?? 0) >= CURSOR_EVERY) await take(upTo, wanted)
    }
  }

  if (isNew) await setUp
  while (!signal.aborted) {
    try {
      return await follow()
    } catch (error) {
      if (signal.aborted) return
      const isGone = hasCode(error, 'events_gone')
      logger.warn(isGone ? 'a channel has missed items of the feed' : 'a channel cannot read the feed just now', {
        channel: channel.name,
        error,
      })
      if (isGone) await skipToHead().catch(() => {})
      await sleep(clock, AGAIN_MS, signal)
      if (signal.aborted) return
    }
  }

  /** The feed no longer has what follows the cursor. What still waits is shown, and the summary says how much was not. */
  async function skipToHead(): Promise<void> {
    const head = await feed.head()
    // The cursor is not always behind: the store may be an older copy.
    const after = Math.min(stored ?? 0, head)
    const wanted = await stillWaiting(deps, channel, { after, upTo: head })
    await take(head, wanted, Math.max(head - after - wanted.length, 1))
  }
}

interface Tried {
  delivery: QueuedDelivery
  outcome: SettleDelivery['outcome']
}

/** Delivers what is in the outbox of a channel, as `schedule.ts` says. */
function createSender(deps: OutboxDeps, channel: OperatorChannel, signal: AbortSignal, onShown: () => void) {
  const { store, log, clock, logger } = deps
  const missed = createMissed(deps, channel)
  const inFlight = new Map<number, Promise<void>>()
  let hasNews = true
  let resume = () => {}

  function look(): void {
    hasNews = true
    resume()
  }

  /** Resolves when the deliveries were tried and what became of them is written. Never rejects. */
  async function attempt(deliveries: readonly QueuedDelivery[]): Promise<void> {
    const tried = await outcomesOf(deliveries)
    const isSummary = deliveries.some(({ item }) => item === null)
    // Read before it is settled: what is taken afterwards is shown by itself.
    const place = isSummary ? await store.cursor(channel.name).catch(() => null) : null
    for (const { delivery, outcome } of tried) {
      // Written again until it works: a delivery that is done must not be tried once more. Written also when this process stops just now.
      while (!(await settle(delivery, outcome)) && !signal.aborted) await sleep(clock, AGAIN_MS, signal)
      if (delivery.item === null && outcome.type === 'delivered') missed.summed(delivery.n, place)
    }
  }

  async function settle({ n }: QueuedDelivery, outcome: SettleDelivery['outcome']): Promise<boolean> {
    try {
      await log.commit({ type: 'settle_delivery', channel: channel.name, n, outcome })
      return true
    } catch (error) {
      logger.warn('it could not be written what became of a delivery', { channel: channel.name, n, error })
      // Another process has settled it.
      return hasCode(error, 'conflict')
    }
  }

  /** Empty: the server stops, and the deliveries are tried again after its restart. */
  async function outcomesOf(deliveries: readonly QueuedDelivery[]): Promise<Tried[]> {
    using late = abortAfter(clock, DELIVERY_MS)
    const end = AbortSignal.any([signal, late.signal])
    try {
      const refs = await unlessAborted(show(deliveries, end), end)
      onShown()
      return deliveries.map((delivery) => {
        const { n, count } = delivery
        return { delivery, outcome: { type: 'delivered', count, ref: refs.get(n) ?? null } }
      })
    } catch (error) {
      return signal.aborted ? [] : deliveries.map((delivery) => ({ delivery, outcome: failed(delivery, error) }))
    }
  }

  /** Gives what the channel notes about what it showed, by the numbers of the deliveries. */
  async function show(deliveries: readonly QueuedDelivery[], end: AbortSignal): Promise<ReadonlyMap<number, string>> {
    const ofFeed = deliveries.filter(isOfFeed)
    if (channel.deliverTogether !== undefined && deliveries.every(isTogether)) {
      return await channel.deliverTogether(ofFeed, end)
    }
    for (const line of deliveries.filter(isOfLine)) await channel.say?.(line, end)
    const [only] = ofFeed
    const ref = only === undefined ? null : await channel.deliver(only, end)
    return new Map(only === undefined || ref === null ? [] : [[only.n, ref]])
  }

  function failed(delivery: QueuedDelivery, error: unknown): SettleDelivery['outcome'] {
    const { giveUp, retryAfterMs } = error instanceof DeliveryFailed ? error : { giveUp: false, retryAfterMs: 0 }
    const failures = delivery.attempts + 1
    const delay = retryDelay(failures, retryAfterMs)
    const fields = { channel: channel.name, n: delivery.n, failures, error }
    if (giveUp) logger.warn('a channel gave up a delivery', fields)
    else logger.warn('a delivery failed and is tried again', { ...fields, retry_ms: delay })
    return giveUp ? { type: 'given_up' } : { type: 'failed', nextTryAt: clock.now() + delay }
  }

  const notBefore = (delivery: QueuedDelivery, now: number): number =>
    isOfFeed(delivery) ? (channel.notBefore?.(delivery, now) ?? 0) : 0
  const isTogether = (delivery: QueuedDelivery): boolean =>
    channel.deliverTogether !== undefined && isOfFeed(delivery) && channel.isTogether?.(delivery) !== false

  async function run(): Promise<void> {
    while (!signal.aborted) {
      hasNews = false
      const deliveries = await store.deliveries(channel.name).catch(() => null)
      if (deliveries !== null && (await missed.takeBack(deliveries))) continue
      const underWay = new Set(inFlight.keys())
      const plan =
        deliveries === null ? null : planDeliveries(deliveries, underWay, clock.now(), { notBefore, isTogether })
      for (const group of plan?.groups ?? []) {
        const trying = attempt(group).then(() => {
          for (const { n } of group) inFlight.delete(n)
          look()
        })
        for (const { n } of group) inFlight.set(n, trying)
      }
      if (hasNews || signal.aborted) continue
      const waitMs = plan === null ? AGAIN_MS : plan.waitMs
      await new Promise<void>((resolve) => {
        const cancelTimer = waitMs === null ? () => {} : clock.after(waitMs, look)
        signal.addEventListener('abort', look, { once: true })
        resume = () => {
          cancelTimer()
          signal.removeEventListener('abort', look)
          resolve()
        }
      })
    }
    await Promise.all(inFlight.values())
  }

  return { look, run }
}
