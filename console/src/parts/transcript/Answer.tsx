import type { AnswerItem } from '../../data/transcript.ts'
import { IconButton } from '../Button.tsx'
import { CopyButton } from '../CopyButton.tsx'
import { RetryIcon } from '../icons.ts'
import { Markdown } from '../markdown/Markdown.tsx'
import styles from './Answer.module.css'

interface AnswerProps {
  item: AnswerItem
  /** With buttons below. What it says between two calls has none. */
  hasActions: boolean
  onAgain: (() => void) | undefined
}

/** What the agent says. */
export function Answer({ item, hasActions, onAgain }: AnswerProps) {
  if (item.isDone && item.text === '') return null
  return (
    <section className={styles.answer}>
      <h2 className="unseen">Answer</h2>
      <Markdown text={item.text} isWriting={!item.isDone} />
      {item.isBrokenOff && <p className={styles.broken}>Broken off here.</p>}
      {item.isDone && hasActions && (
        <div className={styles.actions}>
          <CopyButton text={item.text} what="answer" />
          {onAgain !== undefined && (
            <IconButton label="Ask again (adds a new turn)" icon={<RetryIcon />} onClick={onAgain} />
          )}
        </div>
      )}
    </section>
  )
}
