import { checkTokens, type Token, type TokenRecord } from './token.ts'
import type { TokenRows } from './token-rows.ts'

/**
 * The valid tokens, in memory. What this process changes is stored first. `given` are tokens that are not stored. Throws `config_invalid` if one of them is stored for somebody else.
 */
export async function openTokenTable(given: readonly Token[], rows: TokenRows) {
  let stored = rows
  let records: readonly TokenRecord[] = (await stored.read()) ?? []
  let table: readonly Token[] = checkTokens([...given, ...records])
  let copy = stored.keep(use)

  function use(next: readonly TokenRecord[]): void {
    table = checkTokens([...given, ...next])
    records = next
  }

  async function copyTo(shared: TokenRows): Promise<number> {
    const known = await shared.read()
    if (known !== null) use(known)
    else if (records.length > 0) await shared.add(records)
    return known === null ? records.length : 0
  }

  return {
    /** All of them. Returns a new array only after a change. */
    current: () => table,
    /** Those that are stored, oldest first. */
    records: (): readonly TokenRecord[] => records,
    async add(more: readonly TokenRecord[]): Promise<void> {
      checkTokens([...given, ...records, ...more])
      await stored.add(more)
      // Another process may have added some, or removed one, since then.
      use([...records.filter((one) => more.every(({ id }) => id !== one.id)), ...more])
    },
    /** False: there is no such record, or somebody else was faster. */
    async remove(id: string): Promise<boolean> {
      const isRemoved = await stored.remove(id)
      if (isRemoved) use(records.filter((one) => one.id !== id))
      return isRemoved
    },
    /** Resolves when what was removed before counts in no other process any more. */
    heard: () => stored.heard(),
    refresh: () => copy.refresh(),
    isFresh: () => copy.isFresh(),
    /** From now on the tokens are in a store that other processes use too. Returns how many were copied into it. */
    async moveTo(shared: TokenRows): Promise<number> {
      stored = shared
      const copied = await copyTo(shared)
      copy = shared.keep(use)
      return copied
    },
  }
}
