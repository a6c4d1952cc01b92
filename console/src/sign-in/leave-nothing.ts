import { consolePath } from '../base.ts'
import { siteStorage, tabStorage } from '../browser-storage.ts'
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
  await Promise.allSettled([deleteDatabase(), removeServiceWorker()])
  await navigator.clearAppBadge?.().catch(() => {})
}

function deleteDatabase(): Promise<void> {
  return new Promise((resolve) => {
    const deleting = indexedDB.deleteDatabase(DATABASE)
    // It is deleted as soon as another tab has read it to the end.
    deleting.onsuccess = deleting.onerror = deleting.onblocked = () => resolve()
  })
}

async function removeServiceWorker(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration(`${consolePath}/`)
  const shown = (await registration?.getNotifications?.()) ?? []
  for (const notification of shown) notification.close()
  await (await registration?.pushManager?.getSubscription())?.unsubscribe()
  await registration?.unregister()
  // Only pages in a safe place have caches.
  if (!('caches' in window)) return
  const names = await caches.keys()
  await Promise.all(names.filter((name) => name.startsWith('quarterdeck')).map((name) => caches.delete(name)))
}
