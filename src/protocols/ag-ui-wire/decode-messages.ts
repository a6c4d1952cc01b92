// The messages of a RunAgentInput. Pure.

import {
  ActivityMessageSchema,
  AssistantMessageSchema,
  DeveloperMessageSchema,
  ReasoningMessageSchema,
  SystemMessageSchema,
  ToolMessageSchema,
  UserMessageSchema,
} from '@ag-ui/core/schemas'
import type { InputProblem } from '../../domain/errors.ts'
import { type ContentPart, textOf } from '../../domain/message.ts'
import { inputProblems, jsonPointer } from '../request/input-problems.ts'
import { isLonger } from '../request/message-text.ts'
import { decodeFilePart } from './decode-part.ts'
import { dropNulls, dropNullsEach, isFields } from './drop-nulls.ts'
import type { Warnings } from './warnings.ts'

/** `index` is the place in the input, for messages about it. */
export type InputMessage = { id: string; index: number } & (
  | { role: 'user'; content: Content; metadata?: Record<string, unknown> }
  | { role: 'tool'; content: Content; toolCallId: string; error?: string; metadata?: Record<string, unknown> }
  | { role: 'system' | 'developer'; content: string }
  | { role: 'assistant' | 'reasoning' | 'activity' }
)

type Content = string | ContentPart[]

/** Characters of one message at this door. */
export const MAX_MESSAGE_CHARS = 100_000

const schemas = {
  user: UserMessageSchema,
  tool: ToolMessageSchema,
  system: SystemMessageSchema,
  developer: DeveloperMessageSchema,
  assistant: AssistantMessageSchema,
  reasoning: ReasoningMessageSchema,
  activity: ActivityMessageSchema,
}

type Role = keyof typeof schemas
const isRole = (role: string): role is Role => Object.hasOwn(schemas, role)

/** Adds to `problems` what makes the input malformed, to `warnings` what is merely left out. */
export function decodeMessages(sent: unknown, problems: InputProblem[], warnings: Warnings): InputMessage[] {
  if (!Array.isArray(sent)) {
    problems.push({ pointer: '/messages', detail: 'Send an array; [] asks for the history of a known thread.' })
    return []
  }
  const messages: InputMessage[] = []
  for (const [index, value] of sent.entries()) {
    const message = decodeMessage(value, index, problems, warnings)
    if (message !== null) messages.push(message)
    else if (problems.length > 0) break
  }
  return messages
}

function decodeMessage(
  value: unknown,
  index: number,
  problems: InputProblem[],
  warnings: Warnings,
): InputMessage | null {
  const path = ['messages', index]
  const role = roleOf(value)
  if (!isFields(value) || role === null) {
    problems.push({ pointer: jsonPointer(path), detail: 'A message is an object with a role and an id.' })
    return null
  }
  if (!isRole(role)) {
    warnings.add('unknown role', path)
    return null
  }
  const { message, kept } = withUsableParts(present(value), path, warnings)
  const schema = schemas[role]
  const parsed = schema.safeParse(message)
  if (!parsed.success) {
    problems.push(
      ...parsed.error.issues.flatMap((issue) => inputProblems([issue], path).map((p) => atSentPart(p, path, kept))),
    )
    return null
  }
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(schema.shape, key)) warnings.add('unknown field', [...path, key])
  }
  const decoded = pick(parsed.data, index)
  if ('content' in decoded && isLonger(textOf(decoded.content), MAX_MESSAGE_CHARS)) {
    const detail = `A message has at most ${MAX_MESSAGE_CHARS.toLocaleString('en')} characters.`
    problems.push({ pointer: jsonPointer([...path, 'content']), detail })
    return null
  }
  return decoded
}

/** Without what counts as absent, in the message and in its tool calls. */
function present(value: Record<string, unknown>): Record<string, unknown> {
  const message = dropNulls(value)
  return message.toolCalls === undefined ? message : { ...message, toolCalls: dropNullsEach(message.toolCalls) }
}

type Parsed = { [R in Role]: ReturnType<(typeof schemas)[R]['parse']> }[Role]

function pick(message: Parsed, index: number): InputMessage {
  const { id, role } = message
  switch (role) {
    case 'user':
      return { id, index, role, content: usable(message.content), ...metadataOf(message) }
    case 'tool': {
      const error = message.error === undefined ? {} : { error: message.error }
      const { toolCallId } = message
      return { id, index, role, toolCallId, content: usable(message.content), ...error, ...metadataOf(message) }
    }
    case 'system':
    case 'developer':
      return { id, index, role, content: message.content }
    case 'assistant':
    case 'reasoning':
    case 'activity':
      return { id, index, role }
  }
}

const metadataOf = ({ metadata }: { metadata?: unknown }): { metadata?: Record<string, unknown> } =>
  isFields(metadata) ? { metadata } : {}

// Undescribed members of a part are not stored.
function usable(content: Extract<Parsed, { role: 'user' | 'tool' }>['content']): Content {
  if (typeof content === 'string') return content
  return content.flatMap((part): ContentPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }]
    const file = decodeFilePart(part)
    return typeof file === 'string' ? [] : [file]
  })
}

/**
 * Leaves out the content parts that cannot be used. A run never fails for one of those, so they are not even judged; `kept` says
 * which place each remaining part had. A tool's result is text alone.
 */
function withUsableParts(
  message: Record<string, unknown>,
  path: readonly PropertyKey[],
  warnings: Warnings,
): { message: Record<string, unknown>; kept: number[] | null } {
  const { content, role } = message
  if (!Array.isArray(content) || (role !== 'user' && role !== 'tool')) return { message, kept: null }
  const kept: number[] = []
  const parts: unknown[] = []
  for (const [i, part] of content.entries()) {
    const isOther = isFields(part) && typeof part.type === 'string' && part.type !== 'text'
    const usablePart = !isOther ? part : role === 'user' ? decodeFilePart(part) : ''
    if (isOther && typeof usablePart === 'string') {
      warnings.add(['skipped content part', usablePart].join(' ').trim(), [...path, 'content', i])
    } else {
      kept.push(i)
      parts.push(usablePart)
    }
  }
  return { message: { ...message, content: dropNullsEach(parts) }, kept }
}

function atSentPart(problem: InputProblem, path: readonly PropertyKey[], kept: number[] | null): InputProblem {
  const prefix = `${jsonPointer([...path, 'content'])}/`
  if (kept === null || !problem.pointer.startsWith(prefix)) return problem
  const [place = '', ...rest] = problem.pointer.slice(prefix.length).split('/')
  return { ...problem, pointer: [prefix + (kept[Number(place)] ?? place), ...rest].join('/') }
}

const roleOf = (value: unknown): string | null =>
  isFields(value) && typeof value.role === 'string' ? value.role : null
