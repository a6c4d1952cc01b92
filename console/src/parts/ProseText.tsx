import { markHidden } from './hidden-marks.ts'
import { VisibleText } from './VisibleText.tsx'

/** Text as it was said, in which hidden characters stand out. */
export function ProseText({ text }: { text: string }) {
  const marked = markHidden(text)
  return marked === text ? text : <VisibleText text={marked} inline />
}
