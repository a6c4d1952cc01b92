import type { MessageMark, StoredMessage } from '../../../domain/session/message.ts'
import { unpackMark, unpackMessage } from '../../packing/stored-fields.ts'
import { type MessageReads, MOST_ASIDE_CHARS, MOST_ASIDES } from '../../ports/messages.ts'
import type { Statement } from '../../tables/statement.ts'
import type { Sql } from '../sql.ts'
import { bytesFor, isEverything, withinBytes } from './bounded-rows.ts'

export const MESSAGE_COLUMNS = 'id, lane, superseded_by, role, content, run_id, created_at, extra, ord'
export type MessageRow = [
  ...mark: MarkRow,
  role: string,
  content: string,
  runId: string,
  createdAt: number,
  extra: string | null,
  ord: number,
]
const MARK_COLUMNS = 'id, lane, superseded_by'
export type MarkRow = [id: string, lane: string | null, supersededBy: string | null]

export const toMark = ([id, lane, supersededBy]: MarkRow): MessageMark => unpackMark({ id, lane, supersededBy })

export const toMessage = ([
  id,
  lane,
  supersededBy,
  role,
  content,
  runId,
  createdAt,
  extra,
]: MessageRow): StoredMessage => unpackMessage({ id, lane, supersededBy, role, content, runId, createdAt, extra })

const ordOf = (row: MessageRow): number => row[8]
const charsOf = ([, , , , content, , , extra]: MessageRow): number => content.length + (extra?.length ?? 0)

/** More than any place in the table. */
const END = Number.MAX_SAFE_INTEGER

/** At most `$3` of these messages and about `$4` bytes, newest first. */
const newestOf = (messages: string): string =>
  withinBytes({
    rows: `SELECT ${MESSAGE_COLUMNS} ${messages} ORDER BY ord DESC LIMIT $3`,
    columns: MESSAGE_COLUMNS,
    bytes: 'octet_length(content) + coalesce(octet_length(extra), 0)',
    order: 'ord DESC',
    limit: '$4',
  })

const SHOWN = 'FROM messages WHERE session = $1 AND superseded_by IS NULL AND lane IS NULL'

/** Before the place `$2`. */
const shown: Statement = { name: 'messages_shown', text: newestOf(`${SHOWN} AND ord < $2`) }

const asides: Statement = {
  name: 'messages_asides',
  text: newestOf(
    'FROM messages WHERE session = $1 AND superseded_by IS NULL AND lane IS NOT NULL AND ord < $2 AND ord > $5',
  ),
}

const placeOf: Statement = {
  name: 'message_place',
  text: 'SELECT ord FROM messages WHERE session = $1 AND id = $2',
}

const ofLane: Statement = {
  name: 'messages_of_lane',
  text: `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE session = $1 AND lane = $2 AND superseded_by IS NULL
    ORDER BY ord DESC LIMIT $3`,
}

const all: Statement = {
  name: 'messages_all',
  text: `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE session = $1 ORDER BY ord`,
}

export const knownMessages: Statement = {
  name: 'messages_known',
  text: `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE session = $1 AND id = ANY($2::text[]) ORDER BY ord`,
}

export const messageMarks: Statement = {
  name: 'message_marks',
  text: `SELECT ${MARK_COLUMNS} FROM messages WHERE session = $1 AND id = ANY($2::text[]) ORDER BY ord`,
}

const laterUserMessage: Statement = {
  name: 'message_of_user_after',
  text: `SELECT 1 ${SHOWN} AND role = 'user'
    AND ord > (SELECT ord FROM messages WHERE session = $1 AND id = $2) ORDER BY ord LIMIT 1`,
}

export function createMessageReads(sql: Sql): MessageReads {
  /** Reads on until there are `limit` messages or `maxChars` characters. It takes the message with which there are enough. */
  async function newest(sessionId: string, before: number, limit: number, maxChars: number): Promise<MessageRow[]> {
    const found: MessageRow[] = []
    let chars = 0
    let below = before
    while (found.length < limit && (found.length === 0 || chars < maxChars)) {
      const asked = { rows: limit - found.length, bytes: bytesFor(maxChars - chars) }
      const rows = await sql.rows<MessageRow>(shown, [sessionId, below, asked.rows, asked.bytes])
      const got = { rows: rows.length, chars: 0 }
      for (const row of rows) {
        found.push(row)
        got.chars += charsOf(row)
        below = ordOf(row)
      }
      if (isEverything(got, asked)) break
      chars += got.chars
    }
    return found
  }

  return {
    async page(sessionId, limit, { before, maxChars = Number.POSITIVE_INFINITY, asides: withAsides = false } = {}) {
      const [place] = before === undefined ? [[END]] : await sql.rows<[number]>(placeOf, [sessionId, before])
      if (place?.[0] === undefined) return []
      const found = await newest(sessionId, place[0], limit, maxChars)
      const oldest = found.at(-1)
      if (withAsides && oldest !== undefined) {
        const values = [sessionId, place[0], MOST_ASIDES, MOST_ASIDE_CHARS, ordOf(oldest)]
        const others = await sql.rows<MessageRow>(asides, values)
        let chars = 0
        for (const row of others) {
          if (chars >= MOST_ASIDE_CHARS) break
          found.push(row)
          chars += charsOf(row)
        }
        found.sort((a, b) => ordOf(b) - ordOf(a))
      }
      return found.reverse().map(toMessage)
    },
    async ofLane(sessionId, lane, limit) {
      return (await sql.rows<MessageRow>(ofLane, [sessionId, lane, limit])).map(toMessage).reverse()
    },
    async all(sessionId) {
      return (await sql.rows<MessageRow>(all, [sessionId])).map(toMessage)
    },
    async known(sessionId, ids) {
      return ids.length === 0 ? [] : (await sql.rows<MessageRow>(knownMessages, [sessionId, ids])).map(toMessage)
    },
    async marks(sessionId, ids) {
      return ids.length === 0 ? [] : (await sql.rows<MarkRow>(messageMarks, [sessionId, ids])).map(toMark)
    },
    async userSpokeAfter(sessionId, messageId) {
      return (await sql.rows(laterUserMessage, [sessionId, messageId])).length > 0
    },
  }
}
