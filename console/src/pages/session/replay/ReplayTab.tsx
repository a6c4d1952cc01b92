import type { Session } from 'quarterdeck/client'
import { Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useKeys } from '../../../app/Keys.tsx'
import { pathTo } from '../../../data/branches.ts'
import { useEventList } from '../../../data/event-list.ts'
import type { LogEvent } from '../../../data/live-types.ts'
import { type Transcript as Conversation, createTranscriptFold, type FoldState } from '../../../data/transcript.ts'
import { Button, IconButton } from '../../../parts/Button.tsx'
import { PauseIcon, PlayIcon, StepBackIcon, StepForwardIcon } from '../../../parts/icons.ts'
import { lazyPart } from '../../../parts/lazy-part.tsx'
import { Empty, Failed, Loading, Pending } from '../../../parts/States.tsx'
import { preciseTime } from '../../../parts/Time.tsx'
import { fullCount } from '../../../words.ts'
import styles from './ReplayTab.module.css'

/** The conversation as it was at any event. */
export default function ReplayTab({ session }: { session: Session }) {
  const list = useEventList(session.session_id, { from: 'start', structure: false, loadsAll: true })
  const { events, status, isLoading, lastSeq } = list
  if (status !== 'ready') return <Pending query={list} rows={5} height={96} />
  if (events.length === 0) {
    return <Empty title="Nothing was said by then" icon={<PlayIcon />} />
  }
  if (list.error !== null && list.hasLater) return <Failed error={list.error} onRetry={list.loadAll} />
  const share = Math.round((100 * (events.at(-1)?.seq ?? 0)) / Math.max(1, lastSeq))
  return <Player events={events} progress={isLoading && list.hasLater ? `${share} %` : null} />
}

const Transcript = lazyPart(async () => ({
  default: (await import('../../../parts/transcript/Transcript.tsx')).Transcript,
}))

const speeds = [1, 2, 4, 16] as const

