import type { Entry } from '../../../domain/entry.ts'
import type { RunEvent } from '../../../domain/event.ts'

/** Turns what one reader gets into bytes: one chunk, and so one write, for what was committed together. */
export interface EventEncoder {
  /** Entries of the session with this ULID. Null where there is nothing for a reader: facts stay with us. */
  entries(batch: readonly Entry[], sessionUlid: string): string | Uint8Array | null
  /** What is made for this reader alone and not stored. It carries no id. */
  events(events: readonly RunEvent[]): string | Uint8Array
}
