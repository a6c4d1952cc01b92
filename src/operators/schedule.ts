// Which deliveries of a channel may be tried now, and when the next one may. Pure: `outbox.ts` does the work.

import type { QueuedDelivery } from '../domain/supervision/delivery.ts'

/** Deliveries of one channel that are under way at the same time. */
const MAX_IN_FLIGHT = 8
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000
/** A service that asks for more is tried earlier. Bounded also because the wall clock may have jumped since it asked. */
const LONGEST_WAIT_MS = 10 * 60 * 1_000

/** How long to wait after this many failures in a row: 1, 2, 4, … 30 seconds, or longer if the service asks for it. */
export function retryDelay(failures: number, retryAfterMs: number): number {
  const delay = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10), LONGEST_RETRY_MS)
  return Math.min(Math.max(delay, Math.ceil(retryAfterMs)), LONGEST_WAIT_MS)
}

export interface Plan {
  /** To be tried now. */
  due: QueuedDelivery[]
  /** After this many ms more may be due; null: when something else happens. */
  waitMs: number | null
}

/**
 * One delivery at a time for each session, the oldest first, so that a session's changes are shown in order. Summaries are about no
 * session and have a lane of their own. What a channel holds back lets others pass: something critical in quiet hours.
 */
export function planDeliveries(
  deliveries: readonly QueuedDelivery[],
  inFlight: ReadonlySet<number>,
  now: number,
  notBefore: HeldUntil = () => 0,
): Plan {
  const isHeld = (delivery: QueuedDelivery): boolean => notBefore(delivery, now) > now
  const busy = new Set(deliveries.filter(({ n }) => inFlight.has(n)).map(laneOf))
  const lanes = new Map<string, QueuedDelivery>()
  for (const delivery of deliveries) {
    const lane = laneOf(delivery)
    const first = lanes.get(lane)
    if (busy.has(lane) || (first !== undefined && (!isHeld(first) || isHeld(delivery)))) continue
    lanes.set(lane, delivery)
  }
  const { due, waitMs } = divide([...lanes.values()], now, notBefore)
  return { due: due.slice(0, Math.max(MAX_IN_FLIGHT - inFlight.size, 0)), waitMs }
}

const laneOf = ({ item }: QueuedDelivery): string => item?.sessionId ?? ''

/** Everything that is due at once. Only one such message is under way at a time, so the order of each session is kept. */
export function planTogether(
  deliveries: readonly QueuedDelivery[],
  inFlight: ReadonlySet<number>,
  now: number,
  notBefore: HeldUntil = () => 0,
): Plan {
  return inFlight.size > 0 ? { due: [], waitMs: null } : divide(deliveries, now, notBefore)
}

/** Epoch ms before which a channel holds a delivery. */
type HeldUntil = (delivery: QueuedDelivery, now: number) => number

function divide(ready: readonly QueuedDelivery[], now: number, notBefore: HeldUntil): Plan {
  const waits = ready.map((one) => {
    const at = Math.max(one.nextTryAt, notBefore(one, now))
    return { one, ms: Math.min(Math.max(at - now, 0), LONGEST_WAIT_MS) }
  })
  const later = waits.filter(({ ms }) => ms > 0).map(({ ms }) => ms)
  return {
    due: waits.filter(({ ms }) => ms === 0).map(({ one }) => one),
    waitMs: later.length === 0 ? null : Math.min(...later),
  }
}
