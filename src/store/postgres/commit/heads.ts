// The heads of the sessions that a transaction has locked: the seq of the last entry, and the run that may write text.

import type { RunRecord } from '../../../domain/session/run.ts'
import { columnsOf, insertRows, type Sending, updateRows } from './batch.ts'

export interface Head {
  readonly session: string
  /** Seq of the last entry, or above it. */
  head: number
  /** Reserved on disk: after a crash of Postgres, no seq up to here is used again. */
  ceiling: number
  /** The run that a process executes. Null: there is none. */
  run: string | null
  fence: number | null
}

/** Seqs are reserved in blocks of this size, and the next block when half of the last one is used. */
export const SEQ_BLOCK = 10_000

/**
 * After a crash of Postgres, the heads of running sessions lie at their ceilings until the process that executes the run has come back
 * and has written again what was lost. Nobody else may write behind the text that is missing: readers would go on after it.
 */
export const isAwaited = (head: Head | undefined): boolean =>
  head !== undefined && head.run !== null && head.head === head.ceiling

export type HeadRow = [session: string, head: number, ceiling: number, run: string | null, fence: number | null]

/** The heads of one transaction. */
export interface Heads {
  /** Undefined: the session does not exist, or is not locked. */
  get(session: string): Head | undefined
  /** Rows that were locked. */
  add(rows: readonly HeadRow[]): void
  /** The session is new. */
  make(session: string): void
  /** The session is gone. */
  drop(session: string): void
  /** Entries were written up to this seq. */
  move(session: string, head: number): void
  /** The run is as it says here from now on. */
  setRun(run: RunRecord): void
  /** All heads that this transaction has changed so far. */
  changed(): Iterable<Head>
  /** Sends the changes. */
  flush(sending: Sending): void
}

const columns = { session: 'text', head: 'bigint', ceiling: 'bigint', run: 'text', fence: 'bigint' } as const
const insert = insertRows('insert_heads', 'heads', columns)
const update = updateRows(
  'update_heads',
  'heads',
  columns,
  ['session'],
  'head = given.head, ceiling = given.ceiling, run = given.run, fence = given.fence',
)

export const isExecuted = ({ status, leaseOwner }: RunRecord): boolean => status === 'running' && leaseOwner !== null

export function createHeads(): Heads {
  const heads = new Map<string, Head>()
  const made = new Set<Head>()
  const unsent = new Set<Head>()
  const changed = new Set<Head>()

  function touch(session: string): Head {
    const head = heads.get(session)
    if (head === undefined) throw new Error(`The rules change session ${session}, which is not locked.`)
    unsent.add(head)
    changed.add(head)
    return head
  }

  return {
    get: (session) => heads.get(session),
    add(rows) {
      for (const [session, head, ceiling, run, fence] of rows) {
        if (!heads.has(session)) heads.set(session, { session, head, ceiling, run, fence })
      }
    },
    make(session) {
      const head: Head = { session, head: 0, ceiling: 0, run: null, fence: null }
      heads.set(session, head)
      made.add(head)
      touch(session)
    },
    drop(session) {
      const head = touch(session)
      heads.delete(session)
      for (const set of [made, unsent, changed]) set.delete(head)
    },
    move(session, seq) {
      const head = touch(session)
      head.head = seq
      if (seq > head.ceiling - SEQ_BLOCK / 2) head.ceiling = seq + SEQ_BLOCK
    },
    setRun(run) {
      const isOver = !isExecuted(run)
      // Another run may be executed meanwhile.
      if (isOver && heads.get(run.sessionId)?.run !== run.id) return
      const head = touch(run.sessionId)
      head.run = isOver ? null : run.id
      head.fence = isOver ? null : run.fence
    },
    changed: () => changed,
    flush(sending) {
      for (const [statement, isMade] of [
        [insert, true],
        [update, false],
      ] as const) {
        const rows = [...unsent].filter((head) => made.has(head) === isMade)
        if (rows.length === 0) continue
        sending.send(statement, columnsOf(rows.map((one) => [one.session, one.head, one.ceiling, one.run, one.fence])))
      }
      unsent.clear()
      made.clear()
    },
  }
}