function Player({ events, progress }: { events: readonly LogEvent[]; progress: string | null }) {
  const replay = useMemo(createReplay, [])
  const [params, setParams] = useSearchParams()
  const [chosen, setChosen] = useState<number | null>(() => placeOf(events, params.get('at')))
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<number>(1)
  const slider = useRef<HTMLInputElement>(null)
  replay.extend(events)
  // Nobody has chosen a place: the end, also while it moves on.
  const at = Math.min(chosen ?? events.length, events.length)
  const transcript = replay.at(at)
  const current = events[at - 1]

  useEffect(() => {
    if (!isPlaying) return
    if (at >= events.length) return setPlaying(false)
    const timer = setTimeout(() => setChosen(at + 1), nextPause(events, at, speed))
    return () => clearTimeout(timer)
  }, [isPlaying, at, events, speed])

  // The address follows a moment later: browsers do not take hundreds of changes a second.
  const seq = chosen === null ? null : (current?.seq ?? 0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another place changes the address
  useEffect(() => {
    if (isPlaying || seq === null || params.get('at') === String(seq)) return
    const timer = setTimeout(() => setParams({ view: 'replay', at: String(seq) }, { replace: true }), 400)
    return () => clearTimeout(timer)
  }, [seq, isPlaying])

  function go(to: number): void {
    setPlaying(false)
    setChosen(Math.min(events.length, Math.max(0, to)))
  }
  function toggle(): void {
    if (!isPlaying && at >= events.length) setChosen(0)
    setPlaying(!isPlaying)
  }
  const group = 'Replay'
  useKeys([
    { keys: ' ', name: 'Play or pause', group, run: toggle },
    { keys: 'ArrowRight', name: 'Next event', group, run: () => go(at + 1) },
    { keys: 'ArrowLeft', name: 'Previous event', group, run: () => go(at - 1) },
    { keys: 'n', name: 'Next run', group, run: () => go(nextRun(events, at, 1)) },
    { keys: 'p', name: 'Previous run', group, run: () => go(nextRun(events, at, -1)) },
    { keys: 'Home', name: 'To the start', group, run: () => go(0) },
    { keys: 'End', name: 'To the end', group, run: () => go(events.length) },
  ])
  return (
    <div className={styles.replay}>
      <div className={styles.scene}>
        {transcript.items.length === 0 ? (
          <Empty title="Nothing was said by then" />
        ) : (
          <Suspense fallback={<Loading />}>
            <Transcript items={pathTo(transcript, transcript.end)} label="Conversation by then" />
          </Suspense>
        )}
      </div>
      <div className={styles.controls}>
        <input
          ref={slider}
          type="range"
          className={styles.slider}
          min={0}
          max={events.length}
          step={1}
          value={at}
          aria-label="Event"
          aria-valuetext={
            current === undefined ? 'The start' : `Event ${at} of ${events.length}: ${current.event.type}`
          }
          onChange={(event) => go(Number(event.target.value))}
        />
        <div className={styles.bar}>
          <IconButton label="Previous event" icon={<StepBackIcon />} onClick={() => go(at - 1)} disabled={at === 0} />
          <Button icon={isPlaying ? <PauseIcon /> : <PlayIcon />} onClick={toggle}>
            {isPlaying ? 'Pause' : 'Play'}
          </Button>
          <IconButton
            label="Next event"
            icon={<StepForwardIcon />}
            onClick={() => go(at + 1)}
            disabled={at >= events.length}
          />
          <Button
            kind="quiet"
            aria-label={`Speed ${speed}`}
            onClick={() => setSpeed(speeds[(speeds.indexOf(speed as 1) + 1) % speeds.length] ?? 1)}
          >
            {`${speed}×`}
          </Button>
          <p className={styles.where}>
            <span>
              {fullCount(at)} of {fullCount(events.length)}
            </span>
            {current !== undefined && <code>{current.event.type}</code>}
            {(current?.at ?? null) !== null && <span>{preciseTime(current?.at ?? 0)}</span>}
            {progress !== null && <span role="status">{progress}</span>}
          </p>
        </div>
      </div>
    </div>
  )
}

/** How many events are shown if the event with this number is the last. */
function placeOf(events: readonly LogEvent[], seq: string | null): number | null {
  const wanted = Number(seq ?? Number.NaN)
  if (!Number.isSafeInteger(wanted)) return null
  const index = events.findIndex((one) => one.seq >= wanted)
  return index === -1 ? null : index + 1
}

function nextRun(events: readonly LogEvent[], at: number, step: 1 | -1): number {
  for (let i = at + (step === 1 ? 0 : -2); i >= 0 && i < events.length; i += step) {
    if (events[i]?.event.type === 'RUN_STARTED') return i + 1
  }
  return step === 1 ? events.length : 0
}

/** Between two kept states. */
const EVERY = 500

/** The conversation as it was at any event. Every so many events the state is kept, so going anywhere applies a few hundred at most. */
export function createReplay() {
  let events: readonly LogEvent[] = []
  /** `states[i]` is the state after `i * EVERY` events. */
  const states: FoldState[] = [createTranscriptFold().save()]
  const last = createTranscriptFold()
  let taken = 0
  /** Where the last question was: playing goes on from there. */
  let shown = { count: 0, fold: createTranscriptFold() }

  return {
    /** Takes the events that are new. Earlier ones must be the same as before. */
    extend(next: readonly LogEvent[]): void {
      events = next
      while (taken < events.length) {
        const upTo = Math.min(events.length, (Math.floor(taken / EVERY) + 1) * EVERY)
        last.add(events.slice(taken, upTo))
        taken = upTo
        if (taken % EVERY !== 0) continue
        states.push(last.save())
      }
    },
    /** The conversation after the first `wanted` events. */
    at(wanted: number): Conversation {
      const count = Math.min(events.length, Math.max(0, wanted))
      const key = Math.min(states.length - 1, Math.floor(count / EVERY))
      const isOnTheWay = shown.count <= count && shown.count >= key * EVERY
      if (!isOnTheWay) shown = { count: key * EVERY, fold: createTranscriptFold(states[key]) }
      shown.fold.add(events.slice(shown.count, count))
      shown.count = count
      return shown.fold.current()
    },
  }
}

/** Nobody wants to watch a wait, and nobody sees what changes faster than the screen. */
const LONGEST_MS = 1_000
const SHORTEST_MS = 16

/** How long to stay at an event before the next one, as it was, within limits. */
export function nextPause(events: readonly LogEvent[], at: number, speed: number): number {
  const [from, to] = [events[at - 1]?.at ?? null, events[at]?.at ?? null]
  const real = from === null || to === null ? 0 : to - from
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, real / speed))
}
