import { useSyncExternalStore } from 'react'
import styles from './Announcer.module.css'

const SHOWN_MS = 6_000

let message: { text: string; id: number } | null = null
const listeners = new Set<() => void>()

/** Says something in passing, to eyes and to screen readers: "Copied", "Approved". Nothing that must not be missed. */
export function announce(text: string): void {
  const id = (message?.id ?? 0) + 1
  set({ text, id })
  setTimeout(() => message?.id === id && set(null), SHOWN_MS)
}

function set(next: typeof message): void {
  message = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function Announcer() {
  const shown = useSyncExternalStore(subscribe, () => message)
  return (
    <div className={styles.place} role="status" aria-live="polite">
      {shown !== null && (
        <p key={shown.id} className={styles.message}>
          {shown.text}
        </p>
      )}
    </div>
  )
}
