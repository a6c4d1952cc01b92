// Lets the console start without a network, and shows push messages. It only reads what pages that are signed in keep
// (`src/kept-files.ts`): it may still run when they are signed out, and must not put anything back then.

const BASE = new URL('./', self.location.href)
const ASSETS = new URL('assets/', BASE).pathname
const CACHE = 'quarterdeck-'

// A new worker takes over at once. It can: what it answers depends only on names that never get another content.
self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

const isAsset = ({ origin, pathname }) => origin === BASE.origin && pathname.startsWith(ASSETS)

// Everything else goes to the server as if this worker did not exist.
self.addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET') return
  if (request.mode === 'navigate') event.respondWith(page(request))
  else if (isAsset(new URL(request.url))) event.respondWith(asset(request))
})

async function asset(request) {
  return (await caches.match(request)) ?? fetch(request)
}

/** The server's page if it answers. The page is the same for every address, so the kept one can stand for all of them. */
async function page(request) {
  try {
    return await fetch(request)
  } catch (error) {
    const builds = (await caches.keys()).filter((name) => name.startsWith(CACHE))
    for (const cacheName of builds.reverse()) {
      // `open` would make a cache again that was removed just now.
      const kept = await caches.match(BASE.href, { cacheName })
      if (kept !== undefined) return atAnyAddress(kept)
    }
    throw error
  }
}

/** The kept page names its files as seen from its own address. */
async function atAnyAddress(kept) {
  const html = (await kept.text()).replaceAll('="./', () => `="${BASE.pathname}`)
  const headers = new Headers(kept.headers)
  // They are about the bytes that came from the server.
  for (const name of ['content-encoding', 'content-length', 'etag']) headers.delete(name)
  return new Response(html, { status: 200, headers })
}

self.addEventListener('push', (event) => {
  const { title, body, tag, url, silent } = messageOf(event.data)
  event.waitUntil(
    self.registration.showNotification(title, {
      body,
      tag,
      silent,
      icon: new URL('icon-192.png', BASE).href,
      badge: new URL('badge-96.png', BASE).href,
      // A message that replaces an earlier one is worth a sound of its own, unless it says that it is not.
      renotify: tag !== '' && !silent,
      data: { path: ownPath(url) },
    }),
  )
})

/** Browsers want that every message shows something, even one that cannot be read. */
function messageOf(data) {
  let sent = {}
  try {
    sent = data?.json() ?? {}
  } catch {}
  const text = (value) => (typeof value === 'string' ? value : '')
  return {
    title: text(sent.title) || 'Something waits for you',
    body: text(sent.body),
    tag: text(sent.tag),
    url: text(sent.url),
    silent: sent.silent === true,
  }
}

/** What follows `/console` in the link. It is opened here, whatever name the server has elsewhere. */
function ownPath(url) {
  const found = /\/console(\/[^?#]*)/.exec(url)
  return found === null ? '/inbox' : found[1]
}

// A notification opens the question, and decides nothing: whoever holds the phone may not be who signed in.
self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(event.notification.data?.path ?? '/inbox'))
})

async function open(path) {
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const tab = windows.find(({ url }) => url.startsWith(BASE.href))
  if (tab === undefined) return self.clients.openWindow(new URL(`.${path}`, BASE).href)
  // The open page goes there itself, so that nothing in it is lost.
  tab.postMessage({ kind: 'open', path })
  return tab.focus()
}
