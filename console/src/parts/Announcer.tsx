import { createObserved, useObserved } from '../observed.ts'
import styles from './Announcer.module.css'

const SHOWN_MS = 6_000

const message = createObserved<{ text: string; id: number } | null>(null)

/** Says something in passing, to eyes and to screen readers: "Copied", "Approved". Nothing that must not be missed. */
export function announce(text: string): void {
  const id = (message.current()?.id ?? 0) + 1
  message.set({ text, id })
  setTimeout(() => message.current()?.id === id && message.set(null), SHOWN_MS)
}

export function Announcer() {
  const shown = useObserved(message)
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
