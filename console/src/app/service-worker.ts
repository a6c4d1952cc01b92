// The service worker: it starts the console without a network and shows push messages. It is there only while somebody is signed in.

import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { consolePath } from '../base.ts'

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

/** Null: this browser has none, or the page is not in a safe place, or it is being developed. */
export async function registerServiceWorker(): Promise<ServiceWorkerRegistration | null> {
  if (import.meta.env.DEV || !('serviceWorker' in navigator)) return null
  scriptUrl ??= createScriptUrl()
  await navigator.serviceWorker.register(scriptUrl, { scope: consolePath, updateViaCache: 'none' })
  return navigator.serviceWorker.ready
}

/** Registers it, tells it what this page has loaded, and goes where a notification leads. */
export function useServiceWorker(): void {
  const [, go] = useLocation()
  useEffect(() => {
    if (!('serviceWorker' in navigator)) return
    const left = new AbortController()
    const onMessage = ({ data }: MessageEvent<{ kind?: unknown; path?: unknown }>) => {
      if (data.kind === 'open' && typeof data.path === 'string') go(data.path)
    }
    navigator.serviceWorker.addEventListener('message', onMessage, { signal: left.signal })
    void registerServiceWorker()
      .then((registration) => registration !== null && keepLoadedFiles(registration, left.signal))
      // Without it the console works too, but not without a network. The browser says why in its own console.
      .catch(() => {})
    return () => left.abort()
  }, [go])
}

/** What this page has loaded already, and what it loads later. */
function keepLoadedFiles(registration: ServiceWorkerRegistration, signal: AbortSignal): void {
  if (signal.aborted) return
  const assets = new URL(`${consolePath}/assets/`, location.href).href
  const build = import.meta.url.slice(import.meta.url.lastIndexOf('/') + 1)
  const observer = new PerformanceObserver((list) => {
    const urls = list
      .getEntries()
      .map(({ name }) => name)
      .filter((name) => name.startsWith(assets))
    if (urls.length > 0) registration.active?.postMessage({ kind: 'keep', build, urls })
  })
  observer.observe({ type: 'resource', buffered: true })
  signal.addEventListener('abort', () => observer.disconnect())
}
