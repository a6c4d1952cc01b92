import type { Session } from 'quarterdeck/client'
import { useDeferredValue, useMemo, useRef, useState } from 'react'
import { useKeys } from '../../../app/Keys.tsx'
import { useEventList } from '../../../data/event-list.ts'
import { Button, IconButton } from '../../../parts/Button.tsx'
import { WaitIcon, ZoomInIcon, ZoomOutIcon } from '../../../parts/icons.ts'
import { Empty, Pending } from '../../../parts/States.tsx'
import { duration, useNow } from '../../../parts/Time.tsx'
import { type RowsHandle, VirtualRows } from '../../../parts/VirtualRows.tsx'
import { counted, fullCount } from '../../../words.ts'
import { useSessionUsage } from '../use-session.ts'
import { type Axis, type AxisWindow, createAxis, firstZoom, ticksOf, windowFor } from './axis.ts'
import { SpanDetails } from './SpanDetails.tsx'
import { SPAN_HEIGHT, SpanRow } from './SpanRow.tsx'
import { type Span, spansOf } from './spans.ts'
import type { PriceList } from './step-cost.ts'
import styles from './TimelineTab.module.css'

const idOf = (span: Span): string => `${span.id}@${span.seq}`

/** Runs, model calls, tool calls and waits over time. The window goes along with the rows, so every part of a long session is reachable. */
export default function TimelineTab({ session }: { session: Session }) {
  const list = useEventList(session.session_id, { structure: true, from: 'start', loadsAll: true })
  const { data: used } = useSessionUsage(session.session_id, session.created_at)
  const events = useDeferredValue(list.events)
  const spans = useMemo(() => spansOf(events), [events])
  if (list.status !== 'ready') return <Pending query={list} rows={12} height={SPAN_HEIGHT} />
  if (spans.list.length === 0 && !list.isLoading) {
    return (
      <Empty title="Nothing has happened yet" icon={<WaitIcon />}>
        Every run, model call, tool call and wait of this session gets a line here, as long as it took.
      </Empty>
    )
  }
  const progress = list.isLoading ? `Loading… ${fullCount(list.events.length)} events so far` : null
  return (
    <Waterfall
      sessionId={session.session_id}
      spans={spans.list}
      end={spans.end}
      prices={used?.prices ?? null}
      progress={progress}
    />
  )
}

interface WaterfallProps {
  sessionId: string
  spans: readonly Span[]
  end: number
  prices: PriceList | null
  progress: string | null
}

