import { type ReactNode, useEffect, useRef } from 'react'
import styles from './Page.module.css'

interface PageProps {
  /** The heading, which gets the focus when the page opens. */
  title: ReactNode
  /** Beside the heading: what the page can do. At most one primary button. */
  actions?: ReactNode
  /** Below the heading: filters, tabs. */
  bar?: ReactNode
  children: ReactNode
  /** `fill`: the content scrolls by itself. */
  shape?: 'flow' | 'fill'
}

export function Page({ title, actions, bar, children, shape = 'flow' }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const page = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Something in the page may have taken the focus already, such as an item that the address names.
    if (!page.current?.contains(document.activeElement)) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <div ref={page} className={`${styles.page} ${styles[shape]}`}>
      <header className={styles.head}>
        <h1 ref={heading} tabIndex={-1} className={styles.title}>
          {title}
        </h1>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {bar !== undefined && <div className={styles.bar}>{bar}</div>}
      <div className={styles.content}>{children}</div>
    </div>
  )
}

interface PanelProps {
  title?: ReactNode
  actions?: ReactNode
  children: ReactNode
  /** The content reaches the frame: a table, a list. */
  isFlush?: boolean
}

/** A framed part of a page. */
export function Panel({ title, actions, children, isFlush = false }: PanelProps) {
  return (
    <section className={styles.panel}>
      {title !== undefined && (
        <header className={styles.panelHead}>
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      <div className={isFlush ? styles.panelFlush : styles.panelBody}>{children}</div>
    </section>
  )
}

/** A name and what is known by it, in a `<dl>`. */
export function Fact({ name, title, children }: { name: ReactNode; title?: string; children: ReactNode }) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
