// The service worker: it starts the console without a network and shows push messages. It is there only while somebody is signed in.

import { consolePath } from '../base.ts'
import { keepFiles } from '../kept-files.ts'
import { currentToken } from '../sign-in/device-token.ts'

const SCRIPT = `${consolePath}/service-worker.js`

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL: (url: string) => string }
}

/** The only address of a script that this page can ever make out of text. */
function createScriptUrl(): string {
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes }
  if (trustedTypes === undefined) return SCRIPT
  const policy = trustedTypes.createPolicy('quarterdeck', {
    createScriptURL(url) {
      if (url !== SCRIPT) throw new TypeError('Only the service worker of the console is a script here.')
      return url
    },
  })
  return policy.createScriptURL(SCRIPT)
}

// A policy can be made only once.
let scriptUrl: string | null = null

/** Null: this browser has none, or the page is not in a safe place, or it is being developed, or somebody has signed out. */
export async function registerServiceWorker(): Promise<ServiceWorkerRegistration | null> {
  if (import.meta.env.DEV || !('serviceWorker' in navigator)) return null
  scriptUrl ??= createScriptUrl()
  const options = { scope: consolePath, updateViaCache: 'none' } as const
  const registration = await navigator.serviceWorker.register(scriptUrl, options)
  // Signing out removed what was there then, and this came later.
  if (currentToken() === null) {
    await registration.unregister()
    return null
  }
  return navigator.serviceWorker.ready
}

interface ServiceWorkerOptions {
  go: (path: string) => void
  /** Address of the script that the page was started with. Another build has another. */
  build: string
  signal: AbortSignal
}

/** Registers it, keeps for it what this page has loaded, and goes where a notification leads. */
export async function startServiceWorker({ go, build, signal }: ServiceWorkerOptions): Promise<void> {
  if (!('serviceWorker' in navigator) || signal.aborted) return
  const onMessage = ({ data }: MessageEvent<{ kind?: unknown; path?: unknown }>) => {
    if (data.kind === 'open' && typeof data.path === 'string') go(data.path)
  }
  navigator.serviceWorker.addEventListener('message', onMessage, { signal })
  // Without it the console works too, but not without a network. The browser says why in its own console.
  const registration = await registerServiceWorker().catch(() => null)
  if (registration !== null) keepLoadedFiles(build, signal)
}

/** What this page has loaded already, and what it loads later. */
function keepLoadedFiles(page: string, signal: AbortSignal): void {
  if (signal.aborted) return
  const assets = new URL(`${consolePath}/assets/`, location.href).href
  const build = page.slice(page.lastIndexOf('/') + 1)
  const observer = new PerformanceObserver((list) => {
    const urls = list
      .getEntries()
      .map(({ name }) => name)
      .filter((name) => name.startsWith(assets))
    // Without space for them the console works too, but not without a network.
    if (urls.length > 0) void keepFiles(build, urls, signal).catch(() => {})
  })
  observer.observe({ type: 'resource', buffered: true })
  signal.addEventListener('abort', () => observer.disconnect())
}
