import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { NewIcon } from '../../parts/icons.ts'
import { Page } from '../../parts/Page.tsx'
import styles from './ChatLayout.module.css'
import { DropZone } from './DropZone.tsx'
import { RecentChats } from './RecentChats.tsx'

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
