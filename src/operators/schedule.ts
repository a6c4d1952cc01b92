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

interface Plan {
  /** To be tried now. What is shown together is one group. */
  groups: QueuedDelivery[][]
  /** After this many ms more may be due; null: when something else happens. */
  waitMs: number | null
}

interface Rules {
  /** Epoch ms before which a channel holds a delivery. Left out: it holds none. */
  notBefore?(delivery: QueuedDelivery, now: number): number
  /** Left out: each is shown by itself. */
  isTogether?(delivery: QueuedDelivery): boolean
}

/**
 * One delivery at a time for each session, the oldest first, so that a session's changes are shown in order. Summaries are about no
 * session and have a lane of their own. What a channel holds back lets others pass: something critical in quiet hours. Of what is shown
 * together everything goes at once, and only one such message is under way at a time.
 */
export function planDeliveries(
  deliveries: readonly QueuedDelivery[],
  inFlight: ReadonlySet<number>,
  now: number,
  { notBefore = () => 0, isTogether = () => false }: Rules = {},
): Plan {
  const isHeld = (delivery: QueuedDelivery): boolean => notBefore(delivery, now) > now
  const [together, single] = [deliveries.filter(isTogether), deliveries.filter((one) => !isTogether(one))]
  const underWay = single.filter(({ n }) => inFlight.has(n))
  const busy = new Set(underWay.map(laneOf))
  const lanes = new Map<string, QueuedDelivery>()
  for (const delivery of single) {
    const lane = laneOf(delivery)
    const first = lanes.get(lane)
    if (busy.has(lane) || (first !== undefined && (!isHeld(first) || isHeld(delivery)))) continue
    lanes.set(lane, delivery)
  }
  const ready = [...lanes.values(), ...(together.some(({ n }) => inFlight.has(n)) ? [] : together)]
  const waits = ready.map((one) => {
    const at = Math.max(one.nextTryAt, notBefore(one, now))
    return { one, ms: Math.min(Math.max(at - now, 0), LONGEST_WAIT_MS) }
  })
  const due = waits.filter(({ ms }) => ms === 0).map(({ one }) => one)
  const later = waits.filter(({ ms }) => ms > 0).map(({ ms }) => ms)
  const alone = due.filter((one) => !isTogether(one)).slice(0, Math.max(MAX_IN_FLIGHT - underWay.length, 0))
  return {
    groups: [due.filter(isTogether), ...alone.map((one) => [one])].filter((group) => group.length > 0),
    waitMs: later.length === 0 ? null : Math.min(...later),
  }
}

const laneOf = ({ item }: QueuedDelivery): string => item?.sessionId ?? ''
