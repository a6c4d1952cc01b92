import { useEffect, useSyncExternalStore } from 'react'
import type { Taken } from './live-types.ts'
import { usePlace } from './place.ts'
import { useClient } from './server.tsx'
import { useIsLive, useLive } from './use-live.tsx'

/** Which other operator looks at one of these items. */
export function useTakenBy(ids: readonly string[]): Taken['taken_by'] | null {
  const live = useLive()
  const taken = useSyncExternalStore(live.onTaken, live.taken)
  return taken.find(({ id }) => ids.includes(id))?.taken_by ?? null
}

/** Whoever goes through the list does not look yet. */
const LOOKS_MS = 500
/** The server forgets it after a minute. */
const RENEW_MS = 25_000

/** Tells other operators that this one looks at an item, while it is in sight. Null: at none. */
export function useLook(id: string | null): void {
  const client = useClient()
  const isLive = useIsLive()
  const isOperator = usePlace().page === 'console'
  useEffect(() => {
    if (id === null || !isLive || !isOperator) return
    const item = id
    let isTaken = false
    let timer: ReturnType<typeof setTimeout>
    function say(isLooking: boolean): void {
      clearTimeout(timer)
      // Nothing depends on it, and it is said again soon.
      if (isLooking || isTaken) (isLooking ? client.take(item) : client.leave(item)).catch(() => {})
      isTaken = isLooking
      if (isLooking) timer = setTimeout(say, RENEW_MS, true)
    }
    const onVisible = () => say(document.visibilityState === 'visible')
    timer = setTimeout(onVisible, LOOKS_MS)
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      document.removeEventListener('visibilitychange', onVisible)
      say(false)
    }
  }, [client, id, isLive, isOperator])
}
