// What channels still have to show, how far each has looked at the feed, and what each remembers for itself.

import type { ChannelNote, QueuedDelivery } from '../../domain/supervision/delivery.ts'
import type { OutboxReads } from '../ports/outbox.ts'
import type { RowWrites } from './row-writes.ts'
import { putRow, type Reading, removeRow } from './statement.ts'

const DELIVERY_COLUMNS = 'channel, n, item, count, attempts, next_try_at'
type DeliveryRow = [channel: string, n: number, item: string | null, count: number, attempts: number, nextTryAt: number]

export const toDelivery = ([channel, n, item, count, attempts, nextTryAt]: DeliveryRow): QueuedDelivery => ({
  channel,
  n,
  item: item === null ? null : JSON.parse(item),
  count,
  attempts,
  nextTryAt,
})

const NOTE_COLUMNS = 'channel, key, session, value, at'
type NoteRow = [channel: string, key: string, session: string | null, value: string, at: number]

export const toNote = ([channel, key, session, value, at]: NoteRow): ChannelNote => ({
  channel,
  key,
  session,
  value,
  at,
})

export const outboxStatements = {
  cursor: { name: 'channel_cursor', text: 'SELECT cursor FROM channels WHERE name = $1' },
  deliveries: {
    name: 'channel_deliveries',
    text: `SELECT ${DELIVERY_COLUMNS} FROM outbox WHERE channel = $1 ORDER BY n`,
  },
  note: { name: 'channel_note', text: `SELECT ${NOTE_COLUMNS} FROM channel_notes WHERE channel = $1 AND key = $2` },
  notes: { name: 'channel_notes', text: `SELECT ${NOTE_COLUMNS} FROM channel_notes WHERE channel = $1 ORDER BY key` },
  notesOf: {
    name: 'channel_notes_about',
    text: `SELECT ${NOTE_COLUMNS} FROM channel_notes WHERE session = $1 ORDER BY channel, key`,
  },
} as const

export const toCursor = ([cursor]: [number]): number => cursor

export const createOutboxReads = ({ one, many }: Reading): OutboxReads => ({
  cursor: one(outboxStatements.cursor, toCursor),
  deliveries: many(outboxStatements.deliveries, toDelivery),
  note: one(outboxStatements.note, toNote),
  notes: many(outboxStatements.notes, toNote),
  notesOf: many(outboxStatements.notesOf, toNote),
})

export const outboxWrites: RowWrites<
  'put_outbox_cursor' | 'put_delivery' | 'remove_delivery' | 'put_note' | 'remove_note'
> = {
  put_outbox_cursor: {
    statement: putRow('channels', 'name, cursor', 'name'),
    values: ({ channel, n }) => [channel, n],
  },
  put_delivery: {
    statement: putRow('outbox', DELIVERY_COLUMNS, 'channel, n'),
    values: ({ delivery: { channel, n, item, count, attempts, nextTryAt } }) => [
      ...[channel, n, item === null ? null : JSON.stringify(item), count, attempts, nextTryAt],
    ],
  },
  remove_delivery: { statement: removeRow('outbox', 'channel, n'), values: ({ channel, n }) => [channel, n] },
  put_note: {
    statement: putRow('channel_notes', NOTE_COLUMNS, 'channel, key'),
    values: ({ note: { channel, key, session, value, at } }) => [channel, key, session, value, at],
  },
  remove_note: {
    statement: removeRow('channel_notes', 'channel, key'),
    values: ({ channel, key }) => [channel, key],
  },
}
