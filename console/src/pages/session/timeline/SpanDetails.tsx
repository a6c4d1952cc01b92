import { Link } from 'wouter'
import { IconButton } from '../../../parts/Button.tsx'
import { CutText } from '../../../parts/CutText.tsx'
import { CloseIcon } from '../../../parts/icons.ts'
import { Fact } from '../../../parts/Page.tsx'
import { duration, preciseTime } from '../../../parts/Time.tsx'
import { TextBox } from '../../../parts/transcript/TextPart.tsx'
import { fullCount } from '../../../words.ts'
import { SpanContent } from './SpanContent.tsx'
import styles from './SpanDetails.module.css'
import { spanKinds, statusNames } from './SpanIcon.tsx'
import type { Span } from './spans.ts'
import { costIn, costWord, type PriceList } from './step-cost.ts'

interface DetailsProps {
  span: Span
  now: number
  sessionId: string
  prices: PriceList | null
  onClose: () => void
}

/** Everything that is known about one line of the timeline. */
export function SpanDetails({ span, now, sessionId, prices, onClose }: DetailsProps) {
  const { name, kind, status, start, end, firstAnswerAt, usage, text, runId, callId, seq, lastSeq } = span
  const session = encodeURIComponent(sessionId)
  return (
    <aside className={styles.details} aria-label={`About ${name}`}>
      <header className={styles.head}>
        <h2 className={styles.title}>{name}</h2>
        <IconButton label="Close the details" icon={<CloseIcon />} onClick={onClose} />
      </header>
      <dl className={styles.facts}>
        <Fact name="Kind">{spanKinds[kind].name}</Fact>
        <Fact name="State">{statusNames[status]}</Fact>
        <Fact name="Began">{preciseTime(start)}</Fact>
        {kind !== 'note' && <Fact name={end === null ? 'So far' : 'Took'}>{duration((end ?? now) - start)}</Fact>}
        {firstAnswerAt !== null && <Fact name="First word after">{duration(firstAnswerAt - start)}</Fact>}
        {usage.map((one) => (
          <Fact key={`${one.provider}/${one.model}`} name={one.model ?? 'Tokens'}>
            {fullCount(one.inputTokens ?? 0)} in, {fullCount(one.outputTokens ?? 0)} out
            {(one.cachedInputTokens ?? 0) > 0 && `, ${fullCount(one.cachedInputTokens ?? 0)} cached`}
            {(one.cacheWriteInputTokens ?? 0) > 0 &&
              `, ${fullCount(one.cacheWriteInputTokens ?? 0)} put into the cache`}
            {(one.reasoningTokens ?? 0) > 0 && `, ${fullCount(one.reasoningTokens ?? 0)} for reasoning`}
          </Fact>
        ))}
        {usage.length > 0 && prices !== null && (
          <Fact name="Cost">{costWord(costIn(usage, prices), prices.currency)}</Fact>
        )}
        {callId !== null && (
          <Fact name="Call">
            <code>{callId}</code>
          </Fact>
        )}
        {runId !== null && (
          <Fact name="Run">
            <code>{runId}</code>
          </Fact>
        )}
        <Fact name="Events">
          <Link href={`/sessions/${session}?view=log&seq=${seq}`}>
            {lastSeq === seq ? `${seq}` : `${seq} to ${lastSeq}`} in the log
          </Link>
        </Fact>
      </dl>
      {text !== null && kind !== 'tool' && (
        <TextBox isBad={status === 'failed'}>
          <CutText text={text} />
        </TextBox>
      )}
      <SpanContent span={span} sessionId={sessionId} />
    </aside>
  )
}
