import { Link } from 'wouter'
import { Time } from '../../parts/Time.tsx'
import { sessionTitle } from '../../words.ts'
import { useRecentChats } from './chat-data.ts'
import styles from './RecentChats.module.css'

/** One's own conversations, the newest first. All others are on the page of sessions. */
export function RecentChats({ current }: { current: string | null }) {
  const recent = useRecentChats()
  const sessions = recent.data?.sessions ?? []
  return (
    <nav className={styles.recent} aria-label="Recent chats">
      <h2 className={styles.title}>Recent</h2>
      {sessions.length === 0 && recent.isSuccess && <p className={styles.none}>Your chats will be here.</p>}
      <ul>
        {sessions.map(({ session_id, title, updated_at, status }) => (
          <li key={session_id}>
            <Link
              href={`/chat/${session_id}`}
              className={styles.entry}
              aria-current={session_id === current ? 'page' : undefined}
            >
              <bdi className={styles.name}>{sessionTitle({ title })}</bdi>
              <span className={styles.when}>
                {status === 'running' ? 'Working' : status === 'waiting' ? 'Waits for you' : <Time at={updated_at} />}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {recent.data?.next != null && (
        <Link href="/sessions" className={styles.all}>
          All sessions
        </Link>
      )}
    </nav>
  )
}
