import { checkTokens, type Token, type TokenRecord } from './token.ts'
import type { TokenCopy, TokenRecords } from './token-records.ts'

/** The valid tokens, in memory. What this process changes is stored first. */
export interface TokenTable {
  /** All of them. Returns a new array only after a change. */
  current(): readonly Token[]
  /** Those that are stored, oldest first. */
  records(): readonly TokenRecord[]
  add(more: readonly TokenRecord[]): Promise<void>
  /** False: there is no such record, or somebody else was faster. */
  remove(id: string): Promise<boolean>
  /** Resolves when what was removed before counts in no other process any more. */
  heard(): Promise<void>
  /** Looks for what other processes have changed. */
  refresh(): Promise<void>
  /** False: another process may have removed a token of which this one has not heard. `refresh` before it counts. */
  isFresh(): boolean
  /** From now on the tokens are in a store that other processes use too. Returns how many were copied into it. */
  moveTo(shared: TokenRecords): Promise<number>
  readonly isShared: boolean
}

/** `given` are tokens that are not stored, and `found` those that `stored` has now. */
export function createTokenTable(
  given: readonly Token[],
  stored: TokenRecords,
  found: readonly TokenRecord[],
): TokenTable {
  let isShared = false
  let records = found
  let table: readonly Token[] = checkTokens([...given, ...records])
  let copy: TokenCopy | null = null

  function use(next: readonly TokenRecord[]): void {
    table = checkTokens([...given, ...next])
    records = next
  }

  async function copyTo(shared: TokenRecords): Promise<number> {
    const known = await shared.read()
    if (known !== null) use(known)
    else if (records.length > 0) await shared.add(records)
    return known === null ? records.length : 0
  }

  return {
    current: () => table,
    records: () => records,
    async add(more) {
      checkTokens([...given, ...records, ...more])
      await stored.add(more)
      // Another process may have added some, or removed one, since then.
      use([...records.filter((one) => more.every(({ id }) => id !== one.id)), ...more])
    },
    async remove(id) {
      const isRemoved = await stored.remove(id)
      if (isRemoved) use(records.filter((one) => one.id !== id))
      return isRemoved
    },
    heard: async () => stored.heard?.(),
    refresh: async () => copy?.refresh(),
    isFresh: () => copy?.isFresh() ?? true,
    async moveTo(shared) {
      stored = shared
      isShared = true
      const copied = await copyTo(shared)
      copy = shared.keep?.(use) ?? null
      return copied
    },
    get isShared() {
      return isShared
    },
  }
}
