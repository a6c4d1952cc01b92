import { memo } from 'react'
import { duration } from '../../../parts/Time.tsx'
import { fullCount, shortCount } from '../../../words.ts'
import type { Axis, AxisWindow } from './axis.ts'
import { SpanIcon } from './SpanIcon.tsx'
import styles from './SpanRow.module.css'
import { type Span, tokensIn } from './spans.ts'
import { costIn, costWord, type PriceList } from './step-cost.ts'

export const SPAN_HEIGHT = 30

interface SpanRowProps {
  span: Span
  axis: Axis
  window: AxisWindow
  /** Where what has not ended ends for now. */
  end: number
  /** Null: not known yet. */
  prices: PriceList | null
  isSelected: boolean
  onSelect: () => void
}

export const SpanRow = memo(function SpanRow({ span, axis, window, end, prices, isSelected, onSelect }: SpanRowProps) {
  const until = span.end ?? end
  const from = (axis.place(span.start) - window.from) / window.width
  const to = (axis.place(until) - window.from) / window.width
  const left = Math.max(0, from)
  const width = Math.min(1, to) - left
  const isInside = to >= 0 && from <= 1
  const took = until - span.start
  return (
    <button type="button" className={styles.row} aria-pressed={isSelected} data-kind={span.kind} onClick={onSelect}>
      <span className={styles.name} style={{ paddingInlineStart: `${span.depth * 1.1}em` }}>
        <SpanIcon span={span} />
        <span className={styles.words}>
          {span.name}
          {span.kind === 'run' && span.text !== null && (
            <bdi className={styles.text}>{span.status === 'failed' ? `failed: ${span.text}` : span.text}</bdi>
          )}
          {span.kind === 'model' && span.status === 'stopped' && <span className={styles.text}>broken off</span>}
        </span>
      </span>
      <span className={styles.lane} aria-hidden="true">
        {isInside ? (
          <span
            className={styles.bar}
            data-status={span.status}
            style={{ insetInlineStart: `${left * 100}%`, width: `${Math.max(0, width) * 100}%` }}
          >
            {span.firstAnswerAt !== null && took > 0 && (
              <span
                className={styles.thinking}
                style={{ width: `${((span.firstAnswerAt - span.start) / took) * 100}%` }}
              />
            )}
          </span>
        ) : (
          <span className={styles.beyond} data-side={to < 0 ? 'before' : 'after'} />
        )}
      </span>
      <span className={styles.facts}>
        <span className={styles.took}>{span.kind === 'note' ? '' : duration(took)}</span>
        <Used span={span} prices={prices} />
      </span>
    </button>
  )
})

/** A dash: a model worked, and it is not known what it used. */
function Used({ span: { kind, end, usage }, prices }: { span: Span; prices: PriceList | null }) {
  if (usage.length === 0) {
    const isUnknown = end !== null && (kind === 'model' || kind === 'run')
    return (
      <>
        <span className={styles.tokens}>{isUnknown && '–'}</span>
        <span className={styles.cost} data-dash={isUnknown || undefined}>
          {isUnknown && '–'}
        </span>
      </>
    )
  }
  const tokens = tokensIn(usage)
  const cost = prices === null ? null : costIn(usage, prices)
  return (
    <>
      <span className={styles.tokens} title={`${fullCount(tokens)} tokens`}>
        {shortCount(tokens)}
        <span className={styles.unit}> tokens</span>
      </span>
      <span className={styles.cost} data-unknown={cost === null || undefined}>
        {prices !== null && costWord(cost, prices.currency)}
      </span>
    </>
  )
}
