import type { AnswerItem } from '../../data/transcript.ts'
import { IconButton } from '../Button.tsx'
import { CopyButton } from '../CopyButton.tsx'
import { RetryIcon } from '../icons.ts'
import { Markdown } from '../markdown/Markdown.tsx'
import styles from './Answer.module.css'

/** What the agent says. */
export function Answer({ item, onAgain }: { item: AnswerItem; onAgain: (() => void) | undefined }) {
  if (item.isDone && item.text === '') return null
  return (
    <section className={styles.answer}>
      <h2 className="unseen">Answer</h2>
      <Markdown text={item.text} isWriting={!item.isDone} />
      {item.isDone && (
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
