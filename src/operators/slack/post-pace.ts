// How fast we post: Slack takes about one message a second in each room. Waiting before the call is better than being refused after it.

import type { Clock } from '../../domain/clock.ts'
import { DeliveryFailed } from '../operator.ts'

/** `answer`: somebody waits for it at the screen. `line`: nobody does. */
export type PostUrgency = 'answer' | 'delivery' | 'line'

/** Resolves when one more message may go to the room. Rejects when the signal aborts, or when too many wait. */
export type PostPace = (room: string, urgency: PostUrgency, signal?: AbortSignal) => Promise<void>

const EVERY_MS = 1_000
/** Messages that may go at once after a pause. */
const BURST = 3
/** Lines that wait for a room. More are refused: an agent that reports all the time must not fill the memory. */
const MOST_LINES = 50
const ORDER: readonly PostUrgency[] = ['answer', 'delivery', 'line']

interface Waiting {
  urgency: PostUrgency
  go(): void
}

export function createPostPace(clock: Clock): PostPace {
  const rooms = new Map<string, { left: number; at: number; waiting: Waiting[]; isTimed: boolean }>()

  function roomOf(id: string) {
    const room = rooms.get(id) ?? { left: BURST, at: clock.mono(), waiting: [], isTimed: false }
    rooms.set(id, room)
    return room
  }

  function next(id: string): void {
    const room = roomOf(id)
    const now = clock.mono()
    const gained = Math.floor((now - room.at) / EVERY_MS)
    room.left = Math.min(BURST, room.left + gained)
    room.at = room.left === BURST ? now : room.at + gained * EVERY_MS
    while (room.left > 0 && room.waiting.length > 0) {
      const [first] = ORDER.flatMap((urgency) => room.waiting.filter((one) => one.urgency === urgency))
      if (first === undefined) break
      room.waiting.splice(room.waiting.indexOf(first), 1)
      room.left -= 1
      first.go()
    }
    if (room.waiting.length === 0 || room.isTimed) return
    room.isTimed = true
    clock.after(Math.max(EVERY_MS - (now - room.at), 1), () => {
      room.isTimed = false
      next(id)
    })
  }

  return (id, urgency, signal) => {
    const { waiting } = roomOf(id)
    if (urgency === 'line' && waiting.filter((one) => one.urgency === 'line').length >= MOST_LINES) {
      return Promise.reject(new DeliveryFailed('Too many lines wait for this Slack channel.'))
    }
    return new Promise((resolve, reject) => {
      const stop = () => {
        const place = waiting.indexOf(one)
        if (place >= 0) waiting.splice(place, 1)
        reject(new DeliveryFailed('It was not posted in time.'))
      }
      const one: Waiting = {
        urgency,
        go() {
          signal?.removeEventListener('abort', stop)
          resolve()
        },
      }
      if (signal?.aborted) return stop()
      signal?.addEventListener('abort', stop, { once: true })
      waiting.push(one)
      next(id)
    })
  }
}
