import type { EventInterrupt } from 'quarterdeck/client'
import { lazy, memo, type ReactNode, Suspense } from 'react'
import type { AnswerItem, EndItem, ReasoningItem, TranscriptItem } from '../../data/transcript.ts'
import { useApproval } from '../approval/use-record.ts'
import { OutcomeBadge } from '../Badge.tsx'
import { IconButton } from '../Button.tsx'
import { CopyButton } from '../CopyButton.tsx'
import { CutText } from '../CutText.tsx'
import { markHidden } from '../hidden-marks.ts'
import { ApprovalIcon, RetryIcon, StopIcon, ThinkIcon, WarningIcon } from '../icons.ts'
import { Markdown } from '../markdown/Markdown.tsx'
import { Loading } from '../States.tsx'
import { duration } from '../Time.tsx'
import { ActivityLine } from './ActivityLine.tsx'
import { Fold } from './Fold.tsx'
import styles from './ItemView.module.css'
import { useIsOpen } from './open-rows.ts'
import { ToolCard } from './ToolCard.tsx'
import { UserMessage } from './UserMessage.tsx'

interface ItemProps {
  item: TranscriptItem
  /** It is a question that is shown somewhere else on the page. */
  isDocked: boolean
  isLastOfTurn: boolean
  onAgain: (() => void) | undefined
}

/** One item of a conversation. Drawn again only if it is another one. */
export const ItemView = memo(function ItemView(props: ItemProps) {
  const drawn = drawItem(props)
  return props.item.subagent === null ? drawn : <div className={styles.inside}>{drawn}</div>
})

function drawItem({ item, isDocked, isLastOfTurn, onAgain }: ItemProps): ReactNode {
  switch (item.type) {
    case 'user':
      return <UserMessage text={item.text} files={item.files} />
    case 'answer':
      return <Answer item={item} hasActions={isLastOfTurn} onAgain={onAgain} />
    case 'reasoning':
      return <Reasoning item={item} />
    case 'tool':
      return <ToolCard item={item} />
    case 'question':
      if (isDocked) return <Note name="Waiting" text="A person has to decide. The question is below." />
      return <Question interrupt={item.interrupt} />
    case 'end':
      return <RunEnd item={item} />
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

/** A run that ended without an answer, and why. */
function RunEnd({ item: { how, message, code } }: { item: EndItem }) {
  return (
    <p className={how === 'failed' ? styles.failed : styles.cancelled}>
      {how === 'failed' ? <WarningIcon aria-hidden="true" /> : <StopIcon aria-hidden="true" />}
      <span>
        <bdi>{message}</bdi> {code !== null && <code>{code}</code>}
      </span>
    </p>
  )
}

interface AnswerProps {
  item: AnswerItem
  /** With buttons below. What it says between two calls has none. */
  hasActions: boolean
  onAgain: (() => void) | undefined
}

/** What the agent says. */
function Answer({ item, hasActions, onAgain }: AnswerProps) {
  if (item.isDone && item.text === '') return null
  return (
    <section className={styles.answer}>
      <h2 className="unseen">Answer</h2>
      <Markdown text={item.text} isWriting={!item.isDone} />
      {item.isBrokenOff && <p className={styles.broken}>Broken off here.</p>}
      {item.isDone && hasActions && (
        <div className={styles.actions}>
          <CopyButton text={item.text} what="answer" />
          {onAgain !== undefined && (
            <IconButton label="Ask again (adds a new turn)" icon={<RetryIcon />} onClick={onAgain} />
          )}
        </div>
      )}
    </section>
  )
}
