import type { Store } from './store.ts'

/** Everything that can be read from a store. */
export type StoreReads = Omit<Store, 'commit' | 'check' | 'figures' | 'rest' | 'close'>

/** A store that another process writes to. */
export interface ReadOnlyStore {
  /**
   * All reads of one call see the store at the same moment. One call at a time. Keep it short, because the database's log only
   * grows until it ends.
   */
  read<T>(work: (reads: StoreReads) => Promise<T>): Promise<T>
  close(): void
}

/** The same reads, each called through `call`, which may translate errors, count or delay. */
export function wrapReads(reads: object, call: (read: () => unknown) => Promise<unknown>): StoreReads {
  const wrap = (port: object): object =>
    Object.fromEntries(
      Object.entries(port).map(([name, member]) => [
        name,
        typeof member === 'function' ? (...args: unknown[]) => call(() => member(...args)) : wrap(member),
      ]),
    )
  return wrap(reads) as StoreReads
}
