import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { startServiceWorker } from './service-worker.ts'
import { Sound } from './sound.ts'

/** What the first page does not need: the service worker, which loads every file once more to keep it, and the sound. */
export default function Later({ build }: { build: string }) {
  const [, go] = useLocation()
  useEffect(() => {
    const left = new AbortController()
    void startServiceWorker({ go, build, signal: left.signal }).catch(() => {})
    return () => left.abort()
  }, [go, build])
  return <Sound />
}
