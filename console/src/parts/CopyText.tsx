import { CopyButton } from './CopyButton.tsx'
import styles from './CopyText.module.css'

/** A command, a link or a token that one takes somewhere else, and the button that copies it. `what`: the word for it. */
export function CopyText({ text, what }: { text: string; what: string }) {
  return (
    <div className={styles.line}>
      <code className={styles.text}>{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  )
}
