import { useContext } from 'react'
import { usePlace } from '../../data/place.ts'
import type { EndItem } from '../../data/transcript.ts'
import { Button } from '../Button.tsx'
import { RetryIcon, StopIcon, WarningIcon } from '../icons.ts'
import { ConversationContext } from './conversation.ts'
import styles from './RunEnd.module.css'

/** What failed, in words that everybody knows. */
const failures: Readonly<Record<string, string>> = {
  model_auth_failed: 'The server may not use this model: its key was refused.',
  model_not_found: 'The model does not exist, or the server may not use it.',
  model_rate_limited: 'The model has too much to do right now.',
  model_unreachable: 'The model could not be reached.',
  model_timeout: 'The model did not answer in time.',
  model_stream_dropped: 'The connection to the model broke off.',
  model_refused: 'The model declined to answer.',
  model_context_overflow: 'The conversation has become too long for the model.',
  model_bad_request: 'The model did not accept the request.',
  model_failed: 'The model failed.',
  budget_exceeded: 'The budget is used up.',
  limit: 'The agent needed more steps than it may take.',
  interrupted: 'The server stopped in the middle of the answer.',
  tool_failed: 'A tool of the agent failed.',
  tool_unavailable: 'A tool of the agent is not available.',
  invalid_answer: 'The answer did not have the form that it must have.',
  storage_full: 'The disk of the server is full.',
}

/** A run that ended without an answer, why, and the way to another try. Users are not shown what only operators can use. */
export default function RunEnd({ item, isNewest }: { item: EndItem; isNewest: boolean }) {
  const { again } = useContext(ConversationContext)
  const { page } = usePlace()
  const { how, message, code, isWithdrawn } = item
  const isFailed = how === 'failed'
  return (
    <div className={isFailed ? styles.failed : styles.stopped}>
      {isFailed ? <WarningIcon aria-hidden="true" /> : <StopIcon aria-hidden="true" />}
      <div className={styles.text}>
        <p>{isFailed ? (failures[code ?? ''] ?? 'Something went wrong, and there is no answer.') : message}</p>
        {isFailed && page === 'console' && (
          <details>
            <summary>What exactly</summary>
            <p dir="auto">{message}</p>
            {code !== null && <code>{code}</code>}
          </details>
        )}
      </div>
      {isNewest && again !== null && !isWithdrawn && (
        <Button icon={<RetryIcon />} onClick={again}>
          Try again
        </Button>
      )}
    </div>
  )
}
