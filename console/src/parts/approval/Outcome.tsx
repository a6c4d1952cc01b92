import type { RecordView } from 'quarterdeck/client'
import { Link } from 'wouter'
import { Time } from '../Time.tsx'
import { VisibleText } from '../VisibleText.tsx'
import { Notice } from './Notice.tsx'
import { RecordFacts } from './RecordParts.tsx'

/** Who decided what, when and where. It takes the place of the buttons. */
export function Outcome({ outcome }: { outcome: NonNullable<RecordView['outcome']> }) {
  const { word, tone, by, at, via, more, words, reason, facts } = outcome
  // The server names the question that took the place of this one.
  const askedAgain = /asked again as ([0-9a-f-]{36})/.exec(reason ?? '')?.[1]
  return (
    <>
      <div role="status">
        <Notice tone={tone}>
          <p>
            <strong>{word}</strong>
            {by !== null && (
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
            {via !== null && ` ${via}`}
          </p>
          {more !== '' && (
            <p>
              <VisibleText text={more} inline isRaw />
            </p>
          )}
          {words !== null && <Said title={words.title} text={words.text} />}
          {reason !== null && <Said title="Reason" text={reason} />}
          <RecordFacts facts={facts} />
        </Notice>
      </div>
      {askedAgain !== undefined && <Link href={`/inbox/${askedAgain}`}>Open the new question</Link>}
    </>
  )
}

function Said({ title, text }: { title: string; text: string }) {
  return (
    <p>
      {title}: <VisibleText text={text} inline isRaw />
    </p>
  )
}
