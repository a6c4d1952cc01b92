import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import styles from './ListFrame.module.css'

interface ListFrameProps {
  /** Why the next rows did not come. */
  problem: string | null
  onRetry: () => void
  /** The pointer has come, or has left. */
  onPointer?: (isThere: boolean) => void
  children: ReactNode
}

/** A list that fills its place and grows at both ends. */
export function ListFrame({ problem, onRetry, onPointer, children }: ListFrameProps) {
  return (
    <div className={styles.list} onPointerEnter={() => onPointer?.(true)} onPointerLeave={() => onPointer?.(false)}>
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
