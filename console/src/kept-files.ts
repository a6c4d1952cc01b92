// The files of the console that the browser keeps, so that it starts without a network. Only pages write them, never the service worker:
// a worker goes on after its pages were signed out, and cannot know of it.

import { consolePath, serverUrl } from './base.ts'

const CACHE = 'quarterdeck-'
/** The newest build, and the one before: a page that is still open may need more of its files. */
const BUILDS_KEPT = 2

/** One tab at a time keeps or drops. So nothing that one tab has begun to keep is there after another has dropped everything. */
const alone = (work: () => Promise<void>): Promise<void> => navigator.locks.request('quarterdeck-files', work)

const areFilesKeptHere = (): boolean => 'caches' in window && navigator.locks !== undefined

/** The worker that serves them, on the console's pages only. A tab that signs out removes it, and other tabs see that before they are told. */
export const findServiceWorker = async (): Promise<ServiceWorkerRegistration | undefined> =>
  navigator.serviceWorker?.getRegistration(`${serverUrl}/console/`)

/** `signal`: aborted when this tab signs out. It drops the files then. */
export async function keepFiles(build: string, urls: readonly string[], signal: AbortSignal): Promise<void> {
  if (!areFilesKeptHere()) return
  await alone(async () => {
    if (signal.aborted || (await findServiceWorker()) === undefined) return
    const cache = await caches.open(CACHE + build)
    const page = new URL(`${consolePath}/`, location.href).href
    await Promise.allSettled(
      [page, ...urls].map(async (url) => {
        if ((await cache.match(url)) !== undefined) return
        // Not `cache.add`, which complains in the browser's console when a server that stops answers 503.
        const response = await fetch(url, { cache: 'no-cache', signal })
        if (response.ok) await cache.put(url, response)
      }),
    )
    const others = (await keptBuilds()).filter((name) => name !== CACHE + build)
    await remove(others.slice(0, -(BUILDS_KEPT - 1)))
  })
}

export async function dropFiles(): Promise<void> {
  if (areFilesKeptHere()) await alone(async () => remove(await keptBuilds()))
}

/** Oldest first. */
const keptBuilds = async (): Promise<string[]> => (await caches.keys()).filter((name) => name.startsWith(CACHE))

async function remove(names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => caches.delete(name)))
}
