import { CutText } from '../CutText.tsx'
import styles from './Note.module.css'

/** A line about something that is neither said nor called. */
export function Note({ name, text }: { name: string; text: string }) {
  return (
    <div className={styles.note}>
      <strong>{name}</strong>
      <CutText text={text} first={400} />
    </div>
  )
}
