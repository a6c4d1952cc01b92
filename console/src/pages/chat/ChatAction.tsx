import type { ReactNode } from 'react'
import { Link } from 'wouter'
import styles from './ChatAction.module.css'

/** A way to another page. On a phone only its picture is shown. */
export function ChatAction({ href, icon, children }: { href: string; icon: ReactNode; children: string }) {
  return (
    <Link href={href} className={styles.action} aria-label={children} title={children}>
      {icon}
      <span>{children}</span>
    </Link>
  )
}
