import { type ReactNode, useState } from 'react'
import { useIsLive } from '../../data/use-live.tsx'
import { Button } from '../../parts/Button.tsx'
import { Time } from '../../parts/Time.tsx'
import styles from './Rows.module.css'
import { Loaded, type LoadedProps } from './Section.tsx'

interface RowsProps<T> extends Pick<LoadedProps<readonly T[]>, 'query'> {
  keyOf: (item: T) => string
  label: string
  /** What stands there if there are none. */
  none: ReactNode
  children: (item: T) => ReactNode
}

const STEP = 100

/** Things of one kind below each other, once they were read. A long list is shown in steps. */
export function Rows<T>({ query, keyOf, label, none, children }: RowsProps<T>) {
  const [most, setMost] = useState(STEP)
  return (
    <Loaded query={query}>
      {(items) =>
        items.length === 0 ? (
          <div className={styles.none}>{none}</div>
        ) : (
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
    </Loaded>
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
      {action !== undefined && action !== false && <div className={styles.action}>{action}</div>}
    </div>
  )
}

/** What one can do with a row. `label`: its name for screen readers, since many rows have the same button. */
export function RowAction({ label, onClick, children }: { label: string; onClick: () => void; children: string }) {
  const isLive = useIsLive()
  return (
    <Button aria-label={label} disabled={!isLive} onClick={onClick}>
      {children}
    </Button>
  )
}

interface WhenProps {
  at: string | null
  /** What it says if there is no time. */
  never?: string
  children: string
}

/** `Used 5m ago`: one of the facts of a row. */
export function When({ at, never, children }: WhenProps) {
  if (at === null) return <span>{never}</span>
  return (
    <span>
      {children} <Time at={at} />
    </span>
  )
}

/** Facts of a row, with dots between them. */
export function Facts({ children }: { children: ReactNode }) {
  return <p className={styles.facts}>{children}</p>
}
