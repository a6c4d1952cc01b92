import type { DatabaseSync } from 'node:sqlite'
import type { ChannelNote, QueuedDelivery } from '../../../domain/supervision/delivery.ts'
import type { Row } from './rows.ts'

/** What channels still have to show, how far each has looked at the feed, and what each remembers for itself. */
export interface OutboxTable {
  cursor(channel: string): number | null
  /** Oldest first. */
  deliveries(channel: string): QueuedDelivery[]
  putCursor(channel: string, n: number): void
  put(delivery: QueuedDelivery): void
  remove(channel: string, n: number): void
  note(channel: string, key: string): ChannelNote | null
  /** In the order of their keys. */
  notes(channel: string): ChannelNote[]
  /** Of all channels, about this session. */
  notesOf(sessionId: string): ChannelNote[]
  putNote(note: ChannelNote): void
  removeNote(channel: string, key: string): void
  /** Removes the notes about this session. */
  forgetSession(sessionId: string): void
}

export function createOutboxTable(db: DatabaseSync): OutboxTable {
  const sql = {
    cursor: db.prepare('SELECT cursor FROM channels WHERE name = ?'),
    deliveries: db.prepare('SELECT * FROM outbox WHERE channel = ? ORDER BY n'),
    putCursor: db.prepare('INSERT OR REPLACE INTO channels (name, cursor) VALUES (?, ?)'),
    put: db.prepare(
      'INSERT OR REPLACE INTO outbox (channel, n, item, count, attempts, next_try_at) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    remove: db.prepare('DELETE FROM outbox WHERE channel = ? AND n = ?'),
    note: db.prepare('SELECT * FROM channel_notes WHERE channel = ? AND key = ?'),
    notes: db.prepare('SELECT * FROM channel_notes WHERE channel = ? ORDER BY key'),
    notesOf: db.prepare('SELECT * FROM channel_notes WHERE session = ? ORDER BY channel, key'),
    putNote: db.prepare(
      'INSERT OR REPLACE INTO channel_notes (channel, key, session, value, at) VALUES (?, ?, ?, ?, ?)',
    ),
    removeNote: db.prepare('DELETE FROM channel_notes WHERE channel = ? AND key = ?'),
    forgetSession: db.prepare('DELETE FROM channel_notes WHERE session = ?'),
  }
  return {
    cursor(channel) {
      const row = sql.cursor.get(channel)
      return row === undefined ? null : Number(row.cursor)
    },
    deliveries: (channel) => sql.deliveries.all(channel).map(toDelivery),
    putCursor: (channel, n) => void sql.putCursor.run(channel, n),
    put({ channel, n, item, count, attempts, nextTryAt }) {
      sql.put.run(channel, n, item === null ? null : JSON.stringify(item), count, attempts, nextTryAt)
    },
    remove: (channel, n) => void sql.remove.run(channel, n),
    note(channel, key) {
      const row = sql.note.get(channel, key)
      return row === undefined ? null : toNote(row)
    },
    notes: (channel) => sql.notes.all(channel).map(toNote),
    notesOf: (sessionId) => sql.notesOf.all(sessionId).map(toNote),
    putNote: ({ channel, key, session, value, at }) => void sql.putNote.run(channel, key, session, value, at),
    removeNote: (channel, key) => void sql.removeNote.run(channel, key),
    forgetSession: (sessionId) => void sql.forgetSession.run(sessionId),
  }
}

const toNote = (row: Row): ChannelNote => ({
  channel: String(row.channel),
  key: String(row.key),
  session: row.session === null ? null : String(row.session),
  value: String(row.value),
  at: Number(row.at),
})

const toDelivery = (row: Row): QueuedDelivery => ({
  channel: String(row.channel),
  n: Number(row.n),
  item: row.item === null ? null : JSON.parse(String(row.item)),
  count: Number(row.count),
  attempts: Number(row.attempts),
  nextTryAt: Number(row.next_try_at),
})
