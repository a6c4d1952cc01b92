// Decodes what `useChat` sends. Pure. A page sends the whole chat again with each request, or its last message alone, so only what the
// session does not have is read in full.

import { type InputProblem, ServerError } from '../../domain/errors.ts'
import { isClientId } from '../../domain/ids.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { NewMessage } from '../../domain/session/run.ts'
import type { Decision } from '../../domain/supervision/decision.ts'
import { LongText } from '../../http/body/long-text.ts'
import { fileIdIn } from '../shared/request/file-links.ts'
import { isLonger } from '../shared/request/message-limits.ts'
import { parseDataUrl, type SentFile } from '../shared/request/sent-file.ts'
import { jsonPointer, longTextProblems, validBody } from '../shared/request/validate.ts'
import type { HeldCall } from './encode.ts'
import { UiChatSchema } from './schema.ts'

type Part = { type: string } & Record<string, unknown>
type SentMessage = { id: string; role: 'system' | 'user' | 'assistant'; parts: Part[] }

/** A message whose parts are not read yet. `index` is its position in the request. */
export interface SentWords {
  id: string
  index: number
  parts: readonly Part[]
}

export interface UiChat {
  /** Name of the session. */
  id: string
  agent: string | null
  regenerates: boolean
  /** Messages of the user, oldest first. */
  messages: readonly SentWords[]
  /** The place in `messages` of the last one that an answer follows; -1: none. */
  lastAnswered: number
  /** The request ends with this message of the agent, which the answer continues. Null: it ends with the user. */
  continues: { messageId: string; held: readonly HeldCall[] } | null
  /** What the last message of the agent brings: results of calls that the page ran, and answers to what was asked. */
  outputs: readonly PageOutput[]
  answers: readonly PageAnswer[]
  /** Text of system messages. */
  instructions: string[]
  /** What the page adds to its requests, for tools. */
  props: Record<string, unknown>
}

export type PageOutput = Required<Pick<NewMessage, 'toolCallId'>> & Pick<NewMessage, 'error'> & { content: string }
export type PageAnswer = Decision & { waitId: string }

const MAX_TEXT_CHARS = 100_000
const MAX_REASON = 2_000
const MAX_ANSWERS = 200

/** Throws `invalid_request` or `malformed_id`. */
export function decodeChat(body: unknown): UiChat {
  const {
    id,
    messages,
    trigger,
    messageId: _,
    agent,
    ...props
  } = validBody(UiChatSchema, body, 'The body is not what useChat sends.')
  checkId(id, '/id')
  const problems = Object.entries(props).flatMap(([key, value]) => longTextProblems(value, [key]))
  if (problems.length > 0) throw invalid(problems)
  const last = messages.findLast(({ role }) => role !== 'system')
  if (last === undefined) throw nothingToAnswer()
  const agentIndex = messages.findLastIndex(({ role }) => role === 'assistant')
  const said =
    agentIndex < 0 ? { held: [], outputs: [], answers: [] } : decodeAnswered(messages[agentIndex], agentIndex)
  const words = messages.flatMap((message, index) => (message.role === 'user' ? [{ ...message, index }] : []))
  return {
    id,
    agent: agent ?? null,
    regenerates: trigger === 'regenerate-message',
    messages: words,
    lastAnswered: words.findLastIndex(({ index }) => index < agentIndex),
    continues: last.role === 'assistant' ? { messageId: last.id, held: said.held } : null,
    outputs: said.outputs,
    answers: said.answers,
    instructions: messages.flatMap(({ role, parts }, index) =>
      role === 'system' ? [textIn(parts, ['messages', index])] : [],
    ),
    props,
  }
}

export const nothingToAnswer = (): ServerError =>
  invalid([
    {
      pointer: '/messages',
      detail:
        'There is nothing to answer: the last message must be one of the user, or bring the result of a tool or the answer to an approval. GET /ai/chat/{id}/stream shows an answer that is being written.',
    },
  ])

/** The id of a new message is stored. Throws `malformed_id`. */
export function checkId(id: string, pointer: string): void {
  if (isClientId(id)) return
  const detail = 'An id has 1 to 128 printable characters.'
  throw new ServerError('malformed_id', `The id at ${pointer} cannot be used. ${detail}`, {
    problems: [{ pointer, detail }],
  })
}

const invalid = (problems: InputProblem[]): ServerError =>
  new ServerError('invalid_request', 'The body is not what useChat sends.', { problems })

const invalidAt = (path: readonly PropertyKey[], detail: string): ServerError =>
  invalid([{ pointer: jsonPointer(path), detail }])

/** Text and files of a message of the user. Parts of other types are left out. Throws `invalid_request`. */
export function decodeWords({ parts, index }: SentWords): { text: string; files: SentFile[] } {
  const path = ['messages', index]
  const text = textIn(parts, path)
  const files = parts.flatMap((part, i) =>
    part.type === 'file' ? [fileIn(part, jsonPointer([...path, 'parts', i]))] : [],
  )
  if (text.trim() === '' && files.length === 0) throw invalidAt(path, 'The message is empty. Send some text or a file.')
  return { text, files }
}

