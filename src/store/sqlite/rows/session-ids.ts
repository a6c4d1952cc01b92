import type { DatabaseSync } from 'node:sqlite'
import type { LiveState } from '../live-sessions.ts'

/** The number that a session has in the tables, null when there is no such session. */
export type SessionIds = (sessionId: string) => number | null

export function createSessionIds(db: DatabaseSync, state: LiveState): SessionIds {
  const find = db.prepare('SELECT sid FROM sessions WHERE id = ?')
  return (sessionId) => {
    const live = state.sessions.get(sessionId)
    if (live !== undefined) return live.sid
    const row = find.get(sessionId)
    return row === undefined ? null : Number(row.sid)
  }
}

/** Remembers the session of the current command, so that its number is looked up once and not for every row. */
export interface CommandSession {
  sid: SessionIds
  /** The command read this session's row, or found that there is none. */
  found(sessionId: string, sid: number | null): void
  /** The command created this session, so its log is empty. */
  made(sessionId: string, sid: number): void
  isNew(sessionId: string): boolean
  /** Call it before each command: the last one may have been rolled back. */
  forget(): void
}

export function createCommandSession(lookUp: SessionIds): CommandSession {
  let known: string | null = null
  let knownSid: number | null = null
  let isNew = false

  function found(sessionId: string, sid: number | null): void {
    known = sessionId
    knownSid = sid
    isNew = false
  }

  return {
    sid(sessionId) {
      if (sessionId !== known) found(sessionId, lookUp(sessionId))
      return knownSid
    },
    found,
    made(sessionId, sid) {
      found(sessionId, sid)
      isNew = true
    },
    isNew: (sessionId) => isNew && sessionId === known,
    forget() {
      known = null
    },
  }
}
