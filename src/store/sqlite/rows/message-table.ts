import type { DatabaseSync } from 'node:sqlite'
import type { StoredMessage } from '../../../domain/session/message.ts'
import { packMessage } from '../../packing/stored-fields.ts'
import { type MessageReads, MOST_ASIDE_CHARS, MOST_ASIDES } from '../../ports/messages.ts'
import { type Row, toMark, toMessage } from './rows.ts'
import type { SessionIds } from './session-table.ts'

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
        const { id, role, runId, createdAt, lane = null, supersededBy = null } = message
        const { content, extra } = packMessage(message)
        insert.run(sid, id, role, content, runId, createdAt, extra, lane, supersededBy)
      }
    },
    supersede(sid, after, byRun) {
      supersedeLanes.run(sid, after, byRun)
      supersede.run(sid, after, byRun)
    },
  }
}

export function createMessageReads(db: DatabaseSync, sid: SessionIds): MessageReads {
  const shown = 'SELECT * FROM messages WHERE sid = ?1 AND superseded_by IS NULL AND lane IS NULL'
  const newestMessages = db.prepare(`${shown} ORDER BY mid DESC LIMIT ?2 + 0`)
  const olderMessages = db.prepare(
    `${shown} AND mid < (SELECT mid FROM messages WHERE sid = ?1 AND id = ?3) ORDER BY mid DESC LIMIT ?2 + 0`,
  )
  // The + makes SQLite use the index of lanes, which is empty for most sessions.
  const asides = db.prepare(
    `SELECT * FROM messages WHERE sid = ?1 AND lane IS NOT NULL AND superseded_by IS NULL
     AND +mid > ?2 AND +mid < ifnull((SELECT mid FROM messages WHERE sid = ?1 AND id = ?3), 9e18) ORDER BY +mid DESC LIMIT ?4 + 0`,
  )
  const laneMessages = db.prepare(
    'SELECT * FROM messages WHERE sid = (SELECT sid FROM sessions WHERE id = ?) AND lane = ? AND superseded_by IS NULL ORDER BY mid DESC LIMIT ? + 0',
  )
  const everyMessage = db.prepare(
    'SELECT * FROM messages WHERE sid = (SELECT sid FROM sessions WHERE id = ?1) ORDER BY mid',
  )
  const known = db.prepare(
    'SELECT * FROM messages WHERE sid = (SELECT sid FROM sessions WHERE id = ?1) AND id IN (SELECT value FROM json_each(?2)) ORDER BY mid',
  )

  const marks = db.prepare(
    `SELECT id, lane, superseded_by FROM messages
     WHERE sid = (SELECT sid FROM sessions WHERE id = ?1) AND id IN (SELECT value FROM json_each(?2)) ORDER BY mid`,
  )
  const laterUserMessage = db.prepare(
    `SELECT 1 FROM messages WHERE sid = ?1 AND superseded_by IS NULL AND lane IS NULL AND role = 'user' AND mid > (SELECT mid FROM messages WHERE sid = ?1 AND id = ?2) LIMIT 1`,
  )

  return {
    async page(sessionId, limit, { before, maxChars = Number.POSITIVE_INFINITY, asides: withAsides = false } = {}) {
      const id = sid(sessionId)
      if (id === null) return []
      const values = before === undefined ? [id, limit] : [id, limit, before]
      const statement = before === undefined ? newestMessages : olderMessages
      const found: Row[] = []
      let chars = 0
      for (const row of statement.iterate(...values)) {
        found.push(row)
        chars += charsOf(row)
        if (chars >= maxChars) break
      }
      const oldest = found.at(-1)
      if (withAsides && oldest !== undefined) {
        let asideChars = 0
        for (const row of asides.iterate(id, Number(oldest.mid), before ?? null, MOST_ASIDES)) {
          found.push(row)
          asideChars += charsOf(row)
          if (asideChars >= MOST_ASIDE_CHARS) break
        }
        found.sort((a, b) => Number(b.mid) - Number(a.mid))
      }
      return found.reverse().map(toMessage)
    },
    async ofLane(sessionId, lane, limit) {
      return laneMessages.all(sessionId, lane, limit).map(toMessage).reverse()
    },
    async all(sessionId) {
      return everyMessage.all(sessionId).map(toMessage)
    },
    async known(sessionId, ids) {
      return ids.length === 0 ? [] : known.all(sessionId, JSON.stringify(ids)).map(toMessage)
    },
    async marks(sessionId, ids) {
      return ids.length === 0 ? [] : marks.all(sessionId, JSON.stringify(ids)).map(toMark)
    },
    async userSpokeAfter(sessionId, messageId) {
      const id = sid(sessionId)
      return id !== null && laterUserMessage.get(id, messageId) !== undefined
    },
  }
}

const charsOf = ({ content, extra }: Row): number => String(content).length + String(extra ?? '').length
