import type { Store } from './store.ts'

/** All that a store can be asked. */
export type StoreReads = Omit<Store, 'commit' | 'check' | 'rest' | 'close'>

/** For a process beside the one that writes. */
export interface ReadOnlyStore {
  /**
   * All reads of one call see the same moment. One call at a time. Keep it short: until it ends, the database's log on disk only grows.
   */
  read<T>(work: (reads: StoreReads) => Promise<T>): Promise<T>
  close(): void
}

/** The same reads, each made through `call`: to translate its errors, to count it, to delay it. */
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
