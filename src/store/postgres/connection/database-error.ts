// What Postgres's errors mean to the store.

import { ServerError } from '../../../domain/errors.ts'

/** The five characters by which Postgres names an error. Empty for errors of the network. */
export const sqlState = (error: unknown): string =>
  error instanceof Error && 'severity' in error && 'code' in error ? String(error.code) : ''

/** There is no connection, or it ended before the answer came. */
export class ConnectionFailed extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'ConnectionFailed'
  }
}

/** The server or the connection is gone, or the server may not be written to: another connection may work, now or soon. */
export function isAway(error: unknown): boolean {
  const state = sqlState(error)
  return error instanceof ConnectionFailed || state.startsWith('08') || AWAY.has(state)
}

const AWAY = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '53300', // too_many_connections
  '25P03', // idle_in_transaction_session_timeout
  '25006', // read_only_sql_transaction: the server became a standby
  '55000', // a server that is being promoted or recovers
])

/** The transaction lost a race. Nothing of it was written, and it may go well the next time. */
export const isRace = (error: unknown): boolean => RACES.has(sqlState(error))

const RACES = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '23505', // unique_violation
  '55P03', // lock_not_available
])

/** A name or an id does not fit into an index. Clients choose some of them, and nothing else limits their length. */
export const isTooLong = (error: unknown): boolean => sqlState(error) === '54000'

export const nameTooLong = (cause: unknown): ServerError =>
  new ServerError(
    'invalid_request',
    'An id or a name in the request is too long for the database. Send at most 500 characters.',
    { cause },
  )

/** The error that callers of the store get. */
export function databaseError(error: unknown): unknown {
  if (error instanceof ServerError) return error
  const state = sqlState(error)
  const failed = (code: 'storage_full' | 'storage_failed', message: string) =>
    new ServerError(code, message, { cause: error })
  if (state === '53100') {
    return failed('storage_full', 'The disk of the database is full: nothing was stored. Free some space.')
  }
  if (isAway(error)) return failed('storage_failed', 'The database cannot be reached. Try again soon.')
  if (isRace(error) || state === '57014') return failed('storage_failed', 'The database is too busy. Try again soon.')
  if (state === '') return error
  return failed('storage_failed', 'The database refused a statement. See the server log.')
}
