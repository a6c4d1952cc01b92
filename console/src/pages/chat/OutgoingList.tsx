import type { Outgoing } from '../../data/outbox.ts'
import { useOutbox } from '../../data/use-outbox.ts'
import { Button } from '../../parts/Button.tsx'
import { UserMessage } from '../../parts/transcript/UserMessage.tsx'
import styles from './OutgoingList.module.css'

interface OutgoingListProps {
  list: readonly Outgoing[]
  /** Why messages wait that the server has. */
  waitsFor: string
  onWithdraw: (message: Outgoing) => void
  /** Takes a message that failed back into the field. */
  onEdit: (message: Outgoing) => void
}

/** Messages that the conversation does not show yet: on their way, in the queue, or failed. None is ever lost. */
export function OutgoingList({ list, waitsFor, onWithdraw, onEdit }: OutgoingListProps) {
  const outbox = useOutbox()
  return (
    <div className={styles.list}>
      {list.map((message) => (
        <UserMessage
          key={message.key}
          isPale
          text={message.text}
          files={message.files.map(({ name, mime_type, file_id }) => ({ name, mimeType: mime_type, fileId: file_id }))}
        >
          <div className={styles.state} role="status">
            {message.status === 'sending' && 'Sending…'}
            {message.status === 'sent' && (
              <>
                <span>{waitsFor}</span>
                <Button kind="quiet" onClick={() => onWithdraw(message)}>
                  Withdraw
                </Button>
              </>
            )}
            {message.status === 'failed' && (
              <>
                <span className={styles.problem}>
                  Not sent. {message.problem}
                  {message.isCutOff && ' It is sent when the server is back.'}
                </span>
                <Button onClick={() => outbox.retry(message.key)}>Try again</Button>
                <Button kind="quiet" onClick={() => onEdit(message)}>
                  Edit
                </Button>
              </>
            )}
          </div>
        </UserMessage>
      ))}
    </div>
  )
}
