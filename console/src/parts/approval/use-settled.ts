import { useEffect, useState } from 'react'

const SETTLE_MS = 500

/** False for a moment after `key` changes and after the window gets the focus: a press may have been meant for something else. */
export function useSettled(key: string): boolean {
  const [settled, setSettled] = useState<string | null>(null)
  useEffect(() => {
    let timer = setTimeout(() => setSettled(key), SETTLE_MS)
    function again(): void {
      setSettled(null)
      clearTimeout(timer)
      timer = setTimeout(() => setSettled(key), SETTLE_MS)
    }
    window.addEventListener('focus', again)
    return () => {
      clearTimeout(timer)
      window.removeEventListener('focus', again)
    }
  }, [key])
  return settled === key
}
