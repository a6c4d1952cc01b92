import type { Store } from './store.ts'

/** All that a store can be asked. */
export type StoreReads = Omit<Store, 'commit' | 'check' | 'rest' | 'close'>

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
