// Knows the readers of all processes on one store. The readers of this process are counted in memory. Others are told by rows, which
// are written a moment later and at most once a second.

import type { Clock } from '../../domain/clock.ts'
import type { Logger } from '../../domain/logger.ts'
import type { ReaderRow, ReaderRows } from '../../store/ports/reader-rows.ts'
import { ARRIVAL_MS, countedOnce, LATE_LEAVE_MS, type Presence } from './presence.ts'

export interface SharedPresenceOptions {
  rows: ReaderRows
  /** The name of this process: the owner of its lease. */
  replica: string
  clock: Pick<Clock, 'after' | 'mono'>
  logger: Logger
  /** Whether no other process lives. Then nothing is written and nobody is asked. */
  isAlone: () => boolean
}

export interface SharedPresence extends Presence {
  /** Stops, and removes the rows of this process. */
  close(): Promise<void>
}

/** A reader that leaves before this costs no row. */
const WRITE_AFTER_MS = 250
const WRITE_EVERY_MS = 1_000
/** How often a run that nobody reads here is looked for in the rows of others. */
const LOOK_EVERY_MS = 1_000
/** After this time every process has told of its readers. */
const NEWS_MS = WRITE_AFTER_MS + WRITE_EVERY_MS

interface Attended {
  sessionId: string
  runId: string
  graceMs: number
  onAbandoned: () => void
  /** When it counts as abandoned if nobody reads it until then. Null: when last asked, another process had a reader. */
  deadline: number | null
  wasRead: boolean
  /** Until then, the last reader that leaves ends the grace time. */
  hurriedUntil: number
}

export function createSharedPresence(options: SharedPresenceOptions): SharedPresence {
  const { clock, isAlone } = options
  const counts = new Map<string, { row: ReaderRow; readers: number }>()
  const attended = new Map<string, Attended>()
  const writer = createRowWriter(options, wantedRows)
  const watch = createWatch(
    options,
    () => [...attended.values()].filter((run) => !isReadHere(run) && run.deadline !== Number.POSITIVE_INFINITY),
    abandon,
  )
  let readers = 0

  const isReadHere = ({ sessionId, runId }: Attended): boolean =>
    counts.has(keyOf({ sessionId, runId })) || counts.has(keyOf({ sessionId, runId: null }))

  /** Only the owner of a run wants to know its readers, so those of a run that is attended here need no row. */
  function* wantedRows(): Generator<ReaderRow> {
    for (const { row } of counts.values()) if (row.runId === null || !attended.has(row.runId)) yield row
  }

  function abandon(run: Attended): void {
    if (attended.get(run.runId) !== run) return
    // It is told once. The run ends now.
    attended.delete(run.runId)
    run.onAbandoned()
  }

  function count(row: ReaderRow, change: 1 | -1): void {
    const key = keyOf(row)
    const now = (counts.get(key)?.readers ?? 0) + change
    if (now === 0) counts.delete(key)
    else counts.set(key, { row, readers: now })
    readers += change
    writer.note()
    if (now > 1) return
    for (const run of attended.values()) {
      if (run.sessionId !== row.sessionId || (row.runId !== null && row.runId !== run.runId)) continue
      if (isReadHere(run)) run.wasRead = true
      else run.deadline = clock.mono() + (clock.mono() < run.hurriedUntil ? shortest() : run.graceMs)
    }
    if (change === -1) watch.begin()
  }

  /** A reader may have come to another process just now. */
  const shortest = (): number => (isAlone() ? 0 : NEWS_MS)

  return {
    arrive(sessionId, runId) {
      const row = { sessionId, runId: runId ?? null }
      return countedOnce((change) => count(row, change))
    },

    attend({ sessionId, runId, graceMs }, onAbandoned) {
      const deadline = clock.mono() + Math.max(graceMs, ARRIVAL_MS)
      const run: Attended = { sessionId, runId, graceMs, onAbandoned, deadline, wasRead: false, hurriedUntil: 0 }
      run.wasRead = isReadHere(run)
      attended.set(runId, run)
      watch.begin()
      return () => {
        if (attended.get(runId) !== run) return
        attended.delete(runId)
        // Another process may have the run now, and its readers here need rows.
        writer.note()
      }
    },

    hurry(_sessionId, runId) {
      const run = attended.get(runId)
      if (run === undefined || !run.wasRead) return
      run.hurriedUntil = clock.mono() + LATE_LEAVE_MS
      if (isReadHere(run) || run.deadline === null) return
      run.deadline = Math.min(run.deadline, clock.mono() + shortest())
      watch.begin()
    },

    get readers() {
      return readers
    },

    async close() {
      watch.stop()
      await writer.close()
    },
  }
}

