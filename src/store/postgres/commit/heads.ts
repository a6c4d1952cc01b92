// The heads of the sessions that a transaction has locked: the seq of the last entry, and the run that may write text.

import type { RunRecord } from '../../../domain/session/run.ts'
import { isExecuted } from '../../rules/run-rules.ts'
import { columnsOf, insertRows, type Sending, setAll, updateRows } from './batch.ts'

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

export type Heads = ReturnType<typeof createHeads>

const columns = { session: 'text', head: 'bigint', ceiling: 'bigint', run: 'text', fence: 'bigint' } as const
const insert = insertRows('insert_heads', 'heads', columns)
const update = updateRows('update_heads', 'heads', columns, ['session'], setAll(['head', 'ceiling', 'run', 'fence']))

/** The heads of one transaction. */
export function createHeads() {
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
    /** Undefined: the session does not exist, or is not locked. */
    get: (session: string): Head | undefined => heads.get(session),
    /** Rows that were locked. */
    add(rows: readonly HeadRow[]): void {
      for (const [session, head, ceiling, run, fence] of rows) {
        if (!heads.has(session)) heads.set(session, { session, head, ceiling, run, fence })
      }
    },
    /** The session is new. */
    make(session: string): void {
      const head: Head = { session, head: 0, ceiling: 0, run: null, fence: null }
      heads.set(session, head)
      made.add(head)
      touch(session)
    },
    /** The session is gone. */
    drop(session: string): void {
      const head = touch(session)
      heads.delete(session)
      for (const set of [made, unsent, changed]) set.delete(head)
    },
    /** Entries were written up to this seq. */
    move(session: string, seq: number): void {
      const head = touch(session)
      head.head = seq
      if (seq > head.ceiling - SEQ_BLOCK / 2) head.ceiling = seq + SEQ_BLOCK
    },
    /** The run is as it says here from now on. */
    setRun(run: RunRecord): void {
      const isOver = !isExecuted(run)
      // Another run may be executed meanwhile.
      if (isOver && heads.get(run.sessionId)?.run !== run.id) return
      const head = touch(run.sessionId)
      head.run = isOver ? null : run.id
      head.fence = isOver ? null : run.fence
    },
    /** All heads that this transaction has changed so far. */
    changed: (): Iterable<Head> => changed,
    /** Sends the changes. */
    flush(sending: Sending): void {
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
