import { memo, type ReactNode } from 'react'
import type { TranscriptItem } from '../../data/transcript.ts'
import { ActivityLine } from './ActivityLine.tsx'
import { Answer } from './Answer.tsx'
import styles from './ItemView.module.css'
import { Note } from './Note.tsx'
import { Question } from './Question.tsx'
import { Reasoning } from './Reasoning.tsx'
import { RunEnd } from './RunEnd.tsx'
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
