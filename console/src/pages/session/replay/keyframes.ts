// The conversation as it was at any event. Every so many events the state is kept, so going anywhere applies a few hundred events at most.

import type { LogEvent } from '../../../data/live-types.ts'
import { createTranscriptFold, type FoldState, type Transcript } from '../../../data/transcript.ts'

export interface Replay {
  /** Takes the events that are new. Earlier ones must be the same as before. */
  extend(events: readonly LogEvent[]): void
  /** The conversation after the first `count` events. */
  at(count: number): Transcript
}

/** Between two kept states. */
const EVERY = 500

export function createReplay(): Replay {
  let events: readonly LogEvent[] = []
  /** `states[i]` is the state after `i * EVERY` events. */
  const states: FoldState[] = [createTranscriptFold().save()]
  const last = createTranscriptFold()
  let taken = 0
  /** Where the last question was: playing goes on from there. */
  let shown = { count: 0, fold: createTranscriptFold() }

  return {
    extend(next) {
      events = next
      while (taken < events.length) {
        const upTo = Math.min(events.length, (Math.floor(taken / EVERY) + 1) * EVERY)
        last.add(events.slice(taken, upTo))
        taken = upTo
        if (taken % EVERY !== 0) continue
        states.push(last.save())
      }
    },
    at(wanted) {
      const count = Math.min(events.length, Math.max(0, wanted))
      const key = Math.min(states.length - 1, Math.floor(count / EVERY))
      const isOnTheWay = shown.count <= count && shown.count >= key * EVERY
      if (!isOnTheWay) shown = { count: key * EVERY, fold: createTranscriptFold(states[key]) }
      shown.fold.add(events.slice(shown.count, count))
      shown.count = count
      return shown.fold.current()
    },
  }
}
