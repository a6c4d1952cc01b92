import { siteStorage, tabStorage } from '../browser-storage.ts'
import { dropFiles, findServiceWorker } from '../kept-files.ts'
import { DATABASE } from './database.ts'

/** How somebody likes to see and use the console. It says nothing about what was in it. */
const STAYS = new Set(['quarterdeck.theme', 'quarterdeck.keys-off'])

/**
 * Removes from this browser everything that the console has kept: what is in the storages, and the service worker with its files and its
 * push messages.
 */
export async function leaveNothing(): Promise<void> {
  // Pages that go write their drafts once more. They are gone after this.
  await new Promise((resolve) => setTimeout(resolve))
  for (const key of tabStorage.keys()) tabStorage.removeItem(key)
  for (const key of siteStorage.keys()) if (!STAYS.has(key)) siteStorage.removeItem(key)
  const worker = await findServiceWorker()
  // Each for itself: without a network, or when another tab was faster, some of them fail or take long.
  await Promise.allSettled([deleteDatabase(), unsubscribe(worker), closeNotifications(worker), removeFiles(worker)])
  await navigator.clearAppBadge?.().catch(() => {})
}

function deleteDatabase(): Promise<void> {
  return new Promise((resolve) => {
    const deleting = indexedDB.deleteDatabase(DATABASE)
    // It is deleted as soon as another tab has read it to the end.
    deleting.onsuccess = deleting.onerror = deleting.onblocked = () => resolve()
  })
}

type Worker = ServiceWorkerRegistration | undefined

async function unsubscribe(worker: Worker): Promise<void> {
  await (await worker?.pushManager?.getSubscription())?.unsubscribe()
}

async function closeNotifications(worker: Worker): Promise<void> {
  const shown = (await worker?.getNotifications?.()) ?? []
  for (const notification of shown) notification.close()
}

/** Without a worker no tab keeps more files, so those that are dropped are the last. */
async function removeFiles(worker: Worker): Promise<void> {
  await worker?.unregister()
  await dropFiles()
}
