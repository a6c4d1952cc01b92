import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import styles from './Tabs.module.css'

export interface Tab {
  /** Stands in the address. */
  id: string
  name: string
  href: string
  count?: number
}

/** Parts of a page, each with an address of its own. */
export function Tabs({ label, tabs, current }: { label: string; tabs: readonly Tab[]; current: string }) {
  const nav = useRef<HTMLElement>(null)
  // On a phone the tabs scroll sideways in their bar.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is current
  useEffect(() => {
    const tab = nav.current?.querySelector<HTMLElement>('[aria-current]')
    if (nav.current !== null && tab) nav.current.scrollLeft = tab.offsetLeft - nav.current.clientWidth / 3
  }, [current])
  return (
    <nav ref={nav} aria-label={label} className={styles.tabs}>
      {tabs.map(({ id, name, href, count }) => (
        <Link key={id} href={href} replace className={styles.tab} aria-current={id === current ? 'page' : undefined}>
          {name}
          {count !== undefined && count > 0 && <span className={styles.count}>{count}</span>}
        </Link>
      ))}
    </nav>
  )
}
