import { ChatAction } from '../pages/chat/ChatAction.tsx'
import { SessionsIcon, SettingsIcon } from '../parts/icons.ts'
import styles from './ChatWays.module.css'

/** From a chat to the other pages. A wide screen has the list of chats beside it; a phone has the settings on the page with that list. */
export function ChatWays() {
  return (
    <>
      <span className={styles.chats}>
        <ChatAction href="/sessions" icon={<SessionsIcon />}>
          Chats
        </ChatAction>
      </span>
      <span className={styles.settings}>
        <ChatAction href="/settings" icon={<SettingsIcon />}>
          Settings
        </ChatAction>
      </span>
    </>
  )
}