function textIn(parts: readonly Part[], path: readonly PropertyKey[]): string {
  const texts = parts.flatMap(({ type, text }, i) => {
    if (type !== 'text') return []
    if (typeof text !== 'string') throw invalidAt([...path, 'parts', i, 'text'], 'Send a string.')
    return [text]
  })
  const whole = texts.join('\n')
  if (!isLonger(whole, MAX_TEXT_CHARS)) return whole
  throw invalidAt(path, `A message has at most ${MAX_TEXT_CHARS.toLocaleString('en')} characters.`)
}

function fileIn({ url, filename, mediaType }: Part, pointer: string): SentFile {
  const name = typeof filename === 'string' ? filename : null
  const type = typeof mediaType === 'string' && mediaType !== '' ? mediaType : null
  const at = `${pointer}/url`
  if (typeof url === 'string' || url instanceof LongText) {
    const data = parseDataUrl(url)
    if (data !== null) return { pointer: at, base64: data.base64, name, mimeType: type ?? data.mimeType }
  }
  if (typeof url !== 'string' || !URL.canParse(url, 'http://localhost')) {
    throw invalid([{ pointer: at, detail: 'Send the file itself as a data: URL in base64, or the address of a file.' }])
  }
  const own = fileIdIn(url)
  return own === null ? { pointer: at, url, name, mimeType: type } : { pointer: at, fileId: own }
}

interface Answered {
  held: HeldCall[]
  outputs: PageOutput[]
  answers: PageAnswer[]
}

/** What the parts of the agent's last message say about its calls. */
function decodeAnswered(message: SentMessage | undefined, index: number): Answered {
  const found: Answered = { held: [], outputs: [], answers: [] }
  const parts = message?.parts ?? []
  /** Questions of tools, by their call. */
  const questions = new Map<unknown, Part>()
  for (const part of parts) {
    if (part.type === 'data-question' && isRecord(part.data)) questions.set(part.data.toolCallId, part)
  }
  for (const [i, part] of parts.entries()) {
    const { toolCallId, state } = part
    const name = nameOf(part)
    if (name === null || typeof toolCallId !== 'string') continue
    const path = ['messages', index, 'parts', i]
    const approval = isRecord(part.approval) && typeof part.approval.id === 'string' ? part.approval : null
    const isAnswered = state === 'approval-responded'
    const question = questions.get(toolCallId)
    const output = outputIn(part, path)
    if (output === null || question !== undefined) {
      const shown = approval === null ? null : { id: String(approval.id), isAnswered }
      found.held.push({ id: toolCallId, name, approval: shown })
    }
    if (isAnswered && approval !== null) found.answers.push(decisionIn(approval, path))
    else if (output !== null && question !== undefined) found.answers.push(responseIn(question, part, path))
    else if (output !== null && part.providerExecuted !== true) found.outputs.push(output)
  }
  if (found.answers.length <= MAX_ANSWERS) return found
  throw invalidAt(['messages', index], `A request answers at most ${MAX_ANSWERS} approvals.`)
}

const nameOf = ({ type, toolName }: Part): string | null => {
  if (type.startsWith('tool-')) return type.slice('tool-'.length)
  return type === 'dynamic-tool' && typeof toolName === 'string' ? toolName : null
}

/** Null: the page has no result for it. */
function outputIn({ toolCallId, state, output, errorText }: Part, path: readonly PropertyKey[]): PageOutput | null {
  if (typeof toolCallId !== 'string') return null
  if (state === 'output-error') {
    const error = typeof errorText === 'string' && errorText !== '' ? errorText : 'The page could not run the tool.'
    return { toolCallId, content: error, error }
  }
  if (state !== 'output-available') return null
  const problems = longTextProblems(output, [...path, 'output'])
  if (problems.length > 0) throw invalid(problems)
  return { toolCallId, content: typeof output === 'string' ? output : (JSON.stringify(output) ?? '') }
}

/** The page sends the digest of what it showed as the signature. Only `true` approves. */
function decisionIn(
  { id, approved, reason, signature }: Record<string, unknown>,
  path: readonly PropertyKey[],
): PageAnswer {
  if (typeof approved !== 'boolean') throw invalidAt([...path, 'approval', 'approved'], 'Send true or false.')
  if (typeof signature !== 'string') {
    const detail = 'Send the signature that came with the request for approval: it says what was shown.'
    throw invalidAt([...path, 'approval', 'signature'], detail)
  }
  const why = typeof reason === 'string' ? { reason } : {}
  if (isLonger(why.reason ?? '', MAX_REASON)) {
    throw invalidAt(
      [...path, 'approval', 'reason'],
      `A reason has at most ${MAX_REASON.toLocaleString('en')} characters.`,
    )
  }
  return { waitId: String(id), decision: approved ? 'approve' : 'reject', digest: signature, ...why }
}

function responseIn(question: Part, { state, output, errorText }: Part, path: readonly PropertyKey[]): PageAnswer {
  const { id } = question
  const data = isRecord(question.data) ? question.data : {}
  if (typeof id !== 'string' || typeof data.digest !== 'string') {
    throw invalidAt(path, 'The part of the question must stay in the message as it came, with its id and digest.')
  }
  const asked = { waitId: id, digest: data.digest }
  if (state === 'output-available') return { ...asked, decision: 'respond', result: output }
  return {
    ...asked,
    decision: 'reject',
    ...(typeof errorText === 'string' ? { reason: errorText.slice(0, MAX_REASON) } : {}),
  }
}
