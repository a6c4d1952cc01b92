import type { Clock } from '../domain/clock.ts'

/** Ctrl-C under `npm start` arrives twice: from the terminal, and passed on by npm. A person is slower than this. */
const SAME_KEYPRESS_MS = 500

/** Calls `listener` once for interrupts that come from one press of a key. */
export function oncePerKeypress(clock: Clock, listener: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const now = clock.mono()
    const repeated = now - last < SAME_KEYPRESS_MS
    last = now
    if (!repeated) listener()
  }
}
