import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import { Link } from 'wouter'
import { usePlace } from '../../data/place.ts'
import { IconButton } from '../../parts/Button.tsx'
import { Dialog } from '../../parts/Dialog.tsx'
import { NewIcon, SessionsIcon } from '../../parts/icons.ts'
import { Page } from '../../parts/Page.tsx'
import { ChatAction } from './ChatAction.tsx'
import { ChatEntry } from './ChatEntry.tsx'
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
  const { page } = usePlace()
  const [hasList, setList] = useState(false)
  return (
    <Page
      title={<bdi className={styles.title}>{title}</bdi>}
      shape="fill"
      actions={
        <>
          {page === 'console' && (
            <span className={styles.opener}>
              <IconButton label="Chats" icon={<SessionsIcon />} onClick={() => setList(true)} />
            </span>
          )}
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
        <nav className={styles.recent} aria-label="Recent chats">
          <h2 className={styles.recentTitle}>Recent</h2>
          <RecentChats current={current} />
        </nav>
        {hasList && (
          <Dialog title="Recent chats" onClose={() => setList(false)}>
            <nav aria-label="Recent chats">
              <RecentChats current={current} onChosen={() => setList(false)} />
            </nav>
          </Dialog>
        )}
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
function RecentChats({ current, onChosen }: { current: string | null; onChosen?: () => void }) {
  const recent = useRecentChats()
  const { page } = usePlace()
  const sessions = recent.data?.sessions ?? []
  return (
    <>
      {sessions.length === 0 && recent.isSuccess && <p className={styles.none}>Your chats will be here.</p>}
      <ul>
        {sessions.map((session) => (
          <li key={session.session_id}>
            <ChatEntry session={session} isCurrent={session.session_id === current} onChosen={onChosen} />
          </li>
        ))}
      </ul>
      {recent.data?.next != null && (
        <Link href="/sessions" className={styles.all}>
          {page === 'console' ? 'All sessions' : 'All chats'}
        </Link>
      )}
    </>
  )
}
