import type { Alert } from 'quarterdeck/client'
import { AlertIcon } from '../icons.ts'
import { Failed, Loading } from '../States.tsx'
import { duration, Time } from '../Time.tsx'
import { VisibleText } from '../VisibleText.tsx'
import { CardSection, CardState } from './CardFrame.tsx'
import type { RecordCardOptions } from './PromptCard.tsx'
import styles from './RecordCard.module.css'
import { type RecordAction, RecordCard } from './RecordCard.tsx'
import { useRecord } from './use-record.ts'

/** An agent that has said nothing for too long. */
export function AlertCard({ id, docked = false, hasKeys = true }: RecordCardOptions) {
  const { data: alert, error, refetch, ...rest } = useRecord('alert', id)
  if (alert === undefined) {
    return (
      <CardState>
        {error === null ? <Loading rows={1} height={240} /> : <Failed error={error} onRetry={() => void refetch()} />}
      </CardState>
    )
  }
  return (
    <RecordCard
      kind="Silent agent"
      icon={<AlertIcon aria-hidden="true" />}
      title={`Silent for ${duration(alert.idle_seconds * 1_000)}`}
      record={alert}
      readAt={rest.dataUpdatedAt}
      isOpen={isOpen(alert)}
      expiresAt={null}
      words={alert.nudge_message === null ? null : { label: 'Nudge', text: alert.nudge_message }}
      actions={actionsFor(id)}
      busy={rest.busy}
      problem={rest.problem}
      answer={rest.answer}
      docked={docked}
      hasKeys={hasKeys}
    >
      <p className={styles.facts}>
        Last heard of <Time at={alert.last_activity_at} />
        {alert.last_tool !== null && (
          <>
            , with <VisibleText text={alert.last_tool} inline />
          </>
        )}
        .{' '}
        {alert.nudge_count > 0 && `Nudged ${alert.nudge_count === 1 ? 'once' : `${alert.nudge_count} times`} already. `}
        {alert.last_nudge_at !== null && (
          <>
            Last nudge <Time at={alert.last_nudge_at} />.
          </>
        )}
      </p>
      {alert.progress_snapshot !== null && alert.progress_snapshot.length > 0 && (
        <CardSection title="What the agent says it has done" apart>
          <ul className={styles.progress}>
            {alert.progress_snapshot.map(({ label, status }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: labels may be the same
              <li key={i}>
                <span className={styles.state}>{progressWords[status]}</span>
                <VisibleText text={label} inline />
              </li>
            ))}
          </ul>
        </CardSection>
      )}
    </RecordCard>
  )
}

const progressWords = { done: 'Done', in_progress: 'In progress', pending: 'To do' } as const

/** After a nudge it still waits for a sign of life, and one can nudge again. */
const isOpen = ({ status }: Alert): boolean => status === 'pending' || status === 'nudged' || status === 'escalated'

const actionsFor = (id: string): RecordAction[] => [
  {
    name: 'Stop session',
    key: 'r',
    asks: {
      title: 'Stop the session?',
      label: '',
      help: 'The session of this agent ends. What it has written stays.',
      hasText: false,
      isDangerous: true,
    },
    send: (client) => client.alerts.stop(id),
    done: 'The session is stopped',
  },
  { name: 'Dismiss', key: '', send: (client) => client.alerts.dismiss(id), done: 'Dismissed' },
  {
    name: 'Nudge with text',
    key: 'e',
    asks: { title: 'Nudge the agent', label: 'Message', help: 'The agent reads it when it wakes up.' },
    send: (client, message) => client.alerts.nudge(id, message),
    done: 'Nudged',
  },
  {
    name: 'Nudge',
    key: 'a',
    isPrimary: true,
    asks: { title: 'Nudge the agent?', label: '', help: 'It is told to go on.', hasText: false },
    send: (client) => client.alerts.nudge(id),
    done: 'Nudged',
  },
]
