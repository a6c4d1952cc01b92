import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { MessageFeedback } from 'quarterdeck/client'
import { useState } from 'react'
import { usePlace } from '../../data/place.ts'
import { useClient } from '../../data/server.tsx'
import { errorText } from '../../error-text.ts'
import { announce } from '../Announcer.tsx'
import { Button, IconButton } from '../Button.tsx'
import { focusEnd, TextArea } from '../Field.tsx'
import { DownIcon, UpIcon } from '../icons.ts'
import styles from './Thumbs.module.css'

interface Rated {
  sessionId: string
  messageId: string
}

/** What people think of the answers of a session. One question for all of them. */
function useFeedback({ sessionId, messageId }: Rated) {
  const client = useClient()
  const queries = useQueryClient()
  const queryKey = ['feedback', sessionId]
  const { data = [] } = useQuery({ queryKey, queryFn: ({ signal }) => client.sessions.feedback(sessionId, { signal }) })
  const all = data.filter((one) => one.message_id === messageId)
  return {
    own: all.find(({ own }) => own) ?? null,
    others: all.filter(({ own }) => !own),
    /** True: it is noted. */
    async rate(value: MessageFeedback['value'] | null, note: string | null): Promise<boolean> {
      try {
        await client.sessions.rate(messageId, { value, note })
        await queries.invalidateQueries({ queryKey })
        return true
      } catch (error) {
        announce(errorText(error))
        return false
      }
    },
  }
}

/** Whether an answer is good or not: two buttons, one of them pressed. */
export function Thumbs(rated: Rated) {
  const { own, rate } = useFeedback(rated)
  const press = async (value: MessageFeedback['value']) => {
    const isTakenBack = own?.value === value
    if (await rate(isTakenBack ? null : value, isTakenBack ? null : (own?.note ?? null)))
      announce(isTakenBack ? 'Taken back' : 'Noted. Thank you')
  }
  const thumb = (value: MessageFeedback['value'], label: string, icon: React.ReactNode) => (
    <IconButton
      label={label}
      icon={icon}
      aria-pressed={own?.value === value}
      kind={own?.value === value ? 'plain' : 'quiet'}
      onClick={() => void press(value)}
    />
  )
  return (
    <>
      {thumb('up', 'Good answer', <UpIcon />)}
      {thumb('down', 'Not a good answer', <DownIcon />)}
    </>
  )
}

const LONGEST_NOTE = 2_000

/** Below an answer: one's own note on it, and for operators what others think. */
export function FeedbackNotes(rated: Rated) {
  const { page } = usePlace()
  const { own, others, rate } = useFeedback(rated)
  /** Null: it was closed. Undefined: it was never open. What is pressed here goes away, so the focus moves on with it. */
  const [draft, setDraft] = useState<string | null>()
  if (own === null && others.length === 0) return null
  async function save(): Promise<void> {
    if (own !== null && (await rate(own.value, draft?.trim() || null))) setDraft(null)
  }
  return (
    <div className={styles.notes}>
      {page === 'console' &&
        others.map(({ by, value, note }) => (
          <p key={by}>
            <bdi>{by}</bdi> says: {value === 'up' ? 'a good answer' : 'not a good answer'}
            {note !== null && (
              <>
                . <bdi>{note}</bdi>
              </>
            )}
          </p>
        ))}
      {own !== null && draft == null && (
        <p>
          {own.note !== null && (
            <>
              Your note: <bdi>{own.note}</bdi>{' '}
            </>
          )}
          <Button kind="quiet" autoFocus={draft === null} onClick={() => setDraft(own.note ?? '')}>
            {own.note === null ? 'Add a note' : 'Change the note'}
          </Button>
        </p>
      )}
      {draft != null && (
        <div className={styles.form}>
          <TextArea
            label="Your note on this answer"
            autoFocus
            onFocus={({ target }) => focusEnd(target)}
            maxLength={LONGEST_NOTE}
            value={draft}
            onChange={({ target }) => setDraft(target.value)}
          />
          <Button onClick={() => void save()}>Save the note</Button>
          <Button kind="quiet" onClick={() => setDraft(null)}>
            Cancel
          </Button>
        </div>
      )}
    </div>
  )
}
