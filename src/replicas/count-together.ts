import { isRecord } from '../domain/is-record.ts'
import type { Shared } from '../store/ports/shared.ts'
import type { ReplicaBoard } from './replica-board.ts'

const STREAMS = 'streams'

interface CountTogetherDeps {
  shared: Pick<Shared, 'count'>
  board: Pick<ReplicaBoard, 'say' | 'heard'>
}

/** What limits need to hold for all processes on a store together (`CountTogether` in `http/auth/usage-limits.ts`). */
export function createCountTogether({ shared, board }: CountTogetherDeps) {
  return {
    windows: (kind: string) => ({
      add: (added: readonly { key: string; n: number }[], windowMs: number) => shared.count(kind, added, windowMs),
    }),
    sayStreams: (open: ReadonlyMap<string, number>) => board.say(STREAMS, () => Object.fromEntries(open)),
    streamsElsewhere(owner: string): number {
      let sum = 0
      for (const { said } of board.heard(STREAMS)) {
        const open = isRecord(said) && Object.hasOwn(said, owner) ? said[owner] : 0
        if (typeof open === 'number') sum += open
      }
      return sum
    },
  }
}
