// A client sends the history it shows; the server keeps its own. Message ids are the keys: what we have is not taken again,
// what we lack is taken only where a client may say it. Pure.

import { ServerError } from '../../../domain/errors.ts'
import type { MessageMark } from '../../../domain/message.ts'
import type { NewMessage, RunInput } from '../../../domain/run.ts'
import { longTextProblems } from '../../shared/request/input-problems.ts'
import { refuseMany } from '../../shared/request/message-limits.ts'
import type { AgUiInput } from './decode-input.ts'
import type { InputMessage, SentPart } from './decode-messages.ts'
import { createWarnings } from './lenient-input.ts'

export interface KnownHistory {
  /** Those of the sent messages that the session has. */
  messages: ReadonlyMap<string, MessageMark>
  /** Tool calls that wait for a result from the client. */
  openCalls: ReadonlySet<string>
  /** The `editPoint`, if there is a user message behind it: the one that the client has edited. */
  editedAfter: string | null
}

/** One whose files are not kept yet. */
export type SentMessage = Omit<NewMessage, 'content'> & { content: string | SentPart[] }

export type SentInput = Omit<RunInput, 'messages'> & { messages: SentMessage[] }

export type HistoryDiff =
  /** Something to do: new messages, in a branch of their own if one is edited, or another answer to an old one. */
  | { kind: 'run'; input: SentInput; warnings: readonly string[] }
  /** Nothing new was said: the client wants to see what we have. */
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
        // An edit leaves the branch in which the call was made.
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
        // What a client shows beside the conversation; never part of it.
        break
    }
  }
  refuseMany(messages.length)
  const input: SentInput = { messages, instructions, wireThreadId: sent.threadId, ...sent.shared }
  if (messages.length > 0) {
    const branch = known.editedAfter === null ? {} : { regenerateAfter: known.editedAfter }
    return { kind: 'run', input: { ...input, ...branch }, warnings: warnings.list }
  }
  const branch = branchPoint(sent.messages, known.messages)
  if (branch === null) return { kind: 'hydrate', warnings: warnings.list }
  return { kind: 'run', input: { ...input, regenerateAfter: branch }, warnings: warnings.list }
}

/**
 * The user message that the history ends at. It is one of ours, so its answer is wanted anew. A message of a branch that
 * was itself superseded cannot be branched from: its reader is shown where the conversation is now. Nor can what a sub-agent
 * was asked: that is inside of another message's answer.
 */
function branchPoint(messages: readonly InputMessage[], known: ReadonlyMap<string, MessageMark>): string | null {
  const last = lastSaid(messages)
  if (last?.role !== 'user') return null
  const message = known.get(last.id)
  return message?.supersededBy === undefined && message?.lane === undefined ? last.id : null
}

/**
 * Where the part of the history that we know ends, if a new user message ends the history; null: there is no such part. `known`
 * is in our order: a client may show what was said at the same time in another.
 * A client that is still in a branch which was left edits nothing: its message goes to where the conversation is now.
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
  throw new ServerError('invalid_request', 'The body is no valid RunAgentInput.', { problems })
}
