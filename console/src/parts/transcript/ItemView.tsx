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
  isDocked: boolean
  onAgain: (() => void) | undefined
}

/** One item of a conversation. Drawn again only if it is another one. */
export const ItemView = memo(function ItemView({ item, isDocked, onAgain }: ItemProps) {
  if (item.subagent === null) return drawItem(item, isDocked, onAgain)
  return <div className={styles.inside}>{drawItem(item, isDocked, onAgain)}</div>
})

function drawItem(item: TranscriptItem, isDocked: boolean, onAgain: (() => void) | undefined): ReactNode {
  switch (item.type) {
    case 'user':
      return <UserMessage text={item.text} files={item.files} />
    case 'answer':
      return <Answer item={item} onAgain={onAgain} />
    case 'reasoning':
      return <Reasoning item={item} />
    case 'tool':
      return <ToolCard item={item} />
    case 'question':
      return <Question interrupt={item.interrupt} isDocked={isDocked} />
    case 'end':
      return <RunEnd item={item} />
    case 'activity':
      return <ActivityLine item={item} />
    case 'note':
      return <Note name={item.name} text={item.text} />
  }
}
