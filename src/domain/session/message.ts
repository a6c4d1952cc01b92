// A message as the store keeps it and the model sees it. It has the shape of AG-UI; other protocols convert it.

import type { ContentPart, ToolCall } from '@ag-ui/core'
import { type FileRecord, isImage } from './file.ts'

export type MessageRole = 'user' | 'assistant' | 'tool' | 'system' | 'developer' | 'reasoning' | 'activity'

/** What can be known about a message without loading its content. */
export type MessageMark = Pick<StoredMessage, 'id' | 'lane' | 'supersededBy'>

export interface StoredMessage {
  /** Unique within the session; the client's own id if it sent one. */
  id: string
  role: MessageRole
  content: string | ContentPart[]
  runId: string
  /** Epoch ms. It never decreases within a session. */
  createdAt: number
  toolCalls?: ToolCall[] | undefined
  toolCallId?: string
  /** Error message of a failed tool; `content` repeats it for the model. */
  error?: string | undefined
  /** The agent that answered. */
  agentName?: string
  /** Opaque provider data of a reasoning message, which must be sent back with it. */
  encryptedValue?: string | undefined
  /** The answer stopped half-way (crash, cancel, model failure). People see it; the model does not see it again. */
  brokenOff?: boolean
  /** Only for `activity`: the latest state of what a tool shows next to the conversation. */
  activity?: { type: string; content: Record<string, unknown> }
  /** The sub-agent's conversation, or one of the server's, such as `ACTIVITIES`; absent: the session's own. Messages with a lane are not counted. */
  lane?: string | undefined
  /** The run that branched off before this message, which is only history since then. */
  supersededBy?: string | undefined
  metadata?: Record<string, unknown> | undefined
}

export type { ContentPart, ToolCall }

export const feedbackValues = ['up', 'down'] as const
export type FeedbackValue = (typeof feedbackValues)[number]

/** What a person thinks of an answer. Of each person the last word counts. */
export interface Feedback {
  messageId: string
  by: string
  value: FeedbackValue
  note: string | null
  at: number
}

/** The lane of activities. People see them, models do not. */
export const ACTIVITIES = 'quarterdeck:activities'

/** Neither the session's own conversation nor a sub-agent's. */
export const isServersLane = (lane: string): boolean => lane.startsWith('quarterdeck:')

/** The text of a message's content, without parts that are not text. */
export function textOf(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** Whether `message_count` counts messages of this role, at every door. */
export const countsAsMessage = (role: MessageRole): boolean =>
  role === 'user' || role === 'assistant' || role === 'tool'

/** The words, followed by the attached files. A file part names the stored record, never the bytes. */
export function contentWith(words: string, files: readonly FileRecord[]): string | ContentPart[] {
  if (files.length === 0) return words
  return [...(words === '' ? [] : [{ type: 'text' as const, text: words }]), ...files.map(filePart)]
}

export const filePart = ({ id, mimeType, name }: FileRecord): ContentPart => ({
  type: isImage(mimeType) ? 'image' : 'document',
  source: { type: 'file', value: id, mimeType },
  metadata: { filename: name },
})
