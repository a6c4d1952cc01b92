import type { ChannelNote, QueuedDelivery } from '../../../domain/supervision/delivery.ts'
import type { OutboxReads } from '../../ports/outbox.ts'
import type { Sql, Statement } from '../sql.ts'

type DeliveryRow = [channel: string, n: number, item: string | null, count: number, attempts: number, nextTryAt: number]
type NoteRow = [channel: string, key: string, session: string | null, value: string, at: number]

const toDelivery = ([channel, n, item, count, attempts, nextTryAt]: DeliveryRow): QueuedDelivery => ({
  channel,
  n,
  item: item === null ? null : JSON.parse(item),
  count,
  attempts,
  nextTryAt,
})

const toNote = ([channel, key, session, value, at]: NoteRow): ChannelNote => ({ channel, key, session, value, at })

const cursorOf: Statement = { name: 'channel_cursor', text: 'SELECT cursor FROM channels WHERE name = $1' }
const deliveriesOf: Statement = {
  name: 'channel_deliveries',
  text: 'SELECT channel, n, item, count, attempts, next_try_at FROM outbox WHERE channel = $1 ORDER BY n',
}
const NOTE_COLUMNS = 'channel, key, session, value, at'
const noteByKey: Statement = {
  name: 'channel_note',
  text: `SELECT ${NOTE_COLUMNS} FROM channel_notes WHERE channel = $1 AND key = $2`,
}
const notesOf: Statement = {
  name: 'channel_notes',
  text: `SELECT ${NOTE_COLUMNS} FROM channel_notes WHERE channel = $1 ORDER BY key`,
}
const notesAbout: Statement = {
  name: 'channel_notes_about',
  text: `SELECT ${NOTE_COLUMNS} FROM channel_notes WHERE session = $1 ORDER BY channel, key`,
}

export function createOutboxReads(sql: Sql): OutboxReads {
  return {
    async cursor(channel) {
      const [row] = await sql.rows<[number]>(cursorOf, [channel])
      return row?.[0] ?? null
    },
    async deliveries(channel) {
      return (await sql.rows<DeliveryRow>(deliveriesOf, [channel])).map(toDelivery)
    },
    async note(channel, key) {
      const [row] = await sql.rows<NoteRow>(noteByKey, [channel, key])
      return row === undefined ? null : toNote(row)
    },
    async notes(channel) {
      return (await sql.rows<NoteRow>(notesOf, [channel])).map(toNote)
    },
    async notesOf(sessionId) {
      return (await sql.rows<NoteRow>(notesAbout, [sessionId])).map(toNote)
    },
  }
}
