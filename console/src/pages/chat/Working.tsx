import styles from './Working.module.css'

/** The agent is at work and has nothing to show yet. */
export function Working({ text }: { text: string }) {
  return (
    <p className={styles.working}>
      <span className={styles.dots} aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {text}
    </p>
  )
}
