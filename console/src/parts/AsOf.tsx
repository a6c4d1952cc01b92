import type { ReactNode } from 'react'
import styles from './AsOf.module.css'
import { preciseTime } from './Time.tsx'

interface AsOfProps {
  /** False: the server does not answer, so what is shown may be old. */
  isLive: boolean
  /** When it was read, in milliseconds. 0: never. */
  at: number
  children: ReactNode
  /** The content scrolls by itself. */
  isFilled?: boolean
}

/** Data that stays on the page while the server is away: greyed, with the time at which it was read. */
export function AsOf({ isLive, at, children, isFilled = false }: AsOfProps) {
  return (
    <div className={`${styles.frame} ${isFilled ? styles.filled : ''}`} data-old={!isLive || undefined}>
      {!isLive && at > 0 && <p className={styles.time}>As of {preciseTime(at)}.</p>}
      <div className={styles.content}>{children}</div>
    </div>
  )
}
