// What people think of answers: a row for each person and answer.

import type { Feedback, FeedbackValue } from '../../domain/session/message.ts'
import type { RowWrites } from './row-writes.ts'
import { jsonOrNull } from './sessions.ts'
import { putRow, removeRow, type Statement } from './statement.ts'

const KEY = 'session, message, by'
const COLUMNS = 'message, by, value, note, at'
type FeedbackRow = [message: string, by: string, value: FeedbackValue, note: string | null, at: number]

export const feedbackOfSession: Statement = {
  name: 'feedback_of_session',
  text: `SELECT ${COLUMNS} FROM feedback WHERE session = $1 ORDER BY at, message, by`,
}

/** The note is JSON: Postgres's texts keep no NUL, and no half of a surrogate pair. */
export const toFeedback = ([messageId, by, value, note, at]: FeedbackRow): Feedback => ({
  messageId,
  by,
  value,
  note: note === null ? null : JSON.parse(note),
  at,
})

export const feedbackWrites: RowWrites<'put_feedback' | 'remove_feedback'> = {
  put_feedback: {
    statement: putRow('feedback', `session, ${COLUMNS}`, KEY),
    values: ({ sessionId, feedback: { messageId, by, value, note, at } }) => [
      ...[sessionId, messageId, by, value, jsonOrNull(note ?? undefined), at],
    ],
  },
  remove_feedback: {
    statement: removeRow('feedback', KEY),
    values: ({ sessionId, messageId, by }) => [sessionId, messageId, by],
  },
}
