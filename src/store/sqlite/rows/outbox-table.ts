import type { DatabaseSync } from 'node:sqlite'
import type { Delivery } from '../../../domain/delivery.ts'
import type { Row } from './rows.ts'

/** What channels still have to show, and how far each has looked at the feed. */
export interface OutboxTable {
  cursor(channel: string): number | null
  /** Oldest first. */
  deliveries(channel: string): Delivery[]
  putCursor(channel: string, n: number): void
  put(delivery: Delivery): void
  remove(channel: string, n: number): void
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
  }
}

const toDelivery = (row: Row): Delivery => ({
  channel: String(row.channel),
  n: Number(row.n),
  item: row.item === null ? null : JSON.parse(String(row.item)),
  count: Number(row.count),
  attempts: Number(row.attempts),
  nextTryAt: Number(row.next_try_at),
})
