// Small records that all processes on one store share and that belong to no session: tokens, signed-in devices, codes, limits, jobs.
// They are not part of the log's transactions: each call is one of its own. What a call has acknowledged is on disk.

/**
 * Every implementation passes `shared.contract.ts`. Where one process owns the store, records live in files and in memory: `local-shared.ts`.
 *
 * A kind is a word of ours. Keys and values may come from strangers: at most `MOST_KEY_CHARS` and `MOST_VALUE_CHARS`, of any characters.
 */
export interface Shared {
  get(kind: string, key: string): Promise<SharedRecord | null>
  /** All records of a kind that have not expired, in the order of their keys. */
  list(kind: string): Promise<SharedRecord[]>
  /**
   * Writes a record. `version` is the one that the caller read, 0 for a record that must not exist yet, null for any. False, and
   * nothing is written, when it is another one by now. `expiresAt` is epoch ms by the caller's clock; an expired record does not exist.
   */
  put(record: {
    kind: string
    key: string
    value: string
    version: number | null
    expiresAt: number | null
  }): Promise<boolean>
  /** Removes a record and returns it: of several callers exactly one gets it. Null when there is none. */
  take(kind: string, key: string): Promise<SharedRecord | null>
  /**
   * Adds to counters that start again at 0 every `windowMs`. Returns the new counts, in the same order, and when their windows end
   * (epoch ms by the caller's clock). A key comes once in a call.
   */
  count(
    kind: string,
    added: readonly { key: string; n: number }[],
    windowMs: number,
  ): Promise<{ count: number; endsAt: number }[]>
  /**
   * Makes `owner` the holder of a job for `ms`, or lets it stay the holder. False while another owner holds it. Nobody else holds it
   * until the time has run out, or `release`: a clock that is set changes nothing.
   */
  hold(job: string, owner: string, ms: number): Promise<boolean>
  release(job: string, owner: string): Promise<void>
}

export interface SharedRecord {
  key: string
  value: string
  /** Grows with each write. A record that was removed and written anew has a version that no earlier one had. */
  version: number
  /** Epoch ms by the store's clock. */
  expiresAt: number | null
}

export type KeptRecord = Pick<SharedRecord, 'key' | 'value' | 'expiresAt'>

/** Records of one kind on disk. Only the process that owns the store reads or writes them. */
export interface KeptKind {
  /** Called once, at the first use of the kind. Throws if they cannot be read or trusted. */
  read(): readonly KeptRecord[]
  /** All records of the kind, after the one with this key has changed. They are on disk when it returns. */
  write(records: readonly KeptRecord[], key: string): void
}

export const MOST_KEY_CHARS = 300
export const MOST_VALUE_CHARS = 1_000_000
