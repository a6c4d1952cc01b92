import { Link } from 'wouter'
import { Dialog } from '../parts/Dialog.tsx'
import Account from './Account.tsx'
import styles from './Palette.module.css'
import { pages } from './pages.ts'

/** The pages that have no tab on a phone. */
export default function More({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="More" onClose={onClose}>
      <ul className={styles.list}>
        {pages
          .filter(({ isMain }) => !isMain)
          .map(({ name, path, icon: Icon }) => (
            <li key={path}>
              <Link href={path} className={styles.entry} onClick={onClose}>
                <Icon />
                {name}
              </Link>
            </li>
          ))}
      </ul>
      <Account />
    </Dialog>
  )
}
