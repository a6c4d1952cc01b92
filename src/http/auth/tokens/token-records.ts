import type { TokenRecord } from './token.ts'
import type { TokenFile } from './token-file.ts'

/** Where the records of tokens are kept. What a call has acknowledged is on disk. */
export interface TokenRecords {
  /** All of them, oldest first. Null: there were never any. */
  read(): Promise<readonly TokenRecord[] | null>
  add(records: readonly TokenRecord[]): Promise<void>
  /** False: there is no such record, or somebody else was faster. */
  remove(id: string): Promise<boolean>
  /** Tells the other processes, and resolves when what was removed before counts at none of them. Left out: there are none. */
  heard?(): Promise<void>
  /** Calls `use` with all records after another process has changed them. Left out: nobody needs to know. */
  keep?(use: (records: readonly TokenRecord[]) => void): TokenCopy
}

/** `SharedCopy` in `replicas/shared-copy.ts`, as far as tokens need it. */
export interface TokenCopy {
  refresh(): Promise<void>
  isFresh(): boolean
}

/**
 * For the one process that holds the lock of the data directory. `found` is what the file had at the start: what others write into it
 * later does not count. Null as `file`: nothing is stored.
 */
export function createLocalTokenRecords(file: TokenFile | null, found: readonly TokenRecord[] | null): TokenRecords {
  let records = found
  /** Disk first, so that the same tokens are valid after a restart. */
  function keep(next: readonly TokenRecord[]): void {
    file?.write(next)
    records = next
  }
  return {
    read: async () => records,
    add: async (more) => keep([...(records ?? []), ...more]),
    async remove(id) {
      const left = (records ?? []).filter((one) => one.id !== id)
      if (left.length === (records ?? []).length) return false
      keep(left)
      return true
    },
  }
}
