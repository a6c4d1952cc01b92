import { memo } from 'react'
import type { LogEvent } from '../../../data/live-types.ts'
import { CopyButton } from '../../../parts/CopyButton.tsx'
import { CutText } from '../../../parts/CutText.tsx'
import { ClosedIcon, OpenedIcon } from '../../../parts/icons.ts'
import { preciseTime } from '../../../parts/Time.tsx'
import styles from './EventRow.module.css'
import { eventJson, eventLine } from './event-text.ts'

export const EVENT_HEIGHT = 32

interface EventRowProps {
  entry: LogEvent
  isOpen: boolean
  onToggle: (seq: number) => void
}

export const EventRow = memo(function EventRow({ entry, isOpen, onToggle }: EventRowProps) {
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
