import { isRecord } from '../domain/is-record.ts'
import type { Shared } from '../store/ports/shared.ts'
import type { ReplicaBoard } from './replica-board.ts'

const STREAMS = 'streams'

/**
 * What limits need to hold for all processes on a store together (`CountTogether` in `http/auth/usage-limits.ts`). The port of the server
 * opens before its store, so until `open` is called each process counts alone.
 */
export function createCountTogether() {
  let parts: { shared: Pick<Shared, 'count'>; board: Pick<ReplicaBoard, 'say' | 'heard'> } | null = null
  let streams: ReadonlyMap<string, number> = new Map()
  return {
    open(opened: NonNullable<typeof parts>): void {
      parts = opened
      opened.board.say(STREAMS, () => Object.fromEntries(streams))
    },
    windows: (kind: string) => ({
      async add(added: readonly { key: string; n: number }[], windowMs: number) {
        if (parts === null) throw new Error('the store is not open yet')
        return await parts.shared.count(kind, added, windowMs)
      },
    }),
    sayStreams(open: ReadonlyMap<string, number>): void {
      streams = open
    },
    streamsElsewhere(owner: string): number {
      let sum = 0
      for (const { said } of parts?.board.heard(STREAMS) ?? []) {
        const open = isRecord(said) && Object.hasOwn(said, owner) ? said[owner] : 0
        if (typeof open === 'number') sum += open
      }
      return sum
    },
  }
}
