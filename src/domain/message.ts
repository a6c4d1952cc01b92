// A message as the store keeps it and the model sees it. The shapes are AG-UI's; other protocols project them.

import type { ContentPart, ToolCall } from '@ag-ui/core'
import { type FileRecord, isImage } from './file.ts'

export type MessageRole = 'user' | 'assistant' | 'tool' | 'system' | 'developer' | 'reasoning' | 'activity'

/** What is known of a message without reading it. */
export type MessageMark = Pick<StoredMessage, 'id' | 'lane' | 'supersededBy'>

export interface StoredMessage {
  /** A key within its session; the client's own id where it sent one. */
  id: string
  role: MessageRole
  content: string | ContentPart[]
  runId: string
  /** Epoch ms, never backwards within a session. */
  createdAt: number
  toolCalls?: ToolCall[]
  toolCallId?: string
  /** A failed tool's message; `content` then repeats it for the model. */
  error?: string
  /** The agent that answered. */
  agentName?: string
  /** Opaque provider data that belongs to a reasoning message and must be sent back with it. */
  encryptedValue?: string
  /** The answer stopped half-way (crash, cancel, model failure). It is shown to people, never to the model again. */
  brokenOff?: boolean
  /** `activity` only: what a tool shows beside the conversation, as it was last. */
  activity?: { type: string; content: Record<string, unknown> }
  /** The sub-agent whose conversation it belongs to, or `ACTIVITIES`; absent: the session's own. Such a message is not counted. */
  lane?: string
  /** The run that branched off before this message; it then is history only. */
  supersededBy?: string
  metadata?: Record<string, unknown>
}

export type { ContentPart, ToolCall }

/** The lane of activities: people see them, no model does. */
export const ACTIVITIES = 'quarterdeck:activities'

/** The text of a message's content; parts that are not text are left out. */
export function textOf(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** Which roles `message_count` counts, at every door. */
export const countsAsMessage = (role: MessageRole): boolean =>
  role === 'user' || role === 'assistant' || role === 'tool'

/** The words, and behind them the files. */
export function contentWith(words: string, files: readonly FileRecord[]): string | ContentPart[] {
  if (files.length === 0) return words
  return [...(words === '' ? [] : [{ type: 'text' as const, text: words }]), ...files.map(filePart)]
}

export const filePart = ({ id, mimeType, name }: FileRecord): ContentPart => ({
  type: isImage(mimeType) ? 'image' : 'document',
  source: { type: 'file', value: id, mimeType },
  metadata: { filename: name },
})
