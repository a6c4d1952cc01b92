import type { Approval } from 'quarterdeck/client'
import { channelWord, statusTone, statusWord } from '../../words.ts'
import { Time } from '../Time.tsx'
import { VisibleText } from '../VisibleText.tsx'
import { Notice } from './Notice.tsx'

interface OutcomeProps {
  /** The word for it, such as `Approved`. */
  status: string
  by: string | null
  at: string | null
  channel: string | null
  /** What came with the answer: a reason, an instruction. */
  words?: { label: string; text: string } | null | undefined
}

/** Who decided what, when and where. It takes the place of the buttons. */
export function Outcome({ status, by, at, channel, words = null }: OutcomeProps) {
  const tone = statusTone(status)
  return (
    <div role="status">
      <Notice tone={tone === 'accent' ? 'neutral' : tone}>
        <p>
          <strong>{statusWord(status)}</strong>
          {by !== null && by !== 'timeout' && (
            <>
              {' '}
              by <bdi>{by}</bdi>
            </>
          )}
          {at !== null && (
            <>
              {' '}
              <Time at={at} />
            </>
          )}
          {channel !== null && ` ${channelWord(channel)}`}
        </p>
        {words !== null && words.text !== '' && (
          <p>
            {words.label}: <VisibleText text={words.text} inline />
          </p>
        )}
      </Notice>
    </div>
  )
}

/** What else the record of a decided approval says. */
export function outcomeWords(approval: Approval): OutcomeProps['words'] {
  if (approval.response !== null && approval.response !== undefined) {
    const text = typeof approval.response === 'string' ? approval.response : JSON.stringify(approval.response)
    return { label: 'Answer', text }
  }
  return approval.reason === null ? null : { label: 'Reason', text: approval.reason }
}