function Waterfall({ sessionId, spans, end: lastAt, prices, progress }: WaterfallProps) {
  const isWorking = spans.at(-1)?.end === null || spans.some((span) => span.end === null)
  const now = useNow(isWorking ? 1_000 : 60_000)
  const end = isWorking ? Math.max(lastAt, now) : lastAt
  const [isFolding, setFolding] = useState(true)
  const [factor, setFactor] = useState(1)
  const [inSight, setInSight] = useState(0)
  const [selected, setSelected] = useState<string | null>(null)
  const handle = useRef<RowsHandle>(null)
  const axis = useMemo(() => createAxis(spans, end, isFolding), [spans, end, isFolding])
  const zoom = Math.max(1, firstZoom(spans.length) * factor)
  const window = windowFor(axis, zoom, spans[inSight]?.start ?? 0)
  const at = spans.findIndex((span) => idOf(span) === selected)

  function select(index: number): void {
    const span = spans[Math.min(spans.length - 1, Math.max(0, index))]
    if (span === undefined) return
    setSelected(idOf(span))
    handle.current?.scrollToIndex(spans.indexOf(span))
  }
  const zoomBy = (by: number) => setFactor((was) => Math.max(1 / firstZoom(spans.length), was * by))
  const group = 'Timeline'
  useKeys([
    { keys: 'j', name: 'Next line', group, run: () => select(at + 1) },
    { keys: 'k', name: 'Previous line', group, run: () => select(at === -1 ? 0 : at - 1) },
    ...(at === -1 ? [] : [{ keys: 'Escape', name: 'Close the details', group, run: () => setSelected(null) }]),
    { keys: '+', name: 'Zoom in', group, run: () => zoomBy(2) },
    { keys: '-', name: 'Zoom out', group, run: () => zoomBy(0.5) },
    { keys: 'f', name: 'Fold idle time, or not', group, run: () => setFolding(!isFolding) },
  ])
  const chosen = at === -1 ? null : spans[at]
  return (
    <div className={styles.timeline} data-details={(chosen ?? null) !== null || undefined}>
      <div className={styles.chart}>
        <div className={styles.tools}>
          <p className={styles.sum}>
            {progress ?? `${counted(spans.length, 'line')}, ${duration(end - (spans[0]?.start ?? end))}`}
            {axis.folds.length > 0 && (
              <span className={styles.folds}>
                , {counted(axis.folds.length, 'idle stretch', 'idle stretches')} folded
              </span>
            )}
          </p>
          <Button kind="quiet" aria-pressed={isFolding} onClick={() => setFolding(!isFolding)}>
            {isFolding ? 'Unfold idle time' : 'Fold idle time'}
          </Button>
          <IconButton label="Zoom out" icon={<ZoomOutIcon />} disabled={zoom <= 1} onClick={() => zoomBy(0.5)} />
          <IconButton label="Zoom in" icon={<ZoomInIcon />} onClick={() => zoomBy(2)} />
        </div>
        <AxisHead axis={axis} window={window} start={spans[0]?.start ?? 0} />
        <VirtualRows
          ref={handle}
          items={spans}
          keyOf={idOf}
          rowHeight={SPAN_HEIGHT}
          label="Timeline"
          onRange={setInSight}
        >
          {(span) => (
            <SpanRow
              span={span}
              axis={axis}
              window={window}
              end={end}
              prices={prices}
              isSelected={idOf(span) === selected}
              onSelect={() => setSelected(idOf(span) === selected ? null : idOf(span))}
            />
          )}
        </VirtualRows>
      </div>
      {chosen !== null && chosen !== undefined && (
        <SpanDetails span={chosen} now={end} sessionId={sessionId} prices={prices} onClose={() => setSelected(null)} />
      )}
    </div>
  )
}

/** In how many parts the window is divided. */
const TICKS = 5
/** Beyond this share of the window there is no room for the words of a tick. */
const FULL = 0.86
/** Beyond this, the time of the day says more than the time since the begin. */
const LONG_MS = 10 * 60_000

/** The times above the bars, and the folded stretches. Their lengths are in the tooltips. */
function AxisHead({ axis, window, start }: { axis: Axis; window: AxisWindow; start: number }) {
  const share = (place: number) => (place - window.from) / window.width
  const folds = axis.folds.filter(({ at, width }) => at + width >= window.from && at <= window.from + window.width)
  const isLong = axis.timeAt(window.from + window.width) - start > LONG_MS
  return (
    <div className={styles.head} aria-hidden="true">
      <span>What</span>
      <div className={styles.scale}>
        {ticksOf(axis, window, TICKS).map(({ at, ms }) => (
          <span key={at} className={styles.tick} style={{ insetInlineStart: `${share(at) * 100}%` }}>
            {share(at) < FULL && (isLong ? clock.format(ms) : ms - start === 0 ? '0' : duration(ms - start))}
          </span>
        ))}
        {folds.slice(0, FOLDS_SHOWN).map(({ from, to, at, width }) => (
          <span
            key={from}
            className={styles.fold}
            title={`${duration(to - from)} in which nothing happened`}
            style={{ insetInlineStart: `${share(at) * 100}%`, width: `${(width / window.width) * 100}%` }}
          ></span>
        ))}
      </div>
      <span className={styles.took}>Time</span>
      <span className={styles.used}>Tokens</span>
      <span className={styles.used}>Cost</span>
    </div>
  )
}

const FOLDS_SHOWN = 100
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
