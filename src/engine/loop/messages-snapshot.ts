// Stored messages as AG-UI messages, for hydration and recovery.

import type { Message } from '@ag-ui/core'
import { isRecord } from '../../domain/is-record.ts'
import { present } from '../../domain/present.ts'
import type { RunEventOf } from '../../domain/session/event.ts'
import { isServersLane, type StoredMessage, textOf } from '../../domain/session/message.ts'

/** In bytes. A snapshot is one event, and clients read at most 10 MiB of an event. */
export const SNAPSHOT_LIMIT = 4 * 1024 * 1024

/** The newest messages up to the limit. Its metadata says how many older ones were left out. */
export function messagesSnapshot(
  messages: readonly StoredMessage[],
  total: number,
  timestamp: number,
): RunEventOf<'MESSAGES_SNAPSHOT'> {
  const shown: Message[] = []
  let size = 0
  for (const message of messages.toReversed()) {
    const wire = toWireMessage(message)
    size += Buffer.byteLength(JSON.stringify(wire))
    if (size > SNAPSHOT_LIMIT && shown.length > 0) break
    shown.push(wire)
  }
  const truncated = Math.max(total, messages.length) - shown.length
  return {
    type: 'MESSAGES_SNAPSHOT',
    messages: shown.reverse(),
    ...present({ metadata: truncated > 0 ? { quarterdeck: { truncated } } : undefined }),
    timestamp,
  }
}

/** Leaves out the questions to sub-agents: readers see those in the arguments of the call. */
export const shownMessages = (messages: readonly StoredMessage[]): StoredMessage[] =>
  messages.filter(({ role, lane }) => lane === undefined || role !== 'user')

function markedBroken(metadata: StoredMessage['metadata']): Record<string, unknown> {
  const own = isRecord(metadata?.quarterdeck) ? metadata.quarterdeck : {}
  return { ...metadata, quarterdeck: { ...own, brokenOff: true } }
}

export function toWireMessage(message: StoredMessage): Message {
  const { id, role, content } = message
  const metadata = message.brokenOff === true ? markedBroken(message.metadata) : message.metadata
  // A sub-agent gets a new id each time it goes on, but the id of its call stays the same.
  const isSubagents = message.lane !== undefined && !isServersLane(message.lane)
  const shared = { metadata, subagentRunId: isSubagents ? message.lane : undefined }
  switch (role) {
    case 'user':
      return present({ id, role, content, ...shared })
    case 'assistant':
      return present({ id, role, content: textOf(content), toolCalls: message.toolCalls, ...shared })
    case 'tool':
      return present({ id, role, content, toolCallId: message.toolCallId ?? '', error: message.error, ...shared })
    case 'reasoning':
      return present({ id, role, content: textOf(content), encryptedValue: message.encryptedValue, ...shared })
    case 'activity': {
      const { type: activityType, content: object } = message.activity ?? { type: '', content: {} }
      return present({ id, role, activityType, content: object, ...shared })
    }
    default:
      return present({ id, role, content: textOf(content), ...shared })
  }
}