const keyOf = ({ sessionId, runId }: ReaderRow): string => JSON.stringify([sessionId, runId])

/** Keeps the rows of this process as they are wanted. */
function createRowWriter(
  { rows, replica, clock, logger, isAlone }: SharedPresenceOptions,
  wantedRows: () => Iterable<ReaderRow>,
) {
  const written = new Map<string, ReaderRow>()
  let cancelTimer: (() => void) | null = null
  let lastWrite = Number.NEGATIVE_INFINITY
  let isClosed = false

  function note(): void {
    if (isClosed || cancelTimer !== null) return
    const ms = Math.max(WRITE_AFTER_MS, lastWrite + WRITE_EVERY_MS - clock.mono())
    cancelTimer = clock.after(ms, () => void write())
  }

  async function write(): Promise<void> {
    const wanted = new Map([...wantedRows()].map((row) => [keyOf(row), row]))
    // Whoever comes later must find them, so it looks again.
    const isPostponed = isAlone() && wanted.size > 0
    const added = isPostponed ? [] : [...wanted].filter(([key]) => !written.has(key))
    const removed = [...written].filter(([key]) => !wanted.has(key))
    lastWrite = clock.mono()
    let isDone = !isPostponed
    try {
      if (added.length + removed.length > 0) {
        await rows.change(
          replica,
          added.map(([, row]) => row),
          removed.map(([, row]) => row),
        )
      }
      for (const [key, row] of added) written.set(key, row)
      for (const [key] of removed) written.delete(key)
    } catch (error) {
      isDone = false
      logger.warn('other processes could not be told who reads here; it is tried again', { error })
    }
    cancelTimer = null
    // What changed while it wrote is for the next time.
    if (!isDone || !isCurrent()) note()
  }

  function isCurrent(): boolean {
    let wanted = 0
    for (const row of wantedRows()) {
      wanted += 1
      if (!written.has(keyOf(row))) return false
    }
    return wanted === written.size
  }

  return {
    note,
    async close() {
      isClosed = true
      cancelTimer?.()
      if (written.size === 0) return
      // The rows do not count once the lease has ended, so a failure does no harm.
      await rows.change(replica, [], [...written.values()]).catch(() => {})
    },
  }
}

/** Looks whether other processes have readers of the runs that nobody reads here. */
function createWatch(
  { rows, replica, clock, isAlone }: SharedPresenceOptions,
  unread: () => Attended[],
  onAbandoned: (run: Attended) => void,
) {
  let cancelTimer: (() => void) | null = null
  let isLooking = false
  let isStopped = false

  function begin(): void {
    if (isStopped || isLooking) return
    cancelTimer?.()
    cancelTimer = null
    const runs = unread()
    if (runs.length === 0) return
    const first = Math.min(...runs.map(({ deadline }) => deadline ?? Number.POSITIVE_INFINITY))
    const ms = Math.min(LOOK_EVERY_MS, Math.max(first - clock.mono(), 0))
    cancelTimer = clock.after(ms, () => void look())
  }

  async function look(): Promise<void> {
    isLooking = true
    const asked = unread()
    const sessionIds = [...new Set(asked.map(({ sessionId }) => sessionId))]
    const elsewhere = await readElsewhere(sessionIds)
    const now = clock.mono()
    const still = new Set(unread())
    for (const run of asked) {
      if (!still.has(run)) continue
      const { sessionId, runId, graceMs, deadline, hurriedUntil } = run
      const isRead = elsewhere?.some((row) => row.sessionId === sessionId && (row.runId ?? runId) === runId)
      if (isRead === true) Object.assign(run, { deadline: null, wasRead: true })
      // Nobody knows who reads while the store is away, so the grace time begins anew.
      else if (isRead === undefined) run.deadline = now + graceMs
      // A reader elsewhere is seen to leave later than one here.
      else if (deadline === null)
        run.deadline = now + (now < hurriedUntil + NEWS_MS + LOOK_EVERY_MS ? NEWS_MS : graceMs)
      else if (now >= deadline) onAbandoned(run)
    }
    isLooking = false
    begin()
  }

  /** Null: the store does not answer. */
  async function readElsewhere(sessionIds: readonly string[]): Promise<ReaderRow[] | null> {
    if (isAlone() || sessionIds.length === 0) return []
    try {
      return await rows.readElsewhere(replica, sessionIds)
    } catch {
      return null
    }
  }

  return {
    begin,
    stop() {
      isStopped = true
      cancelTimer?.()
    },
  }
}
