import { Button } from '../Button.tsx'
import styles from './EarlierVersion.module.css'

/** Somebody reads a branch that the conversation has left. */
export function EarlierVersion({ onLeave }: { onLeave: () => void }) {
  return (
    <p className={styles.note} role="status">
      <span>You are reading an earlier version. A new message continues the newest one.</span>
      <Button onClick={onLeave}>Show the newest</Button>
    </p>
  )
}
