// What every store does to the fields of records that have no column of their own, or that columns do not hold as they are.

import type { MessageMark, StoredMessage } from '../../domain/session/message.ts'
import { jsonLimits } from '../../json/json-limits.ts'

/** A state that is too large is ignored, because every run would have to send it. */
export const stateOf = (text: string | null): unknown =>
  text === null || text.length > jsonLimits.bytes ? undefined : JSON.parse(text)

/** Whether a database's UTF-8 keeps the text as it is. It keeps neither half a surrogate pair, which a model may send, nor (Postgres) NUL. */
const isPlainText = (content: StoredMessage['content']): content is string =>
  typeof content === 'string' && content.isWellFormed() && !content.includes('\0')

const MESSAGE_COLUMNS = new Set(['id', 'role', 'content', 'runId', 'createdAt', 'lane', 'supersededBy'])

/** The columns of a message that hold its content and the rest; `extra` is null for a plain message, as most are. */
export function packMessage(message: StoredMessage): { content: string; extra: string | null } {
  const { id, role, content, runId, createdAt, lane, supersededBy, ...extra } = message
  if (!isPlainText(content)) {
    return { content: JSON.stringify(content), extra: JSON.stringify({ ...extra, structured: true }) }
  }
  const isPlain = Object.keys(message).every((field) => MESSAGE_COLUMNS.has(field))
  return { content, extra: isPlain ? null : JSON.stringify(extra) }
}

interface MessageColumns {
  id: string
  role: string
  content: string
  runId: string
  createdAt: number
  extra: string | null
  lane: string | null
  supersededBy: string | null
}

export function unpackMessage({ role, content, runId, createdAt, extra, ...marks }: MessageColumns): StoredMessage {
  const { structured, ...rest } = extra === null ? {} : JSON.parse(extra)
  const { id, ...mark } = unpackMark(marks)
  return {
    id,
    role: role as StoredMessage['role'],
    content: structured === true ? JSON.parse(content) : content,
    runId,
    createdAt,
    ...rest,
    ...mark,
  }
}

export const unpackMark = ({
  id,
  lane,
  supersededBy,
}: Pick<MessageColumns, 'id' | 'lane' | 'supersededBy'>): MessageMark => ({
  id,
  ...(lane === null ? {} : { lane }),
  ...(supersededBy === null ? {} : { supersededBy }),
})
