// Lookups that several rules share, with the errors for rows that are missing or in the way.

import { fileNotFound, runNotFound, ServerError, sessionNotFound } from '../../domain/errors.ts'
import type { AnyRecord } from '../../domain/records/record.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import { ask, type Rule } from './rows.ts'

export const conflict = (message: string): ServerError => new ServerError('conflict', message)

export const taken = (what: string, id: string): ServerError => conflict(`There is already a ${what} ${id}.`)

/** Throws `run_not_found`. */
export function* findRun(runId: string): Rule<RunRecord> {
  const run = yield* ask('run', runId)
  if (run === null) throw runNotFound(runId)
  return run
}

/** Throws `session_not_found`. */
export function* findSession(sessionId: string): Rule<SessionRecord> {
  const session = yield* ask('session', sessionId)
  if (session === null) throw sessionNotFound(sessionId)
  return session
}

/** Those of the waits that exist. With a session: only its waits. Null: a session that does not exist yet, so none. */
export function* findWaits(ids: readonly string[], sessionId?: string | null): Rule<Map<string, AnyRecord>> {
  const found = new Map<string, AnyRecord>()
  for (const id of new Set(ids)) {
    const wait = yield* ask('wait', id)
    if (wait !== null && (sessionId === undefined || wait.sessionId === sessionId)) found.set(id, wait)
  }
  return found
}

/**
 * Throws `file_not_found` unless the owner has all these files, and they belong to this session or to none. (Null: a session
 * that is about to be created.) Another owner's file looks like a missing one.
 */
export function* refuseFiles(ids: readonly string[], owner: string, sessionId: string | null): Rule<void> {
  for (const id of ids) {
    const file = yield* ask('file', id)
    const isFree = file?.sessionId === null || (sessionId !== null && file?.sessionId === sessionId)
    if (file?.owner !== owner || !isFree) throw fileNotFound(id)
  }
}
