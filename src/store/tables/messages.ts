// Messages of conversations. SQLite's rows have the number of the session where Postgres's have its id.

import { type MessageMark, type StoredMessage, textOf } from '../../domain/session/message.ts'
import { type MessageReads, MOST_LOOKED_AT } from '../ports/messages.ts'
import { feedbackOfSession, toFeedback } from './feedback.ts'
import type { Reading, Statement } from './statement.ts'

export const MARK_COLUMNS = 'id, lane, superseded_by'
export type MarkRow = [id: string, lane: string | null, supersededBy: string | null]

/** `place` is the column by which messages are in order. */
export const messageColumns = (place: string): string =>
  `${MARK_COLUMNS}, role, content, run_id, created_at, extra, ${place}`
export type MessageRow = [
  ...mark: MarkRow,
  role: StoredMessage['role'],
  content: string,
  runId: string,
  createdAt: number,
  extra: string | null,
  place: number,
]

export const placeOf = (row: MessageRow): number => row[8]
export const charsOf = (row: MessageRow): number => row[4].length + (row[7]?.length ?? 0)

/** Up to the message with which there are so many characters. */
export function takeChars(rows: Iterable<MessageRow>, maxChars: number): MessageRow[] {
  const taken: MessageRow[] = []
  let chars = 0
  for (const row of rows) {
    taken.push(row)
    chars += charsOf(row)
    if (chars >= maxChars) break
  }
  return taken
}

export const toMark = ([id, lane, supersededBy]: MarkRow): MessageMark => ({
  id,
  lane: lane ?? undefined,
  supersededBy: supersededBy ?? undefined,
})

export function toMessage(row: MessageRow): StoredMessage {
  const [id, lane, supersededBy, role, content, runId, createdAt, extra] = row
  const { structured, ...rest } = extra === null ? {} : JSON.parse(extra)
  return {
    id,
    role,
    content: structured === true ? JSON.parse(content) : content,
    runId,
    createdAt,
    ...rest,
    lane: lane ?? undefined,
    supersededBy: supersededBy ?? undefined,
  }
}

const IS_STRUCTURED = `extra LIKE '%"structured":true}'`
/** The beginning of a long text. JSON has none; U+0001 marks it in Postgres. */
const BEGINNING = `CASE WHEN octet_length(content) <= 16384 THEN content
  WHEN ${IS_STRUCTURED} OR substr(content, 1, 1) = '\u0001' THEN NULL ELSE substr(content, 1, 400) END`
export type WordsRow = [place: number, content: string | null, isStructured: boolean | number | null]

/** The newest message with this role and a text, among the newest of these. Contents are read of that one alone. */
export const lastWordsOf = (role: 'user' | 'assistant', messages: { where: string; place: string }): string => {
  const { where, place } = messages
  return `SELECT ${place}, ${BEGINNING} AS content, ${IS_STRUCTURED} AS structured FROM messages WHERE ${where} AND ${place} = (
      SELECT ${place} FROM (
        SELECT ${place}, role, octet_length(content) AS bytes FROM messages
        WHERE ${where} ORDER BY ${place} DESC LIMIT ${MOST_LOOKED_AT}) AS newest
      WHERE role = '${role}' AND bytes > 0 ORDER BY ${place} DESC LIMIT 1)`
}

/** Null: it is too long to tell. */
export const wordsIn = ([, content, isStructured]: WordsRow): string | null =>
  content === null ? null : textOf(isStructured ? JSON.parse(content) : content)

/** `ofSession` is the condition that finds the messages of session `$1`, `session` the id of a message's session. */
export function messageStatements(ofSession: string, session: string, place: string) {
  const select = `SELECT ${messageColumns(place)} FROM messages WHERE ${ofSession}`
  return {
    ofLane: {
      name: 'messages_of_lane',
      text: `${select} AND lane = $2 AND superseded_by IS NULL ORDER BY ${place} DESC LIMIT $3`,
    },
    all: { name: 'messages_all', text: `${select} ORDER BY ${place}` },
    known: { name: 'messages_known', text: `${select} AND id = ANY($2::text[]) ORDER BY ${place}` },
    withAnswer: {
      name: 'session_with_answer',
      text: `SELECT ${session} FROM messages WHERE id = $1 AND role = 'assistant' ORDER BY ${place} DESC LIMIT 1`,
    },
    marks: {
      name: 'message_marks',
      text: `SELECT ${MARK_COLUMNS} FROM messages WHERE ${ofSession} AND id = ANY($2::text[]) ORDER BY ${place}`,
    },
  } satisfies Record<string, Statement>
}

export function createMessageLists(
  { one, many }: Reading,
  statements: ReturnType<typeof messageStatements>,
): Pick<MessageReads, 'ofLane' | 'all' | 'known' | 'marks' | 'feedback' | 'sessionWithAnswer'> {
  const ofLane = many(statements.ofLane, toMessage)
  const known = many(statements.known, toMessage)
  const marks = many(statements.marks, toMark)
  return {
    ofLane: async (sessionId, lane, limit) => (await ofLane(sessionId, lane, limit)).reverse(),
    all: many(statements.all, toMessage),
    feedback: many(feedbackOfSession, toFeedback),
    sessionWithAnswer: one(statements.withAnswer, ([id]: [string]) => id),
    known: async (sessionId, ids) => (ids.length === 0 ? [] : known(sessionId, ids)),
    marks: async (sessionId, ids) => (ids.length === 0 ? [] : marks(sessionId, ids)),
  }
}

/** Columns of a new message beside its session, in the order of `messageValues`. */
export const newMessageColumns = {
  id: 'text',
  role: 'text',
  content: 'text',
  run_id: 'text',
  created_at: 'bigint',
  lane: 'text',
  superseded_by: 'text',
  extra: 'text',
} as const

export function messageValues(message: StoredMessage): (string | number | null)[] {
  const { id, role, runId, createdAt, lane = null, supersededBy = null } = message
  const { content, extra } = packed(message)
  return [id, role, content, runId, createdAt, lane, supersededBy, extra]
}

/** A message with a known id is ignored, except that an activity takes the content of a later one. */
export const onKnownMessage = (session: string): string =>
  `ON CONFLICT (${session}, id) DO UPDATE SET extra = excluded.extra WHERE messages.role = 'activity' AND excluded.role = 'activity'`

/** Whether a database's UTF-8 keeps the text as it is. It keeps neither half a surrogate pair, which a model may send, nor (Postgres) NUL. */
const isPlainText = (content: StoredMessage['content']): content is string =>
  typeof content === 'string' && content.isWellFormed() && !content.includes('\0')

/** `extra` is null for a plain message, as most are. */
function packed(message: StoredMessage): { content: string; extra: string | null } {
  const { id, role, content, runId, createdAt, lane, supersededBy, ...extra } = message
  if (!isPlainText(content)) {
    return { content: JSON.stringify(content), extra: JSON.stringify({ ...extra, structured: true }) }
  }
  const text = JSON.stringify(extra)
  return { content, extra: text === '{}' ? null : text }
}
