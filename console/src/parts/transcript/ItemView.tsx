import { memo, type ReactNode, Suspense, useContext, useState } from 'react'
import type { AnswerItem, ReasoningItem, TranscriptItem } from '../../data/transcript.ts'
import { CutText } from '../CutText.tsx'
import { ThinkIcon } from '../icons.ts'
import { lazyPart, Nothing } from '../lazy-part.tsx'
import { plainWords, WordsContext } from '../markdown/Inline.tsx'
import { Markdown } from '../markdown/Markdown.tsx'
import { Loading } from '../States.tsx'
import { duration } from '../Time.tsx'
import { VisibleText } from '../VisibleText.tsx'
import { ConversationContext } from './conversation.ts'
import { Fold } from './Fold.tsx'
import styles from './ItemView.module.css'
import { useIsOpen } from './open-rows.ts'
import type { Piece } from './pieces.ts'
import { UserMessage } from './UserMessage.tsx'

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
  const { versions } = useContext(ConversationContext)
  const drawn = drawItem(props)
  const hasArrows = item.type !== 'user' && props.piece?.isFirst !== false && versions.has(item.key)
  return (
    <Suspense fallback={<Loading rows={1} height={36} />}>
      {hasArrows && <Versions itemKey={item.key} what="answer" />}
      {item.subagent === null ? drawn : <div className={styles.inside}>{drawn}</div>}
    </Suspense>
  )
})

// Words come first. What can be done with them, and what most conversations have not, comes after.
export const actions = () => import('./MessageActions.tsx')
const AnswerActions = lazyPart(async () => ({ default: (await actions()).AnswerActions }), Nothing)
const OwnActions = lazyPart(async () => ({ default: (await actions()).OwnActions }), Nothing)
const Versions = lazyPart(async () => ({ default: (await actions()).Versions }), Nothing)
const ToolCard = lazyPart(() => import('./ToolCard.tsx'))
const Activity = lazyPart(() => import('./ActivityLine.tsx'))
const Sources = lazyPart(() => import('./Sources.tsx'), Nothing)
const RunEnd = lazyPart(() => import('./RunEnd.tsx'))
const QuestionLine = lazyPart(() => import('./QuestionLine.tsx'))

function drawItem({ item, isDocked, isLastOfTurn, piece = null, isNewest }: ItemProps): ReactNode {
  switch (item.type) {
    case 'user':
      return (
        <UserMessage text={item.text} files={item.files}>
          <Suspense fallback={<div className={styles.actions} />}>
            <OwnActions item={item} />
          </Suspense>
        </UserMessage>
      )
    case 'answer':
      return <Answer item={item} piece={piece} hasActions={isLastOfTurn} isNewest={isNewest} />
    case 'reasoning':
      return <Reasoning item={item} />
    case 'tool':
      return <ToolCard item={item} />
    case 'question':
      if (isDocked) return <Note name="Waiting" text="A person has to decide. The question is below." />
      return <QuestionLine interrupt={item.interrupt} />
    case 'end':
      return <RunEnd item={item} isNewest={isNewest} />
    case 'activity':
      return <Activity item={item} />
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
  const [drawWords, setDrawWords] = useState(() => plainWords)
  if (item.isDone && item.text === '') return null
  return (
    <section className={styles.answer}>
      {piece?.isFirst !== false && <h2 className="unseen">Answer</h2>}
      <WordsContext value={drawWords}>
        <Markdown text={piece?.text ?? item.text} isWriting={!item.isDone && piece?.isLast !== false} />
      </WordsContext>
      {item.cites !== undefined && (
        <Suspense fallback={null}>
          <Sources content={item.cites} hasCards={piece?.isLast !== false} onWords={setDrawWords} />
        </Suspense>
      )}
      {item.tried !== undefined && piece?.isLast !== false && (
        <p className={styles.broken}>
          Tried with <VisibleText text={item.tried} inline isRaw />
        </p>
      )}
      {item.isBrokenOff && piece?.isLast !== false && <p className={styles.broken}>Broken off here.</p>}
      {item.isDone && hasActions && piece?.isLast !== false && (
        <Suspense fallback={<div className={styles.actions} />}>
          <AnswerActions item={item} isNewest={isNewest} />
        </Suspense>
      )}
    </section>
  )
}
