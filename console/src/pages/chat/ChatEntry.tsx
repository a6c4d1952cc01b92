import type { SessionRow } from 'quarterdeck/client'
import { Link } from 'wouter'
import { Time } from '../../parts/Time.tsx'
import { sessionTitle } from '../../words.ts'
import styles from './ChatEntry.module.css'

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
      <span className={styles.when}>
        {status === 'running' ? 'Working' : status === 'waiting' ? 'Waits for an answer' : <Time at={updated_at} />}
      </span>
    </Link>
  )
}
