// Compares the history that a client sends with the stored one, by message ids. Stored messages are not taken again. New messages
// are taken only if a client may send them. Pure.

import type { MessageMark } from '../../../domain/session/message.ts'
import type { NewMessage, RunInput } from '../../../domain/session/run.ts'
import { refuseMany } from '../../shared/request/message-limits.ts'
import { longTextProblems } from '../../shared/request/validate.ts'
import { type AgUiInput, invalid } from './decode-input.ts'
import type { InputMessage, SentPart } from './decode-messages.ts'
import { createWarnings } from './decode-part.ts'

export interface KnownHistory {
  /** The sent messages that are already stored. */
  messages: ReadonlyMap<string, MessageMark>
  /** Tool calls that wait for a result from the client. */
  openCalls: ReadonlySet<string>
  /** The `editPoint`, if a user message follows it: the message that the client has edited. */
  editedAfter: string | null
}

/** A message whose files are not stored yet. */
export type SentMessage = Omit<NewMessage, 'content'> & { content: string | SentPart[] }

export type SentInput = Omit<RunInput, 'messages'> & { messages: SentMessage[] }

export type HistoryDiff =
  /** There are new messages (in a new branch if one was edited), or an old message wants another answer. */
  | { kind: 'run'; input: SentInput; warnings: readonly string[] }
  /** There is nothing new: the client wants to see the thread. */
  | { kind: 'hydrate'; warnings: readonly string[] }

/** Throws `invalid_request` for a text in new metadata that is as long as a file, and `body_too_large` for too many new messages. */
export function diffHistory(sent: AgUiInput, known: KnownHistory): HistoryDiff {
  const warnings = createWarnings()
  const messages: SentMessage[] = []
  const instructions: string[] = []
  const seen = new Set(known.messages.keys())
  for (const message of sent.messages) {
    if (seen.has(message.id)) continue
    seen.add(message.id)
    switch (message.role) {
      case 'user':
        messages.push(newMessage(message))
        break
      case 'tool':
        // An edit leaves the branch that made the call.
        if (known.editedAfter === null && known.openCalls.has(message.toolCallId)) messages.push(newMessage(message))
        else warnings.add('ignored a result of no open tool call', ['messages', message.index])
        break
      case 'system':
      case 'developer':
        instructions.push(message.content)
        break
      case 'assistant':
        warnings.add('ignored an assistant message that is not ours', ['messages', message.index])
        break
      case 'reasoning':
      case 'activity':
        // Not part of the conversation.
        break
    }
  }
  refuseMany(messages.length)
  const input: SentInput = { messages, instructions, wireThreadId: sent.threadId, ...sent.shared }
  const branch = messages.length > 0 ? known.editedAfter : branchPoint(sent.messages, known.messages)
  if (branch !== null) return { kind: 'run', input: { ...input, regenerateAfter: branch }, warnings: warnings.list }
  return messages.length > 0
    ? { kind: 'run', input, warnings: warnings.list }
    : { kind: 'hydrate', warnings: warnings.list }
}

/**
 * The stored user message at the end of the history: the client wants another answer to it. Null for a message in a superseded
 * branch, whose reader is shown the current conversation, and for a message to a sub-agent, which is part of another answer.
 */
function branchPoint(messages: readonly InputMessage[], known: ReadonlyMap<string, MessageMark>): string | null {
  const last = lastSaid(messages)
  if (last?.role !== 'user') return null
  const message = known.get(last.id)
  return message?.supersededBy === undefined && message?.lane === undefined ? last.id : null
}

/**
 * The last stored message of a history that ends with a new user message; null if there is none. `known` is in the stored order,
 * which can differ from the client's. A client in a superseded branch edits nothing: its message continues the current conversation.
 */
export function editPoint(messages: readonly InputMessage[], known: readonly MessageMark[]): string | null {
  const marks = new Map(known.map((message) => [message.id, message]))
  const last = lastSaid(messages)
  if (last?.role !== 'user' || marks.has(last.id)) return null
  const lastKnown = messages.findLast(({ id }) => marks.has(id))
  if (lastKnown === undefined || marks.get(lastKnown.id)?.supersededBy !== undefined) return null
  return known.findLast(({ lane, supersededBy }) => lane === undefined && supersededBy === undefined)?.id ?? null
}

const lastSaid = (messages: readonly InputMessage[]): InputMessage | undefined =>
  messages.findLast(({ role }) => role !== 'system' && role !== 'developer')

function newMessage(message: Extract<InputMessage, { role: 'user' | 'tool' }>): SentMessage {
  const { index, ...rest } = message
  const problems = longTextProblems(rest.metadata, ['messages', index, 'metadata'])
  if (problems.length === 0) return rest
  throw invalid(problems)
}
