import { useContext } from 'react'
import { IconButton } from '../Button.tsx'
import { ClosedIcon, PriorIcon } from '../icons.ts'
import { ConversationContext } from './conversation.ts'
import styles from './Versions.module.css'

/** Arrows between the versions of a message or an answer, at the place where they part. */
export function Versions({ itemKey, what }: { itemKey: string; what: 'message' | 'answer' }) {
  const { versions, turnTo } = useContext(ConversationContext)
  const all = versions.get(itemKey)
  if (all === undefined) return null
  const at = all.indexOf(itemKey)
  const arrow = (to: string | undefined, label: string, icon: React.ReactNode) => (
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
