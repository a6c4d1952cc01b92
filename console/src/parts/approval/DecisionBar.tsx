import type { ReactNode } from 'react'
import styles from './DecisionBar.module.css'

/** The buttons of a card, below everything and always in sight. `note`: why one of them does nothing yet. */
export function DecisionBar({ note, children }: { note: string | null; children: ReactNode }) {
  return (
    <footer className={styles.bar}>
      <p className={styles.note} role="status">
        {note}
      </p>
      <div className={styles.buttons}>{children}</div>
    </footer>
  )
}

/** In place of the buttons, once there is nothing more to decide. */
export function OutcomeBar({ children }: { children: ReactNode }) {
  return <footer className={styles.outcome}>{children}</footer>
}
