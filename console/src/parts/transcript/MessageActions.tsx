import { type ReactNode, useContext } from 'react'
import type { AnswerItem, UserItem } from '../../data/transcript.ts'
import { messageIdOf } from '../../data/use-branch.ts'
import { IconButton } from '../Button.tsx'
import { CopyButton, copyText } from '../CopyButton.tsx'
import { ClosedIcon, CopyIcon, EditIcon, LinkIcon, MoreIcon, PriorIcon, RetryIcon } from '../icons.ts'
import { Menu } from '../Menu.tsx'
import { ConversationContext } from './conversation.ts'
import itemStyles from './ItemView.module.css'
import styles from './MessageActions.module.css'
import { FeedbackNotes, Thumbs } from './Thumbs.tsx'

/** Below an answer. */
export function AnswerActions({ item, isNewest }: { item: AnswerItem; isNewest: boolean }) {
  const { again, sessionId } = useContext(ConversationContext)
  const messageId = messageIdOf(item.key)
  return (
    <>
      <div className={itemStyles.actions}>
        <CopyButton text={item.text} what="answer" />
        {isNewest && again !== null && (
          <IconButton label="Answer again (keeps this answer)" icon={<RetryIcon />} onClick={again} />
        )}
        {sessionId !== null && (
          <>
            <Thumbs sessionId={sessionId} messageId={messageId} />
            <MessageMenu itemKey={item.key} what="answer" />
          </>
        )}
      </div>
      {sessionId !== null && <FeedbackNotes sessionId={sessionId} messageId={messageId} />}
    </>
  )
}

/** Below what a person wrote. */
export function OwnActions({ item }: { item: UserItem }) {
  const { edit, sessionId } = useContext(ConversationContext)
  return (
    <div className={itemStyles.actions}>
      <Versions itemKey={item.key} what="message" />
      {edit !== null && <IconButton label="Edit message" icon={<EditIcon />} onClick={() => edit(item)} />}
      {sessionId !== null && <MessageMenu itemKey={item.key} what="message" text={item.text} />}
    </div>
  )
}

function MessageMenu({ itemKey, what, text }: { itemKey: string; what: string; text?: string }) {
  function copyLink(): void {
    const address = new URL(location.href)
    address.searchParams.delete('branch')
    address.searchParams.set('message', messageIdOf(itemKey))
    void copyText(address.href, 'link')
  }
  const copyWords = { name: 'Copy text', icon: <CopyIcon />, run: () => void copyText(text ?? '', 'message') }
  return (
    <Menu
      label={`More about this ${what}`}
      icon={<MoreIcon />}
      entries={[...(text === undefined ? [] : [copyWords]), { name: 'Copy link', icon: <LinkIcon />, run: copyLink }]}
    />
  )
}

/** Arrows between the versions of a message or an answer, at the place where they part. */
export function Versions({ itemKey, what }: { itemKey: string; what: 'message' | 'answer' }) {
  const { versions, turnTo } = useContext(ConversationContext)
  const all = versions.get(itemKey)
  if (all === undefined) return null
  const at = all.indexOf(itemKey)
  const arrow = (to: string | undefined, label: string, icon: ReactNode) => (
    <IconButton
      label={to === undefined ? `No ${label}` : label}
      icon={icon}
      disabled={to === undefined}
      onClick={() => to !== undefined && turnTo(to)}
    />
  )
  return (
    <div className={styles.versions} role="group" aria-label={`Versions of this ${what}`}>
      {arrow(all[at - 1], `earlier version of this ${what}`, <PriorIcon />)}
      <span>
        {at + 1} of {all.length}
      </span>
      {arrow(all[at + 1], `later version of this ${what}`, <ClosedIcon />)}
    </div>
  )
}
