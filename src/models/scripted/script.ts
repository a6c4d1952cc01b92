// The format of a script, in a file and in a test:
//
//   loop: false                # true: start over after the last answer in order
//   answers:                   # (or just the list)
//     - parts:                 # used in order: the first request gets the first answer without `when`, and so on
//         - text: "Hello "     # one delta
//         - text: "tok "       # 500 deltas, 5 ms between them
//           repeat: 500
//           delay_ms: 5
//         - reasoning: Hm.     # optional `signature`
//         - delay_ms: 100      # silence
//         - tool_call: { name: weather, arguments: { city: Berlin } }     # optional `id`, `signature`; text for broken JSON
//         - usage: { input: 12, output: 34 }                              # optional `reasoning`, `cached`
//       finish: stop           # stop | tool_calls | length; default: tool_calls after a tool call, else stop
//     - when: weather          # used whenever the newest message (a user's or a tool's result) contains this text; also
//       parts: []              #   { contains: text }, { user: text } (the newest user message), { tool: name } (it just answered)
//       times: 2               # used at most this often; then the next one that matches
//     - parts:
//         - error: { code: model_rate_limited, retryable: true, after: 2 }  # `after`: the seconds it asks to wait
//     - parts:
//         - drop: true         # the stream ends without a finish
//     - parts:
//         - hang: true         # silence until the abort
//
// An answer whose `when` matches goes first. Without `times` it can be used any number of times.

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Document, parseDocument } from 'yaml'
import { type ErrorCode, errorCodes, ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { FinishReason } from '../model.ts'
import type { JsonObject } from '../wire/json.ts'

export interface Script {
  answers: readonly ScriptedAnswer[]
  loop: boolean
}

export interface ScriptedAnswer {
  when?: string | { user?: string; tool?: string }
  times?: number
  parts: readonly ScriptedPart[]
  finish?: FinishReason
}

export type ScriptedPart =
  | { text: string; repeat?: number | undefined; delay_ms?: number | undefined }
  | { reasoning: string; repeat?: number | undefined; delay_ms?: number | undefined; signature?: string | undefined }
  | {
      tool_call: {
        name: string
        arguments?: Record<string, unknown> | string
        id?: string | undefined
        signature?: string | undefined
      }
    }
  | { usage: { input: number; output: number; reasoning?: number | undefined; cached?: number | undefined } }
  | { delay_ms: number }
  | {
      error: {
        code: ErrorCode
        message?: string | undefined
        retryable?: boolean | undefined
        after?: number | undefined
      }
    }
  | { drop: true }
  | { hang: true }

/** Checks the content of a script file. Throws `config_invalid` with the place of the mistake and what to write there. */
export function readScript(value: unknown, file: string): Script {
  const fail = (place: string, problem: string): never => {
    throw new ServerError('config_invalid', `${file}: ${place} ${problem}`, { details: { file } })
  }
  const top: JsonObject = Array.isArray(value) ? { answers: value } : isRecord(value) ? value : {}
  if (!Array.isArray(top.answers) || top.answers.length === 0) {
    return fail('the script', 'needs a list of answers. Write e.g. answers: [{ parts: [{ text: Hello }] }]')
  }
  for (const key of Object.keys(top)) {
    if (key !== 'answers' && key !== 'loop') fail(key, 'is unknown. A script has answers and loop.')
  }
  if (top.loop !== undefined && typeof top.loop !== 'boolean') fail('loop', 'must be true or false.')
  return {
    loop: top.loop === true,
    answers: top.answers.map((answer, index) => readAnswer(answer, `answers[${index}]`, fail)),
  }
}

type Fail = (place: string, problem: string) => never

const FINISH: readonly FinishReason[] = ['stop', 'tool_calls', 'length']
const ANSWER_KEYS = ['when', 'times', 'parts', 'finish']

function readAnswer(value: unknown, place: string, fail: Fail): ScriptedAnswer {
  if (!isRecord(value) || !Array.isArray(value.parts)) {
    return fail(place, 'needs a list of parts. Write e.g. parts: [{ text: Hello }]')
  }
  for (const key of Object.keys(value)) {
    if (!ANSWER_KEYS.includes(key)) fail(`${place}.${key}`, `is unknown. An answer has ${ANSWER_KEYS.join(', ')}.`)
  }
  const answer: ScriptedAnswer = {
    parts: value.parts.map((part, index) => readPart(part, `${place}.parts[${index}]`, fail)),
  }
  if (value.when !== undefined) answer.when = readWhen(value.when, `${place}.when`, fail)
  if (value.times !== undefined) answer.times = countOf(value, 'times', place, fail)
  if (value.finish !== undefined) {
    answer.finish =
      FINISH.find((reason) => reason === value.finish) ??
      fail(`${place}.finish`, `must be one of ${FINISH.join(', ')}.`)
  }
  return answer
}

function readWhen(value: unknown, place: string, fail: Fail): string | { user?: string; tool?: string } {
  if (typeof value === 'string' && value !== '') return value
  if (isRecord(value)) {
    if (typeof value.contains === 'string' && value.contains !== '') return value.contains
    if (typeof value.user === 'string') return { user: value.user }
    if (typeof value.tool === 'string') return { tool: value.tool }
  }
  return fail(place, 'must be a text, { user: text } or { tool: name }.')
}

const KINDS = ['text', 'reasoning', 'tool_call', 'usage', 'error', 'drop', 'hang', 'delay_ms'] as const
const OTHERS: Record<(typeof KINDS)[number], readonly string[]> = {
  text: ['repeat', 'delay_ms'],
  reasoning: ['repeat', 'delay_ms', 'signature'],
  tool_call: [],
  usage: [],
  error: [],
  drop: [],
  hang: [],
  delay_ms: [],
}

function readPart(given: unknown, place: string, fail: Fail): ScriptedPart {
  if (!isRecord(given)) return fail(place, `must be an object with one of ${KINDS.join(', ')}.`)
  // `repeat: 500` alone means 500 tokens of any text.
  const value =
    given.repeat !== undefined && given.text === undefined && given.reasoning === undefined
      ? { ...given, text: 'token ' }
      : given
  const kind = KINDS.find((key) => value[key] !== undefined)
  if (kind === undefined)
    return fail(place, `needs one of ${KINDS.join(', ')}, found ${Object.keys(value).join(', ') || 'nothing'}.`)
  const stranger = Object.keys(value).find((key) => key !== kind && !OTHERS[kind].includes(key))
  if (stranger !== undefined)
    fail(`${place}.${stranger}`, `cannot be combined with ${kind}. Write it as a separate part.`)
  const pace = {
    repeat: optionalCount(value, 'repeat', place, fail),
    delay_ms: optionalCount(value, 'delay_ms', place, fail),
  }
  switch (kind) {
    case 'text':
      return { text: wordOf(value, 'text', place, fail), ...pace }
    case 'reasoning':
      return {
        reasoning: wordOf(value, 'reasoning', place, fail),
        ...pace,
        signature: optionalWord(value, 'signature', place, fail),
      }
    case 'tool_call':
      return { tool_call: readCall(value.tool_call, `${place}.tool_call`, fail) }
    case 'usage': {
      const usage = isRecord(value.usage) ? value.usage : fail(`${place}.usage`, 'must be { input: 1, output: 2 }.')
      const at = `${place}.usage`
      return {
        usage: {
          input: countOf(usage, 'input', at, fail),
          output: countOf(usage, 'output', at, fail),
          reasoning: optionalCount(usage, 'reasoning', at, fail),
          cached: optionalCount(usage, 'cached', at, fail),
        },
      }
    }
    case 'error':
      return { error: readError(value.error, `${place}.error`, fail) }
    case 'delay_ms':
      return { delay_ms: countOf(value, 'delay_ms', place, fail) }
    case 'drop':
      return value.drop === true ? { drop: true } : fail(`${place}.drop`, 'must be true.')
    case 'hang':
      return value.hang === true ? { hang: true } : fail(`${place}.hang`, 'must be true.')
  }
}

function readCall(
  value: unknown,
  place: string,
  fail: Fail,
): Extract<ScriptedPart, { tool_call: unknown }>['tool_call'] {
  if (!isRecord(value)) return fail(place, 'must be { name: tool, arguments: { … } }.')
  const given = value.arguments
  const call = {
    name: wordOf(value, 'name', place, fail),
    id: optionalWord(value, 'id', place, fail),
    signature: optionalWord(value, 'signature', place, fail),
  }
  if (given === undefined) return call
  if (typeof given === 'string' || isRecord(given)) return { ...call, arguments: given }
  return fail(`${place}.arguments`, 'must be an object, or a text that is sent unchanged.')
}

function readError(value: unknown, place: string, fail: Fail): Extract<ScriptedPart, { error: unknown }>['error'] {
  if (!isRecord(value)) return fail(place, 'must be { code: model_failed }.')
  const code = errorCodes.find((known) => known === value.code)
  if (code === undefined)
    return fail(`${place}.code`, 'must be one of our error codes, e.g. model_failed, model_rate_limited.')
  if (value.retryable !== undefined && typeof value.retryable !== 'boolean') {
    return fail(`${place}.retryable`, 'must be true or false.')
  }
  return {
    code,
    message: optionalWord(value, 'message', place, fail),
    retryable: value.retryable,
    after: optionalCount(value, 'after', place, fail),
  }
}

function wordOf(value: JsonObject, key: string, place: string, fail: Fail): string {
  const word = value[key]
  return typeof word === 'string' ? word : fail(`${place}.${key}`, 'must be a text. Put it in quotes.')
}

const optionalWord = (value: JsonObject, key: string, place: string, fail: Fail): string | undefined =>
  value[key] === undefined ? undefined : wordOf(value, key, place, fail)

function countOf(value: JsonObject, key: string, place: string, fail: Fail): number {
  const count = value[key]
  return typeof count === 'number' && count >= 0 && Number.isFinite(count)
    ? count
    : fail(`${place}.${key}`, 'must be a number of 0 or more.')
}

const optionalCount = (value: JsonObject, key: string, place: string, fail: Fail): number | undefined =>
  value[key] === undefined ? undefined : countOf(value, key, place, fail)

/** Reads a script in YAML or JSON. The path is relative to the agent's folder. */
export async function loadScript(file: string, directory: string): Promise<Script> {
  const path = resolve(directory, file)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new ServerError('config_invalid', `model.script: ${path} cannot be read. Check the path.`, {
      details: { file: path },
      cause,
    })
  }
  const document = parseDocument(text)
  const [error] = document.errors
  if (error !== undefined) {
    throw new ServerError('config_invalid', `${path}: ${error.message}`, { details: { file: path }, cause: error })
  }
  return readScript(contentOf(document, path), path)
}

/** Throws when aliases would expand without end. */
function contentOf(document: Document.Parsed, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (cause) {
    throw new ServerError('config_invalid', `${file} has too many YAML aliases. Write the parts out.`, {
      details: { file },
      cause,
    })
  }
}
