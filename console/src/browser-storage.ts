// What the browser keeps for the console. It may refuse to (a setting, a private window) or have no space left. Then it is kept as long
// as the page is open: somebody who has to decide must not stand before an empty page.

import { isFramed } from './base.ts'

/** One long text must not take the space that all others need: it is kept as long as the page is open. */
const LONGEST = 1_000_000

/** `find` throws where the browser refuses. */
export function createBrowserStorage(find: () => Storage | null) {
  const inPage = new Map<string, string>()
  function attempt<T>(ask: (storage: Storage) => T, otherwise: T): T {
    try {
      const storage = find()
      return storage === null ? otherwise : ask(storage)
    } catch {
      return otherwise
    }
  }
  function drop(key: string): void {
    inPage.delete(key)
    attempt((storage) => storage.removeItem(key), undefined)
  }
  return {
    getItem: (key: string): string | null => inPage.get(key) ?? attempt((storage) => storage.getItem(key), null),
    setItem(key: string, value: string): void {
      // What was there before must not come back with the next page.
      drop(key)
      const isKept = attempt((storage) => {
        if (value.length > LONGEST) return false
        storage.setItem(key, value)
        return true
      }, false)
      if (!isKept) inPage.set(key, value)
    },
    removeItem: drop,
    keys: (): string[] => [...new Set([...inPage.keys(), ...attempt((storage) => Object.keys(storage), [])])],
  }
}

/** As long as the tab. */
export const tabStorage = createBrowserStorage(() => (isFramed ? null : sessionStorage))
/** For all tabs, until somebody removes it. */
export const siteStorage = createBrowserStorage(() => (isFramed ? null : localStorage))
