import type { SessionRow } from 'quarterdeck/client'
import { Link } from 'wouter'
import { Time } from '../../parts/Time.tsx'
import { sessionTitle } from '../../words.ts'
import styles from './ChatEntry.module.css'

const words: Readonly<Record<string, string>> = { running: 'Working', waiting: 'Waits for an answer', failed: 'Failed' }

interface ChatEntryProps {
  session: SessionRow
  isCurrent?: boolean
  onChosen?: (() => void) | undefined
}

/** One chat in a list of chats. */
export function ChatEntry({ session, isCurrent = false, onChosen }: ChatEntryProps) {
  const { session_id, title, updated_at, status } = session
  return (
    <Link
      href={`/chat/${session_id}`}
      className={styles.entry}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={onChosen}
    >
      <bdi className={styles.name}>{sessionTitle({ title })}</bdi>
      <span className={styles.when} data-failed={status === 'failed' || undefined}>
        {words[status] ?? <Time at={updated_at} />}
        {status === 'failed' && (
          <>
            {' · '}
            <Time at={updated_at} />
          </>
        )}
      </span>
    </Link>
  )
}
