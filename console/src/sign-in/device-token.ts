// The token of this browser. It lives as long as the tab, or stays in the browser if the person wants that. Never in a cookie: a browser
// sends the cookies of localhost to every other port too, and an agent may have started what listens there.

import { useSyncExternalStore } from 'react'

const KEY = 'quarterdeck.token'
const DATABASE = 'quarterdeck'
const STORE = 'kept'

type State = { token: string | null; isReady: boolean }

let state: State = { token: sessionStorage.getItem(KEY), isReady: false }
const listeners = new Set<() => void>()
/** Tabs sign out together. */
const channel = new BroadcastChannel('quarterdeck-sign-in')

function set(next: State): void {
  state = next
  for (const listener of listeners) listener()
}

async function begin(): Promise<void> {
  const token =
    state.token ?? (await inDatabase<string>('readonly', (store) => store.get(KEY)).catch(() => null)) ?? null
  set({ token, isReady: true })
}
void begin()

channel.onmessage = () => {
  sessionStorage.removeItem(KEY)
  set({ token: null, isReady: true })
}

/** `keep`: also after the browser was closed. */
export async function rememberToken(token: string, keep: boolean): Promise<void> {
  if (keep) await inDatabase('readwrite', (store) => store.put(token, KEY))
  else sessionStorage.setItem(KEY, token)
  set({ token, isReady: true })
}

/** Leaves nothing behind in the browser, in any tab. */
export async function forgetToken(): Promise<void> {
  sessionStorage.clear()
  await inDatabase('readwrite', (store) => store.delete(KEY)).catch(() => {})
  channel.postMessage('forget')
  set({ token: null, isReady: true })
}

/** Null: this browser is not signed in. */
export const currentToken = (): string | null => state.token

export function useDeviceToken(): State & { forget: () => Promise<void> } {
  const current = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => state,
  )
  return { ...current, forget: forgetToken }
}

function inDatabase<T>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE)
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const database = opening.result
      const transaction = database.transaction(STORE, mode)
      const request = ask(transaction.objectStore(STORE))
      transaction.oncomplete = () => {
        database.close()
        resolve((request.result as T | undefined) ?? null)
      }
      transaction.onerror = () => reject(transaction.error)
    }
  })
}
