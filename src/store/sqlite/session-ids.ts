import type { DatabaseSync } from 'node:sqlite'
import type { LiveState } from './live-sessions.ts'

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
