import type { ActivityItem } from '../../data/transcript.ts'
import { sentence } from '../../words.ts'
import { CutText } from '../CutText.tsx'
import { HealthIcon } from '../icons.ts'
import { lazyPart } from '../lazy-part.tsx'
import styles from './ActivityLine.module.css'
import { Fold } from './Fold.tsx'
import { useIsOpen } from './open-rows.ts'
import { argumentLine } from './pretty-json.ts'

interface Step {
  label: string
  status: string
}

const AppView = lazyPart(() => import('./AppView.tsx'))
const SummaryFold = lazyPart(() => import('./SummaryFold.tsx'))

/** What a tool or an agent elsewhere shows beside the conversation. */
export default function Activity({ item }: { item: ActivityItem }) {
  if (item.name === 'mcp-apps') return <AppView item={item} />
  return item.name === 'summary' ? <SummaryFold item={item} /> : <ActivityLine item={item} />
}

/** A checklist is shown as such, everything else by its name and its values. */
function ActivityLine({ item }: { item: ActivityItem }) {
  const steps = stepsIn(item.content.progress) ?? stepsIn(planIn(item.content.entries))
  const [isOpen, setOpen] = useIsOpen(item.key, steps !== null)
  const done = steps?.filter(({ status }) => status === 'done').length ?? 0
  return (
    <Fold
      icon={<HealthIcon />}
      title={
        steps === null ? sentence(item.name.toLowerCase().replaceAll('_', ' ')) : `Progress: ${done} of ${steps.length}`
      }
      line={steps === null ? lineOf(item.content) : ''}
      isOpen={isOpen}
      onToggle={setOpen}
    >
      {steps === null ? (
        <CutText text={JSON.stringify(item.content, null, 2)} first={4_000} isCode />
      ) : (
        <ul className={styles.steps}>
          {steps.map(({ label, status }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two steps may have the same words
            <li key={i} data-status={status}>
              <span className={styles.mark} aria-hidden="true">
                {status === 'done' ? '✓' : status === 'in_progress' ? '…' : ''}
              </span>
              <bdi>{label}</bdi>
              <span className="unseen"> ({status.replaceAll('_', ' ')})</span>
            </li>
          ))}
        </ul>
      )}
    </Fold>
  )
}

/** What is read of a file has a name and a status; of everything else the values are shown. */
function lineOf(content: Record<string, unknown>): string {
  const { name, status } = content
  if (typeof name === 'string' && typeof status === 'string') return `${name}: ${status}`
  return argumentLine(JSON.stringify(content))
}

/** The plan of a hosted agent. */
const planIn = (entries: unknown): unknown =>
  Array.isArray(entries)
    ? entries.map((one) => ({ label: one?.content, status: one?.status === 'completed' ? 'done' : one?.status }))
    : null

function stepsIn(progress: unknown): Step[] | null {
  if (!Array.isArray(progress)) return null
  const steps = progress.filter((one): one is Step => typeof one?.label === 'string' && typeof one?.status === 'string')
  return steps.length === progress.length && steps.length > 0 ? steps : null
}
