import { PromptIcon } from '../icons.ts'
import { Failed, Loading } from '../States.tsx'
import { duration } from '../Time.tsx'
import { VisibleText } from '../VisibleText.tsx'
import { CardSection, CardState } from './CardFrame.tsx'
import styles from './RecordCard.module.css'
import { type RecordAction, RecordCard } from './RecordCard.tsx'
import { useRecord } from './use-record.ts'

const titles = {
  continuation: 'May it go on?',
  clarification: 'It needs to know something',
  error_recovery: 'Something went wrong',
  resource_warning: 'It runs short of something',
} as const

const decisions = { continue: 'Continue', refine: 'Refine', stop: 'Stop' } as const

export interface RecordCardOptions {
  id: string
  docked?: boolean
  hasKeys?: boolean
}

/** A question that an agent forwards to a person. */
export function PromptCard({ id, docked = false, hasKeys = true }: RecordCardOptions) {
  const { data: prompt, error, refetch, ...rest } = useRecord('prompt', id)
  if (prompt === undefined) {
    return (
      <CardState>
        {error === null ? <Loading rows={1} height={240} /> : <Failed error={error} onRetry={() => void refetch()} />}
      </CardState>
    )
  }
  const { decision, instruction, reason } = prompt
  const words = [decision === null ? '' : decisions[decision], instruction ?? '', reason ?? ''].filter(Boolean)
  return (
    <RecordCard
      kind="Question from an agent"
      icon={<PromptIcon aria-hidden="true" />}
      title={titles[prompt.prompt_type] ?? 'A question'}
      record={prompt}
      readAt={rest.dataUpdatedAt}
      isOpen={prompt.status === 'pending'}
      expiresAt={prompt.expires_at}
      words={words.length === 0 ? null : { label: 'Answer', text: words.join(': ') }}
      actions={actionsFor(id)}
      busy={rest.busy}
      problem={rest.problem}
      answer={rest.answer}
      docked={docked}
      hasKeys={hasKeys}
    >
      <CardSection title="What the agent says" apart>
        <div className={styles.words}>
          <VisibleText text={prompt.prompt_text} />
        </div>
      </CardSection>
      {(prompt.elapsed_seconds !== null || prompt.actions_taken !== null) && (
        <p className={styles.facts}>
          {prompt.elapsed_seconds !== null && `Worked for ${duration(prompt.elapsed_seconds * 1_000)}. `}
          {prompt.actions_taken !== null && `${prompt.actions_taken.toLocaleString('en')} actions so far.`}
        </p>
      )}
    </RecordCard>
  )
}

const actionsFor = (id: string): RecordAction[] => [
  {
    name: 'Stop',
    key: 'r',
    asks: {
      title: 'Stop the agent?',
      label: 'Reason',
      help: 'The agent reads it. You can leave it out.',
      isOptional: true,
      isDangerous: true,
    },
    send: (client, reason) => client.prompts.answer(id, { decision: 'stop', ...(reason === '' ? {} : { reason }) }),
    done: 'The agent is told to stop',
  },
  {
    name: 'Refine',
    key: 'e',
    asks: { title: 'Go on, but differently', label: 'Instruction', help: 'The agent goes on with this instruction.' },
    send: (client, instruction) => client.prompts.answer(id, { decision: 'refine', instruction }),
    done: 'The agent goes on with your instruction',
  },
  {
    name: 'Continue',
    key: 'a',
    isPrimary: true,
    asks: {
      title: 'Let the agent go on?',
      label: 'Instruction',
      help: 'You can give it something to keep in mind, or leave this empty.',
      isOptional: true,
    },
    send: (client, instruction) =>
      client.prompts.answer(id, { decision: 'continue', ...(instruction === '' ? {} : { instruction }) }),
    done: 'The agent goes on',
  },
]
