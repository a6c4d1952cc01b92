import type { EventInterrupt } from 'quarterdeck/client'
import { lazy, memo, type ReactNode, Suspense, useContext } from 'react'
import type { AnswerItem, ReasoningItem, TranscriptItem, UserItem } from '../../data/transcript.ts'
import { messageIdOf } from '../../data/use-branch.ts'
import { useApproval } from '../approval/use-record.ts'
import { OutcomeBadge } from '../Badge.tsx'
import { IconButton } from '../Button.tsx'
import { CopyButton, copyText } from '../CopyButton.tsx'
import { CutText } from '../CutText.tsx'
import { markHidden } from '../hidden-marks.ts'
import { ApprovalIcon, CopyIcon, EditIcon, LinkIcon, MoreIcon, RetryIcon, ThinkIcon } from '../icons.ts'
import { Menu } from '../Menu.tsx'
import { Markdown } from '../markdown/Markdown.tsx'
import { Loading } from '../States.tsx'
import { duration } from '../Time.tsx'
import { ActivityLine } from './ActivityLine.tsx'
import { ConversationContext } from './conversation.ts'
import { Fold } from './Fold.tsx'
import styles from './ItemView.module.css'
import { useIsOpen } from './open-rows.ts'
import type { Piece } from './pieces.ts'
import { RunEnd } from './RunEnd.tsx'
import { ToolCard } from './ToolCard.tsx'
import { UserMessage } from './UserMessage.tsx'
import { Versions } from './Versions.tsx'

interface ItemProps {
  item: TranscriptItem
  /** It is a question that is shown somewhere else on the page. */
  isDocked: boolean
  isLastOfTurn: boolean
  /** What of a long answer is shown here. */
  piece?: Piece | null
  /** The newest answer, or how the newest run ended without one. */
  isNewest: boolean
}

/** One item of a conversation. Drawn again only if it is another one. */
export const ItemView = memo(function ItemView(props: ItemProps) {
  const { item } = props
  const drawn = drawItem(props)
  return (
    <>
      {item.type !== 'user' && props.piece?.isFirst !== false && <Versions itemKey={item.key} what="answer" />}
      {item.subagent === null ? drawn : <div className={styles.inside}>{drawn}</div>}
    </>
  )
})

function drawItem({ item, isDocked, isLastOfTurn, piece = null, isNewest }: ItemProps): ReactNode {
  switch (item.type) {
    case 'user':
      return <OwnMessage item={item} />
    case 'answer':
      return <Answer item={item} piece={piece} hasActions={isLastOfTurn} isNewest={isNewest} />
    case 'reasoning':
      return <Reasoning item={item} />
    case 'tool':
      return <ToolCard item={item} />
    case 'question':
      if (isDocked) return <Note name="Waiting" text="A person has to decide. The question is below." />
      return <Question interrupt={item.interrupt} />
    case 'end':
      return <RunEnd item={item} isNewest={isNewest} />
    case 'activity':
      return <ActivityLine item={item} />
    case 'note':
      return <Note name={item.name} text={item.text} />
  }
}

/** A line about something that is neither said nor called. */
function Note({ name, text }: { name: string; text: string }) {
  return (
    <div className={styles.note}>
      <strong>{name}</strong>
      <CutText text={text} first={400} />
    </div>
  )
}

// Most conversations have none, and the card brings the view of diffs with it.
const ApprovalCard = lazy(() => import('../approval/ApprovalCard.tsx'))

/** Here the run stopped and asked a person: one line with what became of it, which opens. */
export function Question({ interrupt }: { interrupt: EventInterrupt }) {
  const [isOpen, setOpen] = useIsOpen(`question:${interrupt.id}`)
  const view = useApproval(interrupt.id, { isWhole: false }).data?.view
  return (
    <Fold
      isFramed
      icon={<ApprovalIcon aria-hidden="true" />}
      title={view?.label ?? 'A person is asked'}
      line={view === undefined ? '' : markHidden(`${view.title} ${view.gist}`)}
      end={view !== undefined && <OutcomeBadge outcome={view.outcome} isNamed />}
      isOpen={isOpen}
      onToggle={setOpen}
    >
      <Suspense fallback={<Loading rows={1} height={120} />}>
        <ApprovalCard id={interrupt.id} docked hasKeys={false} />
      </Suspense>
    </Fold>
  )
}

/** What the model thought before it answered. Folded, with how long it took. */
function Reasoning({ item }: { item: ReasoningItem }) {
  const [isOpen, setOpen] = useIsOpen(item.key)
  const took = item.at !== null && item.endedAt !== null ? ` for ${duration(item.endedAt - item.at)}` : ''
  return (
    <Fold icon={<ThinkIcon />} title={item.isDone ? `Thought${took}` : 'Thinking…'} isOpen={isOpen} onToggle={setOpen}>
      <CutText text={item.text} />
    </Fold>
  )
}

interface AnswerProps {
  item: AnswerItem
  piece: Piece | null
  /** With buttons below. What it says between two calls has none. */
  hasActions: boolean
  isNewest: boolean
}

/** What the agent says. */
function Answer({ item, piece, hasActions, isNewest }: AnswerProps) {
  const { again, hasLinks } = useContext(ConversationContext)
  if (item.isDone && item.text === '') return null
  return (
    <section className={styles.answer}>
      {piece?.isFirst !== false && <h2 className="unseen">Answer</h2>}
      <Markdown text={piece?.text ?? item.text} isWriting={!item.isDone && piece?.isLast !== false} />
      {item.isBrokenOff && piece?.isLast !== false && <p className={styles.broken}>Broken off here.</p>}
      {item.isDone && hasActions && piece?.isLast !== false && (
        <div className={styles.actions}>
          <CopyButton text={item.text} what="answer" />
          {isNewest && again !== null && (
            <IconButton label="Answer again (keeps this answer)" icon={<RetryIcon />} onClick={again} />
          )}
          {hasLinks && <MessageMenu itemKey={item.key} what="answer" />}
        </div>
      )}
    </section>
  )
}

/** What a person wrote, and what they can do with it. */
function OwnMessage({ item }: { item: UserItem }) {
  const { edit, hasLinks } = useContext(ConversationContext)
  return (
    <UserMessage text={item.text} files={item.files}>
      <div className={styles.actions}>
        <Versions itemKey={item.key} what="message" />
        {edit !== null && <IconButton label="Edit message" icon={<EditIcon />} onClick={() => edit(item)} />}
        {hasLinks && <MessageMenu itemKey={item.key} what="message" text={item.text} />}
      </div>
    </UserMessage>
  )
}

function MessageMenu({ itemKey, what, text }: { itemKey: string; what: string; text?: string }) {
  function copyLink(): void {
    const address = new URL(location.href)
    address.searchParams.delete('branch')
    address.searchParams.set('message', messageIdOf(itemKey))
    void copyText(address.href, 'link')
  }
  return (
    <Menu
      label={`More about this ${what}`}
      icon={<MoreIcon />}
      entries={[
        ...(text === undefined
          ? []
          : [{ name: 'Copy text', icon: <CopyIcon />, run: () => void copyText(text, 'message') }]),
        { name: 'Copy link', icon: <LinkIcon />, run: copyLink },
      ]}
    />
  )
}
