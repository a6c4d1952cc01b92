import { type ReactNode, useEffect, useRef } from 'react'
import { useIsLive } from '../../data/use-live.tsx'
import { AsOf } from '../../parts/AsOf.tsx'
import { Notice } from '../../parts/approval/Notice.tsx'
import { Pending } from '../../parts/States.tsx'
import styles from './Section.module.css'

interface SectionProps {
  title: string
  /** What this is about, in a sentence or two. */
  about?: ReactNode
  /** Why it is not possible here. */
  whyNot?: string | null
  /** The one thing that one mostly does here. */
  action?: ReactNode
  children?: ReactNode
}

/** One part of the settings. Its heading gets the focus when it opens, if it is the first one on the page. */
export function Section({ title, about, whyNot = null, action, children }: SectionProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (!(document.activeElement instanceof HTMLHeadingElement)) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <section className={styles.section} aria-label={title}>
      <header className={styles.head}>
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {action}
      </header>
      {about !== undefined && <p className={styles.about}>{about}</p>}
      {whyNot !== null && (
        <Notice tone="warn">
          <p>{whyNot}</p>
        </Notice>
      )}
      {children}
    </section>
  )
}

export interface LoadedProps<T> {
  query: { data: T | undefined; error: unknown; refetch: () => unknown; dataUpdatedAt: number }
  children: (data: T) => ReactNode
}

/** What was read, or that it is on its way or failed. The last data stays while the server is away. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  const isLive = useIsLive()
  const { data, dataUpdatedAt } = query
  if (data === undefined) return <Pending query={query} rows={3} />
  return (
    <AsOf isLive={isLive} at={dataUpdatedAt}>
      {children(data)}
    </AsOf>
  )
}
