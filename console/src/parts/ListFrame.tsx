import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import styles from './ListFrame.module.css'

interface ListFrameProps {
  /** Why the next rows did not come. */
  problem: string | null
  onRetry: () => void
  onPointerLeave?: () => void
  children: ReactNode
}

/** A list that fills its place and grows at both ends. */
export function ListFrame({ problem, onRetry, onPointerLeave, children }: ListFrameProps) {
  return (
    <div className={styles.list} onPointerLeave={onPointerLeave}>
      {children}
      {problem !== null && (
        <p className={styles.problem} role="alert">
          {problem} <Button onClick={onRetry}>Try again</Button>
        </p>
      )}
    </div>
  )
}

/** Stands above the rows, and brings what has come meanwhile. */
export const NewRows = ({ children }: { children: ReactNode }) => <div className={styles.new}>{children}</div>
