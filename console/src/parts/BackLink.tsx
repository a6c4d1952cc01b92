import { Link } from 'wouter'
import styles from './BackLink.module.css'
import { BackIcon } from './icons.ts'

interface BackLinkProps {
  href: string
  /** Where it leads: `Back to the list`. */
  name: string
  /** On a wide screen the list is beside the item, and there is no way back to show. */
  isNarrow?: boolean
}

/** The way back, in front of the heading of a page. */
export function BackLink({ href, name, isNarrow = false }: BackLinkProps) {
  return (
    <Link href={href} className={styles.back} aria-label={name} title={name} data-narrow={isNarrow || undefined}>
      <BackIcon aria-hidden="true" />
    </Link>
  )
}
