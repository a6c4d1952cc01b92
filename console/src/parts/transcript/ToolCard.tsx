import type { ToolItem } from '../../data/transcript.ts'
import { statusTone, statusWord } from '../../words.ts'
import { Badge } from '../Badge.tsx'
import { CutText } from '../CutText.tsx'
import { ToolIcon } from '../icons.ts'
import { duration } from '../Time.tsx'
import { Fold } from './Fold.tsx'
import { useIsOpen } from './open-rows.ts'
import { argumentLine, prettyJson, withoutSecrets } from './pretty-json.ts'
import { TextPart } from './TextPart.tsx'
import styles from './ToolCard.module.css'

/** A call of a tool. What it got and what it gave are folded, unless it failed. */
export default function ToolCard({ item }: { item: ToolItem }) {
  const [isOpen, setOpen] = useIsOpen(item.key)
  const { name, result, status } = item
  const args = withoutSecrets(item.args)
  const took = tookOf(item)
  return (
    <Fold
      isFramed
      icon={<ToolIcon />}
      title={<code>{name === '' ? 'A tool' : name}</code>}
      line={argumentLine(args)}
      end={
        <>
          {took !== null && <span className={styles.took}>{duration(took)}</span>}
          {status !== 'done' && <Badge tone={statusTone(status)}>{statusWord(status)}</Badge>}
        </>
      }
      isOpen={isOpen}
      onToggle={setOpen}
    >
      <Part title="Arguments" text={args === '' ? null : args} empty="No arguments." />
      <Part
        title={status === 'failed' ? 'Error' : 'Result'}
        text={result}
        empty={status === 'stopped' ? 'The run ended before there was one.' : 'None yet.'}
        isBad={status === 'failed'}
      />
    </Fold>
  )
}

interface PartProps {
  title: string
  text: string | null
  empty: string
  isBad?: boolean
}

function Part({ title, text, empty, isBad = false }: PartProps) {
  const pretty = text === null ? null : prettyJson(text)
  return (
    <TextPart title={title} text={pretty} isBad={isBad}>
      {pretty === null ? empty : <CutText text={pretty} first={4_000} isCode />}
    </TextPart>
  )
}

function tookOf({ durationMs, at, endedAt, result }: ToolItem): number | null {
  if (durationMs !== null) return durationMs
  return result !== null && at !== null && endedAt !== null ? endedAt - at : null
}
