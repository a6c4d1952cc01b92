// Finds what an earlier try has posted: Slack may have taken a message without our knowing it.

import type { SessionRecord } from '../../domain/session/session.ts'
import type { QueuedDelivery } from '../../domain/supervision/delivery.ts'
import { createTurns } from '../../supervision/sessions/turns.ts'
import { unlessAborted } from '../operator.ts'
import { remember } from './session-threads.ts'
import { SlackFailure } from './slack-failure.ts'
import type { RoomParts } from './slack-room.ts'

type EarlierDeps = Pick<RoomParts, 'room' | 'channel' | 'api' | 'outbox' | 'threads'>

/** Clocks of two machines differ. */
const EARLIER_MS = 10 * 60_000
const MOST_THREADS = 100

export function createEarlierPosts({ room, channel, api, outbox, threads }: EarlierDeps) {
  /** Deliveries that an earlier process may have posted, and since when. Null: nobody knows. */
  const readOld = () =>
    outbox.deliveries(channel).then(
      (deliveries) => {
        const times = deliveries.flatMap(({ item }) => (item === null ? [] : [item.at]))
        return { numbers: new Set(deliveries.map(({ n }) => n)), since: Math.min(...times, Number.MAX_SAFE_INTEGER) }
      },
      () => null,
    )
  let old = readOld()
  const unclear = new Set<number>()
  const turns = createTurns()
  /** What was in the threads when this process first looked. An earlier process posts nothing any more. */
  const seen = new Map<string, ReadonlyMap<string, string>>()

  async function suspicionOf({ n, item }: QueuedDelivery): Promise<{ since: number; isOwn: boolean } | null> {
    const before = await old
    const since = (item?.at ?? EARLIER_MS) - EARLIER_MS
    if (unclear.has(n)) return { since, isOwn: true }
    if (before === null) return { since, isOwn: false }
    return before.numbers.has(n) ? { since: Math.min(before.since - EARLIER_MS, since), isOwn: false } : null
  }

  /** The keys at the top of the room with their `ts`, if an earlier try of one of these deliveries may have posted something there. */
  async function keysAtTop(deliveries: readonly QueuedDelivery[]): Promise<ReadonlyMap<string, string>> {
    const suspicions = await Promise.all(deliveries.map(suspicionOf))
    const since = Math.min(...suspicions.map((one) => one?.since ?? Number.POSITIVE_INFINITY))
    return Number.isFinite(since) ? await api.keys(room, null, since) : new Map()
  }

  async function attempt<T>(
    deliveries: readonly QueuedDelivery[],
    lane: string,
    signal: AbortSignal,
    show: () => Promise<T>,
  ): Promise<T> {
    try {
      // A try that was given up may still be under way. It ends before the next one begins.
      const showing = turns(lane, async () => {
        signal.throwIfAborted()
        return await show()
      })
      const shown = await unlessAborted(showing, signal)
      for (const { n } of deliveries) unclear.delete(n)
      return shown
    } catch (error) {
      if (!(error instanceof SlackFailure) || error.isUnclear) for (const { n } of deliveries) unclear.add(n)
      throw error
    }
  }

  return {
    /**
     * `ts` of the message with this key in the session's thread, or in the one that is named, if an earlier try of this delivery may have
     * posted it and did.
     */
    async inThread(
      delivery: QueuedDelivery,
      session: SessionRecord,
      key: string,
      named: string | null = null,
    ): Promise<string | null> {
      const suspicion = await suspicionOf(delivery)
      const thread = suspicion === null ? null : (named ?? (await threads.find(session)))
      if (suspicion === null || thread === null) return null
      const before = suspicion.isOwn ? undefined : seen.get(thread)
      const keys = before ?? (await api.keys(room, thread, suspicion.since))
      if (!suspicion.isOwn) remember(seen, thread, keys, MOST_THREADS)
      return keys.get(key) ?? null
    },

    /** The same at the top of the room. */
    atTop: async (delivery: QueuedDelivery, key: string): Promise<string | null> =>
      (await keysAtTop([delivery])).get(key) ?? null,
    keysAtTop,

    /** One try of a delivery. If it ends without a clear answer, the next one looks first. */
    attempt: <T>(delivery: QueuedDelivery, signal: AbortSignal, show: () => Promise<T>): Promise<T> =>
      attempt([delivery], delivery.item?.sessionId ?? '', signal, show),
    /** One try of deliveries that are shown together. */
    attemptTogether: <T>(deliveries: readonly QueuedDelivery[], signal: AbortSignal, show: () => Promise<T>) =>
      attempt(deliveries, '', signal, show),
    /** From now on, what is in the outbox may have been posted by an earlier process. */
    takeOver(): void {
      old = readOld()
      seen.clear()
    },
  }
}

export type EarlierPosts = ReturnType<typeof createEarlierPosts>
