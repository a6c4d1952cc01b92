import type { ActivityItem } from '../../data/transcript.ts'
import { counted } from '../../words.ts'
import { CutText } from '../CutText.tsx'
import { ThinkIcon } from '../icons.ts'
import { VisibleText } from '../VisibleText.tsx'
import { Fold } from './Fold.tsx'
import { useIsOpen } from './open-rows.ts'
import styles from './SummaryFold.module.css'

const lists = [
  ['instructions', 'Standing instructions'],
  ['facts', 'Facts'],
  ['decisions', 'Decisions'],
  ['tasks', 'Open tasks'],
] as const

/** What stands for older messages in the requests from here on. The messages themselves stay where they are. */
export default function SummaryFold({ item }: { item: ActivityItem }) {
  const { content } = item
  const [isOpen, setOpen] = useIsOpen(item.key)
  const kept = lists.flatMap(([name, title]) => {
    const lines = linesIn(content[name])
    return lines.length === 0 ? [] : [{ title, lines }]
  })
  return (
    <Fold
      icon={<ThinkIcon />}
      title="From here on the agent reads notes"
      line={`of ${counted(Number(content.messages), 'older message')}`}
      isOpen={isOpen}
      onToggle={setOpen}
    >
      <div className={styles.notes}>
        {kept.map(({ title, lines }) => (
          <section key={title}>
            <h4>{title}</h4>
            <ul>
              {lines.map((line) => (
                <li key={line}>
                  <VisibleText text={line} inline isRaw />
                </li>
              ))}
            </ul>
          </section>
        ))}
        {typeof content.story === 'string' && <CutText text={content.story} />}
        <p className={styles.made}>{madeBy(content)} All messages stay in the log, and the agent can read them back.</p>
      </div>
    </Fold>
  )
}

const linesIn = (value: unknown): string[] =>
  Array.isArray(value) ? [...new Set(value.filter((line) => typeof line === 'string'))] : []

function madeBy({ model, usage }: ActivityItem['content']): string {
  const tokens = Array.isArray(usage) ? usage.reduce((sum, one) => sum + Number(one?.totalTokens ?? 0), 0) : 0
  return `Made by ${String(model)}${tokens > 0 ? ` with ${tokens.toLocaleString('en')} tokens` : ''}.`
}
