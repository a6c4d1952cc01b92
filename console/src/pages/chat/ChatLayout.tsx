import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import { Link } from 'wouter'
import { NewIcon } from '../../parts/icons.ts'
import { Page } from '../../parts/Page.tsx'
import { Time } from '../../parts/Time.tsx'
import { sessionTitle } from '../../words.ts'
import styles from './ChatLayout.module.css'
import { useRecentChats } from './chat-data.ts'

interface ChatLayoutProps {
  title: string
  current: string | null
  /** Beside the way to a new chat. */
  actions?: ReactNode
  /** Null: nothing can be attached here. */
  onFiles: ((files: File[]) => void) | null
  children: ReactNode
  /** Stays at the bottom: the field, and what has to be answered. */
  bottom: ReactNode
}

/** Recent chats, the conversation, and below it the field. */
export function ChatLayout({ title, current, actions, onFiles, children, bottom }: ChatLayoutProps) {
  return (
    <Page
      title={<bdi className={styles.title}>{title}</bdi>}
      shape="fill"
      actions={
        <>
          {actions}
          {current !== null && (
            <ChatAction href="/chat" icon={<NewIcon />}>
              New chat
            </ChatAction>
          )}
        </>
      }
    >
      <div className={styles.sides}>
        <RecentChats current={current} />
        <DropZone onFiles={onFiles}>
          {children}
          <div className={styles.bottom}>
            <div className={styles.column}>{bottom}</div>
          </div>
        </DropZone>
      </div>
    </Page>
  )
}

/** A way to another page. On a phone only its picture is shown. */
export function ChatAction({ href, icon, children }: { href: string; icon: ReactNode; children: string }) {
  return (
    <Link href={href} className={styles.action} aria-label={children} title={children}>
      {icon}
      <span>{children}</span>
    </Link>
  )
}

/** Takes files that are dropped anywhere on it. */
function DropZone({ onFiles, children }: { onFiles: ((files: File[]) => void) | null; children: ReactNode }) {
  const [isOver, setOver] = useState(false)
  /** A pointer enters a child before it leaves its parent. */
  const depth = useRef(0)
  const hasFiles = (event: DragEvent) => onFiles !== null && event.dataTransfer.types.includes('Files')
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button for files does the same
    <div
      className={styles.zone}
      onDragEnter={(event) => {
        if (!hasFiles(event)) return
        depth.current += 1
        setOver(true)
      }}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDragLeave={(event) => {
        if (!hasFiles(event)) return
        depth.current -= 1
        if (depth.current <= 0) setOver(false)
      }}
      onDrop={(event) => {
        depth.current = 0
        setOver(false)
        if (!hasFiles(event)) return
        event.preventDefault()
        onFiles?.([...event.dataTransfer.files])
      }}
    >
      {children}
      {isOver && <div className={styles.over}>Drop the files to attach them</div>}
    </div>
  )
}

/** One's own conversations, the newest first. All others are on the page of sessions. */
function RecentChats({ current }: { current: string | null }) {
  const recent = useRecentChats()
  const sessions = recent.data?.sessions ?? []
  return (
    <nav className={styles.recent} aria-label="Recent chats">
      <h2 className={styles.recentTitle}>Recent</h2>
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
