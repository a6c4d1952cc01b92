import { useEffect } from 'react'
import { useWaiting } from '../data/waiting.ts'
import { markHidden } from '../parts/hidden-marks.ts'

/** The title of the tab: what waits, then the page. The badge of an installed console says the same. */
export function useTitle(page: string): void {
  const waiting = useWaiting()
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${markHidden(page)} · Quarterdeck`
    if (waiting > 0) void navigator.setAppBadge?.(waiting).catch(() => {})
    else void navigator.clearAppBadge?.().catch(() => {})
  }, [waiting, page])
}
