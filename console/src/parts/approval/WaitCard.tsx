import { WaitIcon } from '../icons.ts'
import { Failed, Loading } from '../States.tsx'
import { VisibleText } from '../VisibleText.tsx'
import { CardSection, CardState } from './CardFrame.tsx'
import type { RecordCardOptions } from './PromptCard.tsx'
import styles from './RecordCard.module.css'
import { type RecordAction, RecordCard } from './RecordCard.tsx'
import { useRecord } from './use-record.ts'

/** An agent that stands by until somebody tells it what to do next. */
export function WaitCard({ id, docked = false, hasKeys = true }: RecordCardOptions) {
  const { data: wait, error, refetch, ...rest } = useRecord('wait', id)
  if (wait === undefined) {
    return (
      <CardState>
        {error === null ? <Loading rows={1} height={240} /> : <Failed error={error} onRetry={() => void refetch()} />}
      </CardState>
    )
  }
  return (
    <RecordCard
      kind="Agent stands by"
      icon={<WaitIcon aria-hidden="true" />}
      title="What should it do next?"
      record={wait}
      readAt={rest.dataUpdatedAt}
      isOpen={wait.status === 'waiting'}
      expiresAt={wait.expires_at}
      words={wait.instruction === null ? null : { label: 'Instruction', text: wait.instruction }}
      actions={actionsFor(id)}
      busy={rest.busy}
      problem={rest.problem}
      answer={rest.answer}
      docked={docked}
      hasKeys={hasKeys}
    >
      <CardSection title="What the agent says" apart>
        <div className={styles.words}>
          {wait.message === '' ? 'It says nothing.' : <VisibleText text={wait.message} />}
        </div>
      </CardSection>
    </RecordCard>
  )
}

const actionsFor = (id: string): RecordAction[] => [
  {
    name: 'Stop',
    key: 'r',
    asks: {
      title: 'Stop the agent?',
      label: '',
      help: 'The agent is told that there is nothing more to do.',
      hasText: false,
      isDangerous: true,
    },
    send: (client) => client.waits.stop(id),
    done: 'The agent is told to stop',
  },
  {
    name: 'Resume with text',
    key: 'e',
    asks: { title: 'Tell the agent what to do', label: 'Instruction', help: 'The agent goes on with this.' },
    send: (client, instruction) => client.waits.resume(id, instruction),
    done: 'The agent goes on with your instruction',
  },
  {
    name: 'Resume',
    key: 'a',
    isPrimary: true,
    asks: {
      title: 'Let the agent go on?',
      label: '',
      help: 'It goes on without an instruction.',
      hasText: false,
    },
    send: (client) => client.waits.resume(id),
    done: 'The agent goes on',
  },
]
