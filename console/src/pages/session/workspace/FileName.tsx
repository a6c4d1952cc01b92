import { VisibleText } from '../../../parts/VisibleText.tsx'
import styles from './FileName.module.css'

/** A path with its file name standing out, and a line below. */
export function FileName({ path, about }: { path: string; about: string }) {
  const cut = path.lastIndexOf('/') + 1
  return (
    <span className={styles.file}>
      <span className={styles.name}>
        <VisibleText text={path.slice(cut)} inline />
      </span>
      <span className={styles.about}>
        {cut > 0 && <VisibleText text={`${path.slice(0, cut)} · `} inline />}
        {about}
      </span>
    </span>
  )
}
