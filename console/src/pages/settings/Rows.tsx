import { type ReactNode, useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import styles from './Rows.module.css'

interface RowsProps<T> {
  items: readonly T[]
  keyOf: (item: T) => string
  label: string
  children: (item: T) => ReactNode
}

const STEP = 100

/** Things of one kind below each other. A long list is shown in steps. */
export function Rows<T>({ items, keyOf, label, children }: RowsProps<T>) {
  const [most, setMost] = useState(STEP)
  return (
    <>
      <ul className={styles.rows} aria-label={label}>
        {items.slice(0, most).map((item) => (
          <li key={keyOf(item)}>{children(item)}</li>
        ))}
      </ul>
      {items.length > most && (
        <Button onClick={() => setMost(most + STEP)}>{`Show ${Math.min(STEP, items.length - most)} more`}</Button>
      )}
    </>
  )
}

interface RowProps {
  icon?: ReactNode
  title: ReactNode
  /** After the title: what is special about it. */
  badges?: ReactNode
  /** Below the title, in small print. */
  children?: ReactNode
  action?: ReactNode
}

export function Row({ icon, title, badges, children, action }: RowProps) {
  return (
    <div className={styles.row}>
      {icon !== undefined && <div className={styles.icon}>{icon}</div>}
      <div className={styles.main}>
        <div className={styles.title}>
          <bdi>{title}</bdi>
          {badges}
        </div>
        {children !== undefined && <div className={styles.detail}>{children}</div>}
      </div>
      {action !== undefined && <div className={styles.action}>{action}</div>}
    </div>
  )
}

/** Facts of a row, with dots between them. */
export function Facts({ children }: { children: ReactNode }) {
  return <p className={styles.facts}>{children}</p>
}
