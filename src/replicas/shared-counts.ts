import { isRecord } from '../domain/is-record.ts'
import type { Shared } from '../store/ports/shared.ts'
import type { ReplicaBoard } from './replica-board.ts'

/** What the processes on one store count for limits that hold for all of them. */
export interface SharedCounts {
  /** Adds what was counted here, and gives the sums of all processes. Rejects while the store is away. Null: no other one counts. */
  add: Shared['count'] | null
  /** Tells the others how many streams of each user are open here. */
  sayStreams(open: ReadonlyMap<string, number>): void
  streamsElsewhere(owner: string): number
}

/** Of a process that counts for itself alone. */
export const ownCounts: SharedCounts = { add: null, sayStreams() {}, streamsElsewhere: () => 0 }

const STREAMS = 'streams'

export function createSharedCounts(
  shared: Pick<Shared, 'count'>,
  board: Pick<ReplicaBoard, 'say' | 'heard'>,
): SharedCounts {
  return {
    add: (kind, added, windowMs) => shared.count(kind, added, windowMs),
    sayStreams(open) {
      board.say(STREAMS, () => Object.fromEntries(open))
    },
    streamsElsewhere(owner) {
      let sum = 0
      for (const { said } of board.heard(STREAMS)) {
        const open = isRecord(said) && Object.hasOwn(said, owner) ? said[owner] : 0
        if (typeof open === 'number') sum += open
      }
      return sum
    },
  }
}
