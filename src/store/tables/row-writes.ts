// The changes that are one statement each, the same on both databases, and about a row that no other change of the same command is
// about. Every other change is written by hand, in `sqlite/rows/row-writer.ts` and `postgres/commit/row-writer.ts`.

import { dayOf, USAGE_DAYS } from '../ports/usage.ts'
import type { Change, ChangeOf } from '../rules/rows.ts'
import { feedbackWrites } from './feedback.ts'
import { fileWrites } from './files.ts'
import { eraseSessionGrants, grantWrites } from './grants.ts'
import { outboxWrites } from './outbox.ts'
import { putRow, type Statement } from './statement.ts'
import { supervisedWrites } from './supervised.ts'

/** For each change its statement, and the values of `$1`, `$2`, …. */
export type RowWrites<Write extends Change['write']> = {
  readonly [W in Write]: {
    readonly statement: Statement
    values(change: ChangeOf<W>): readonly unknown[]
  }
}

const leaseWrites: RowWrites<'renew_lease' | 'end_other_leases'> = {
  renew_lease: { statement: putRow('leases', 'owner, until', 'owner'), values: ({ owner, until }) => [owner, until] },
  end_other_leases: {
    statement: { name: 'end_other_leases', text: 'DELETE FROM leases WHERE owner <> $1' },
    values: ({ owner }) => [owner],
  },
}

export const rowWrites = {
  ...outboxWrites,
  ...supervisedWrites,
  ...grantWrites,
  ...fileWrites,
  ...feedbackWrites,
  ...leaseWrites,
}

export type RowChange = ChangeOf<keyof typeof rowWrites>

export const isRowChange = (change: Change): change is RowChange => change.write in rowWrites

/** How a store writes the other changes. */
export type OtherWrites<Result> = {
  readonly [W in Exclude<Change['write'], RowChange['write']>]: (change: ChangeOf<W>) => Result
}

/** The statement of a change, and its values. */
export function rowWriteOf(change: RowChange): [Statement, readonly unknown[]] {
  const { statement, values } = rowWrites[change.write]
  return [statement, (values as (one: RowChange) => readonly unknown[])(change)]
}

/** What these tables have of a session goes with it. `$1` is its id. The audit trail stays: it has no content. */
export const eraseRows: readonly Statement[] = [
  ...['waits', 'proposals', 'instructions', 'checkpoints', 'files', 'channel_notes', 'feedback'].map((table) => ({
    name: `erase_${table}`,
    text: `DELETE FROM ${table} WHERE session = $1`,
  })),
  eraseSessionGrants,
]

/** Removes what is too old at `now`. */
export const expiredRows: readonly {
  readonly statement: Statement
  before(change: ChangeOf<'remove_expired'>): number
}[] = [
  {
    statement: { name: 'remove_expired_keys', text: 'DELETE FROM idempotency WHERE expires_at <= $1' },
    before: ({ now }) => now,
  },
  {
    statement: { name: 'remove_expired_grants', text: 'DELETE FROM grants WHERE expires_at <= $1' },
    before: ({ now }) => now,
  },
  {
    statement: { name: 'remove_unsent_files', text: 'DELETE FROM files WHERE session IS NULL AND created_at < $1' },
    before: ({ unsentBefore }) => unsentBefore,
  },
  {
    statement: { name: 'remove_old_usage', text: 'DELETE FROM usage WHERE day < $1' },
    before: ({ now }) => dayOf(now) - USAGE_DAYS,
  },
]
