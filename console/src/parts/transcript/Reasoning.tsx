import type { ReasoningItem } from '../../data/transcript.ts'
import { CutText } from '../CutText.tsx'
import { ThinkIcon } from '../icons.ts'
import { duration } from '../Time.tsx'
import { Fold } from './Fold.tsx'
import { useIsOpen } from './open-rows.ts'

/** What the model thought before it answered. Folded, with how long it took. */
export function Reasoning({ item }: { item: ReasoningItem }) {
  const [isOpen, setOpen] = useIsOpen(item.key)
  const took = item.at !== null && item.endedAt !== null ? ` for ${duration(item.endedAt - item.at)}` : ''
  return (
    <Fold icon={<ThinkIcon />} title={item.isDone ? `Thought${took}` : 'Thinking…'} isOpen={isOpen} onToggle={setOpen}>
      <CutText text={item.text} />
    </Fold>
  )
}
