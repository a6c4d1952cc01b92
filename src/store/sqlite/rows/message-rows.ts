import type { DatabaseSync } from 'node:sqlite'
import type { StoredMessage } from '../../../domain/message.ts'
import { isPlainText, messageExtra } from './rows.ts'

/** Writes the rows of messages. */
export interface MessageRows {
  /** A message with a known id is ignored, except that an activity takes the content of a later one. */
  insert(sid: number, messages: readonly StoredMessage[]): void
  supersede(sid: number, after: string, byRun: string): void
}

export function createMessageRows(db: DatabaseSync): MessageRows {
  const insert = db.prepare(
    `INSERT INTO messages (sid, id, role, content, run_id, created_at, extra, lane, superseded_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (sid, id) DO UPDATE SET extra = excluded.extra WHERE messages.role = 'activity' AND excluded.role = 'activity'`,
  )
  // Two statements, one for each index: the session's own messages, and those of sub-agents.
  const supersedeLanes = db.prepare(
    `UPDATE messages SET superseded_by = ?3 WHERE sid = ?1 AND superseded_by IS NULL AND lane IS NOT NULL AND +mid > (SELECT mid FROM messages WHERE sid = ?1 AND id = ?2)`,
  )
  const supersede = db.prepare(
    `UPDATE messages SET superseded_by = ?3 WHERE sid = ?1 AND superseded_by IS NULL AND lane IS NULL AND mid > (SELECT mid FROM messages WHERE sid = ?1 AND id = ?2)`,
  )

  return {
    insert(sid, messages) {
      for (const message of messages) {
        const { id, role, content, runId, createdAt, lane = null, supersededBy = null } = message
        const stored = isPlainText(content) ? content : JSON.stringify(content)
        insert.run(sid, id, role, stored, runId, createdAt, messageExtra(message), lane, supersededBy)
      }
    },
    supersede(sid, after, byRun) {
      supersedeLanes.run(sid, after, byRun)
      supersede.run(sid, after, byRun)
    },
  }
}
