import type { Session } from 'quarterdeck/client'
import { memo, useCallback, useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useKeys } from '../../../app/Keys.tsx'
import { useEventList } from '../../../data/event-list.ts'
import type { LogEvent } from '../../../data/live-types.ts'
import { Button } from '../../../parts/Button.tsx'
import { CopyButton } from '../../../parts/CopyButton.tsx'
import { CutText } from '../../../parts/CutText.tsx'
import { Select, TextField } from '../../../parts/Field.tsx'
import { flipped } from '../../../parts/flipped.ts'
import { ClosedIcon, OpenedIcon, SessionsIcon } from '../../../parts/icons.ts'
import { Empty, Failed, Pending } from '../../../parts/States.tsx'
import { preciseTime } from '../../../parts/Time.tsx'
import { type RowsHandle, VirtualRows } from '../../../parts/VirtualRows.tsx'
import { counted, fullCount } from '../../../words.ts'
import { eventJson, eventLine, fits } from './event-text.ts'
import styles from './LogTab.module.css'

const keyOf = ({ seq }: LogEvent): string => String(seq)

/** The events as they are in the log. It opens at the end, or at `?seq=`, and loads both ways. */
export default function LogTab({ session }: { session: Session }) {
  const [params] = useSearchParams()
  const wanted = Number(params.get('seq') ?? Number.NaN)
  const from = Number.isSafeInteger(wanted) && wanted > 0 ? wanted - 1 : 'end'
  const list = useEventList(session.session_id, { from, structure: false, loadsAll: false })
  const { status, events, hasEarlier, hasLater, isLoading, loadEarlier, loadLater, loadAll } = list
  const [type, setType] = useState<string | null>(null)
  const [typed, setTyped] = useState('')
  const text = useDeferredValue(typed.trim().toLowerCase())
  const isFiltering = type !== null || text !== ''
  const shown = useMemo(
    () => (isFiltering ? events.filter(({ event }) => fits(event, { type, text })) : events),
    [events, type, text, isFiltering],
  )
  const types = useTypes(events)
  const [opened, setOpened] = useState<ReadonlySet<number>>(() => new Set(from === 'end' ? [] : [from + 1]))
  const toggle = useCallback((seq: number) => setOpened((was) => flipped(was, seq)), [])
  const handle = useRef<RowsHandle>(null)
  const field = useRef<HTMLDivElement>(null)
  // What fits may be anywhere.
  useEffect(() => {
    if (isFiltering && !isLoading && (hasEarlier || hasLater)) loadAll()
  }, [isFiltering, isLoading, hasEarlier, hasLater, loadAll])
  const isReady = status === 'ready'
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it opens
  useLayoutEffect(() => {
    if (isReady && from === 'end') handle.current?.scrollToIndex(events.length - 1, 'end')
  }, [isReady])
  const box = useRef<HTMLDivElement>(null)
  function move(step: 1 | -1): void {
    const rows = [...(box.current?.querySelectorAll<HTMLElement>('button[data-event]') ?? [])]
    const at = rows.indexOf(document.activeElement as HTMLElement)
    // Nobody has chosen a row yet: the newest one is in sight.
    rows[at === -1 ? rows.length - 1 : Math.min(rows.length - 1, Math.max(0, at + step))]?.focus()
  }
  useKeys([
    { keys: 'j', name: 'Next event', group: 'Log', run: () => move(1) },
    { keys: 'k', name: 'Previous event', group: 'Log', run: () => move(-1) },
    { keys: '/', name: 'Filter the events', group: 'Log', run: () => field.current?.querySelector('input')?.focus() },
    { keys: 'G', name: 'To the end', group: 'Log', run: () => handle.current?.scrollToIndex(shown.length - 1, 'end') },
  ])
  if (!isReady) return <Pending query={list} rows={14} height={EVENT_HEIGHT} />
  if (events.length === 0 && !hasEarlier) {
    return (
      <Empty title="The log is empty" icon={<SessionsIcon />}>
        Every event of this session comes here, as it goes over the wire.
      </Empty>
    )
  }
  return (
    <div ref={box} className={styles.log}>
      <div className={styles.tools} ref={field}>
        <TextField
          label="Filter the events"
          isLabelHidden
          type="search"
          placeholder="Text in an event"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Select
          label="Type"
          isLabelHidden
          value={type ?? ''}
          onChange={(event) => setType(event.target.value === '' ? null : event.target.value)}
        >
          <option value="">All types</option>
          {types.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
        <p className={styles.sum} role="status">
          {isFiltering
            ? `${fullCount(shown.length)} of ${counted(events.length, 'event')}`
            : counted(events.length, 'event')}
          {isLoading ? ', loading more…' : (hasEarlier || hasLater) && ' loaded'}
        </p>
        <Button kind="quiet" onClick={() => handle.current?.scrollToIndex(0, 'start')}>
          First
        </Button>
        <Button kind="quiet" onClick={() => handle.current?.scrollToIndex(shown.length - 1, 'end')}>
          Last
        </Button>
      </div>
      {list.error !== null && <Failed error={list.error} onRetry={hasLater ? loadLater : loadEarlier} />}
      {shown.length === 0 && !isLoading ? (
        <Empty title="No event fits">
          <Button
            onClick={() => {
              setType(null)
              setTyped('')
            }}
          >
            Show all events
          </Button>
        </Empty>
      ) : (
        <VirtualRows
          ref={handle}
          items={shown}
          keyOf={keyOf}
          rowHeight={EVENT_HEIGHT}
          label="Events"
          keepsPlace
          onStart={hasEarlier ? loadEarlier : undefined}
          onEnd={hasLater ? loadLater : undefined}
        >
          {(entry) => <EventRow entry={entry} isOpen={opened.has(entry.seq)} onToggle={toggle} />}
        </VirtualRows>
      )}
    </div>
  )
}

/** The types that were seen. Looks only at what is new. */
function useTypes(events: readonly LogEvent[]): string[] {
  const seen = useRef({ types: new Set<string>(), first: 0, last: 0 })
  return useMemo(() => {
    const { types, first, last } = seen.current
    const fresh = events.filter(({ seq }) => first === 0 || seq < first || seq > last)
    for (const { event } of fresh) types.add(event.type)
    seen.current = { types, first: events[0]?.seq ?? 0, last: events.at(-1)?.seq ?? 0 }
    return [...types].sort()
  }, [events])
}

const EVENT_HEIGHT = 32

interface EventRowProps {
  entry: LogEvent
  isOpen: boolean
  onToggle: (seq: number) => void
}

const EventRow = memo(function EventRow({ entry, isOpen, onToggle }: EventRowProps) {
  const { seq, at, event } = entry
  return (
    <div className={styles.event} data-type={event.type}>
      <button type="button" className={styles.line} aria-expanded={isOpen} data-event="" onClick={() => onToggle(seq)}>
        {isOpen ? <OpenedIcon aria-hidden="true" /> : <ClosedIcon aria-hidden="true" />}
        <span className={styles.seq}>{seq}</span>
        <span className={styles.time} title={at === null ? undefined : preciseTime(at)}>
          {at === null ? '' : clockTime(at)}
        </span>
        <span className={styles.type}>{event.type}</span>
        <bdi className={styles.text}>{eventLine(event)}</bdi>
      </button>
      {isOpen && <EventJson entry={entry} />}
    </div>
  )
})

function EventJson({ entry: { event } }: { entry: LogEvent }) {
  const json = eventJson(event)
  return (
    <div className={styles.json}>
      <CutText text={json} isCode />
      <div className={styles.copy}>
        <CopyButton text={json} what="event" />
      </div>
    </div>
  )
}

const two = (n: number): string => String(n).padStart(2, '0')

/** `06:31:07.042`, where the reader is. */
function clockTime(at: number): string {
  const time = new Date(at)
  const ms = String(time.getMilliseconds()).padStart(3, '0')
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${ms}`
}
