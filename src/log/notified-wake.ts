// Wakes the members of all processes on one store, through a channel that carries short texts between them. A text may get lost, so
// everybody also polls.

import type { Clock } from '../domain/clock.ts'
import type { Notifications } from '../store/ports/notifications.ts'
import { createLocalWake, type Topic, type Wake } from './wake.ts'

export interface NotifiedWake extends Wake {
  /** Whether no other process lives, as far as this one knows. It then sends nothing. */
  readonly isAlone: boolean
  /** The names of the other processes that live, as it was a few seconds ago. */
  readonly others: readonly string[]
  close(): void
}

export interface NotifiedWakeOptions {
  notifications: Notifications
  clock: Pick<Clock, 'soon' | 'after' | 'mono'>
  /** The name of this process. It tells our own payloads from those of others. */
  replica: string
  /** The names of the other processes that have a live lease. */
  findOthers: () => Promise<readonly string[]>
  /** How often everybody looks without being woken: every 1,000 ms or more often. */
  pollMs?: number
}

/** A busy process sends at most once in this time, an idle one at once. */
const GATHER_MS = 5
const MOST_BYTES = 7_900
/** More sessions than this never fit into a payload. A slow database must not make us remember them all. */
const MOST_GATHERED = 1_000
/** How often the leases are looked at. */
const LOOK_EVERY_MS = 3_000
/** Whoever was heard counts as alive for this long, so nobody misses a wake because a lease was not seen yet. */
const HEARD_MS = 15_000

const TOPICS: readonly Topic[] = ['entries', 'runs', 'feed']

/**
 * One payload is under way at a time. What changes meanwhile goes with the next one.
 *
 * A process learns in two ways that it is not alone: it looks at the leases every three seconds, and it hears others. Each says
 * hello when it begins to listen, so a new process misses few wakes while its lease is still unknown. Until the first look it sends.
 */
export function createNotifiedWake(options: NotifiedWakeOptions): NotifiedWake {
  const { notifications, clock, replica: self, findOthers, pollMs = 1_000 } = options
  const local = createLocalWake({ clock, pollMs })
  const remote = new Map<Topic, Set<(sessionId: string | null) => void>>(TOPICS.map((topic) => [topic, new Set()]))
  const gathered = new Map<Topic, Set<string>>(TOPICS.map((topic) => [topic, new Set()]))
  let isTooMuch = false
  /** Null: nobody knows. */
  let others: readonly string[] | null = null
  let heardUntil = Number.NEGATIVE_INFINITY
  let isScheduled = false
  let isSending = false
  /** Something came while a payload was under way. */
  let isDue = false
  let lastSent = Number.NEGATIVE_INFINITY
  let cancelLook = () => {}
  let isClosed = false

  const isAlone = (): boolean => others?.length === 0 && clock.mono() >= heardUntil

  function gather(topic: Topic, sessionId: string): void {
    if (isClosed || isAlone()) return
    const sessions = gathered.get(topic)
    if (sessions === undefined) return
    if (sessions.size < MOST_GATHERED) sessions.add(sessionId)
    else isTooMuch ||= !sessions.has(sessionId)
    schedule()
  }

  function schedule(): void {
    isDue = true
    if (isScheduled || isSending || isClosed) return
    isScheduled = true
    const wait = lastSent + GATHER_MS - clock.mono()
    if (wait <= 0) clock.soon(send)
    else clock.after(wait, send)
  }

  async function send(): Promise<void> {
    isScheduled = false
    if (isClosed) return
    isSending = true
    isDue = false
    lastSent = clock.mono()
    await notifications.send(takeGathered())
    isSending = false
    if (isDue) schedule()
  }

  function takeGathered(): string {
    const lists = TOPICS.map((topic) => [...(gathered.get(topic) ?? [])])
    const payload = isTooMuch ? everything(self) : payloadOf(self, lists)
    for (const topic of TOPICS) gathered.get(topic)?.clear()
    isTooMuch = false
    return payload
  }

  function hear(text: string | null): void {
    const payload = text === null ? null : readPayload(text)
    // The connection is back. Others may have begun in the meantime.
    if (text === null) schedule()
    if (payload?.from === self) return
    if (payload !== null) heardUntil = clock.mono() + HEARD_MS
    const lists = payload === null || payload.lists === 'all' ? TOPICS.map(() => [null]) : payload.lists
    for (const [i, topic] of TOPICS.entries()) {
      for (const sessionId of lists[i] ?? []) tell(topic, sessionId)
    }
  }

  function tell(topic: Topic, sessionId: string | null): void {
    const members = remote.get(topic)
    for (const look of [...(members ?? [])]) if (members?.has(look)) look(sessionId)
  }

  async function lookAtLeases(): Promise<void> {
    try {
      others = await findOthers()
    } catch {
      // Sending for nothing does no harm.
      others = null
    }
    if (!isClosed) cancelLook = clock.after(LOOK_EVERY_MS, () => void lookAtLeases())
  }

  const stopListening = notifications.listen(hear)
  // Whatever is sent says hello.
  schedule()
  void lookAtLeases().then(schedule)

  return {
    get isAlone() {
      return isAlone()
    },
    get others() {
      return others ?? []
    },
    join(topic, look) {
      const member = local.join(topic, look)
      // One function for each member: the same `look` may join twice.
      const hears = (sessionId: string | null) => look(sessionId)
      remote.get(topic)?.add(hears)
      return {
        notify(sessionId) {
          member.notify(sessionId)
          gather(topic, sessionId)
        },
        leave() {
          member.leave()
          remote.get(topic)?.delete(hears)
        },
      }
    },
    close() {
      isClosed = true
      cancelLook()
      stopListening()
    },
  }
}

/** JSON: the sender, then a list of sessions for each topic, or `*` where they do not fit. */
function payloadOf(from: string, lists: readonly string[][]): string {
  const payload = JSON.stringify([from, ...lists])
  return Buffer.byteLength(payload) <= MOST_BYTES ? payload : everything(from)
}

const everything = (from: string): string => JSON.stringify([from, '*'])

/** Null for what another version of the program may have sent: then look at everything. */
function readPayload(text: string): { from: string; lists: string[][] | 'all' } | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (!Array.isArray(value)) return null
  const [from, ...lists]: unknown[] = value
  if (typeof from !== 'string') return null
  if (lists[0] === '*') return { from, lists: 'all' }
  return lists.every(isListOfTexts) ? { from, lists } : null
}

const isListOfTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')
