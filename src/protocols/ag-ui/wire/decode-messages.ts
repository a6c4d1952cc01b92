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
import type { InputProblem } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { ContentPart } from '../../../domain/session/message.ts'
import { LongText } from '../../../http/body/long-text.ts'
import { isLonger } from '../../shared/request/message-limits.ts'
import { inputProblems, jsonPointer, validate } from '../../shared/request/validate.ts'
import { decodeFilePart, dropNulls, dropNullsEach, type FilePart, type Warnings } from './decode-part.ts'

/** `index` is the position in the input, for error messages. */
export type InputMessage = { id: string; index: number } & (
  | { role: 'user'; content: Content; metadata?: Record<string, unknown> }
  | { role: 'tool'; content: Content; toolCallId: string; error?: string; metadata?: Record<string, unknown> }
  | { role: 'system' | 'developer'; content: string }
  | { role: 'assistant' | 'reasoning' | 'activity' }
)

/** A file is what the client sent: content, an address, or an id. */
export type SentPart = Extract<ContentPart, { type: 'text' }> | FilePart

type Content = string | SentPart[]

/** Maximum length of one message. */
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

/** Whether the content of a message is read. Of other messages only the id and the role matter. */
const isRead: Record<Role, boolean> = {
  user: true,
  tool: true,
  system: true,
  developer: true,
  assistant: false,
  reasoning: false,
  activity: false,
}

const isRole = (role: string): role is Role => Object.hasOwn(schemas, role)

/** Adds errors to `problems`, and parts that are left out to `warnings`. */
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
  if (!isRecord(value) || typeof value.role !== 'string') {
    problems.push({ pointer: jsonPointer(path), detail: 'A message is an object with a role and an id.' })
    return null
  }
  const { role } = value
  if (!isRole(role)) {
    warnings.add('unknown role', path)
    return null
  }
  const { message, kept, files } = withUsableParts(
    withContent(present(isRead[role] ? value : withShortTexts(value))),
    path,
    warnings,
  )
  const schema = schemas[role]
  const parsed = validate<Parsed>(schema, message)
  if (!parsed.success) {
    for (const problem of inputProblems(parsed.issues, message, path)) {
      problems.push(atSentPart(problem, path, kept))
    }
    return null
  }
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(schema.shape, key)) warnings.add('unknown field', [...path, key])
  }
  const decoded = pick(parsed.data, index, files)
  const error = decoded.role === 'tool' ? (decoded.error ?? '') : ''
  const tooLong = isLonger(error, MAX_MESSAGE_CHARS)
    ? 'error'
    : 'content' in decoded && isLonger(wordsOf(decoded.content), MAX_MESSAGE_CHARS)
      ? 'content'
      : null
  if (tooLong !== null) {
    const detail = `A message has at most ${MAX_MESSAGE_CHARS.toLocaleString('en')} characters.`
    problems.push({ pointer: jsonPointer([...path, tooLong]), detail })
    return null
  }
  return decoded
}

function wordsOf(content: Content): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** Drops nulls from the message and from its tool calls. */
function present(value: Record<string, unknown>): Record<string, unknown> {
  const message = dropNulls(value)
  return message.toolCalls === undefined ? message : { ...message, toolCalls: dropNullsEach(message.toolCalls) }
}

/** A failed tool may have an error and no content. */
const withContent = (message: Record<string, unknown>): Record<string, unknown> =>
  message.role === 'tool' && message.content === undefined && typeof message.error === 'string'
    ? { ...message, content: '' }
    : message

type Parsed = { [R in Role]: ReturnType<(typeof schemas)[R]['parse']> }[Role]

function pick(message: Parsed, index: number, files: Files): InputMessage {
  const { id, role } = message
  switch (role) {
    case 'user':
      return { id, index, role, content: usable(message.content, files), ...metadataOf(message) }
    case 'tool': {
      const error = message.error === undefined ? {} : { error: message.error }
      const { toolCallId } = message
      const given = usable(message.content, files)
      // The model sees only the content.
      const content = wordsOf(given).trim() === '' ? (message.error ?? given) : given
      return { id, index, role, toolCallId, content, ...error, ...metadataOf(message) }
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
  isRecord(metadata) ? { metadata } : {}

// Unknown members of a part are not stored.
function usable(content: Extract<Parsed, { role: 'user' | 'tool' }>['content'], files: Files): Content {
  if (typeof content === 'string') return content
  return content.flatMap((part, i): SentPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }]
    const file = files.get(i)
    return file === undefined ? [] : [file]
  })
}

/**
 * Leaves out content parts that are neither text nor files. A run never fails because of such a part, so it is not even checked.
 * `kept` holds the original position of each remaining part. The result of a tool is text only.
 */
function withUsableParts(
  message: Record<string, unknown>,
  path: readonly PropertyKey[],
  warnings: Warnings,
): { message: Record<string, unknown>; kept: number[] | null; files: Files } {
  const { content, role } = message
  const files = new Map<number, FilePart>()
  if (!Array.isArray(content) || (role !== 'user' && role !== 'tool')) return { message, kept: null, files }
  const kept: number[] = []
  const parts: unknown[] = []
  for (const [i, part] of content.entries()) {
    const isOther = isRecord(part) && typeof part.type === 'string' && part.type !== 'text'
    const file = isOther && role === 'user' ? decodeFilePart(part) : null
    if (isOther && file === null) {
      warnings.add('skipped content part', [...path, 'content', i])
      continue
    }
    if (file !== null) files.set(parts.length, file)
    kept.push(i)
    parts.push(file === null ? part : STAND_IN)
  }
  return { message: { ...message, content: dropNullsEach(parts) }, kept, files }
}

/** Files by their position among the remaining parts. */
type Files = ReadonlyMap<number, FilePart>

/** Takes the place of a file that is already decoded, so that the schema does not look at its content. */
const STAND_IN = { type: 'document', source: { type: 'file', value: 'sent' } }

/** A message that is not read may hold texts as long as a file. */
function withShortTexts(message: Record<string, unknown>): Record<string, unknown> {
  for (const key in message) {
    if (message[key] instanceof LongText) {
      const entries = Object.entries(message).map(([name, value]) => [name, value instanceof LongText ? '' : value])
      return Object.fromEntries(entries)
    }
  }
  return message
}

function atSentPart(problem: InputProblem, path: readonly PropertyKey[], kept: number[] | null): InputProblem {
  const prefix = `${jsonPointer([...path, 'content'])}/`
  if (kept === null || !problem.pointer.startsWith(prefix)) return problem
  const [place = '', ...rest] = problem.pointer.slice(prefix.length).split('/')
  return { ...problem, pointer: [prefix + (kept[Number(place)] ?? place), ...rest].join('/') }
}
