// The one small database of the console in the browser. It holds the token of somebody who wants to stay signed in, and nothing else.

export const DATABASE = 'quarterdeck'
const STORE = 'kept'
/** Browsers sometimes never answer, for example while they repair a profile. Nobody can sign in before they do. */
const LONGEST_MS = 3_000

/** Rejects if the browser refuses, has no space or does not answer. */
export async function inDatabase<T>(
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest,
): Promise<T | null> {
  const { promise, resolve, reject } = Promise.withResolvers<T | null>()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    reject(new Error('The database of the browser does not answer.'))
  }, LONGEST_MS)
  try {
    const opening = indexedDB.open(DATABASE, 1)
    opening.onupgradeneeded = () => {
      // Whoever only looks leaves nothing behind.
      if (mode === 'readonly') opening.transaction?.abort()
      else opening.result.createObjectStore(STORE)
    }
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      // The caller has gone on without it. What is written now, nobody would remove.
      if (isLate) opening.result.close()
      else use<T>(opening.result, mode, ask).then(resolve, reject)
    }
    return await promise
  } finally {
    clearTimeout(timer)
  }
}

async function use<T>(
  database: IDBDatabase,
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest,
): Promise<T | null> {
  const { promise, resolve, reject } = Promise.withResolvers<T | null>()
  try {
    const transaction = database.transaction(STORE, mode)
    const request = ask(transaction.objectStore(STORE))
    transaction.oncomplete = () => resolve((request.result as T | undefined) ?? null)
    transaction.onabort = () => reject(transaction.error)
    return await promise
  } finally {
    database.close()
  }
}
