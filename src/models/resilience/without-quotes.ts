// Providers like to repeat what they do not understand. Their errors go into logs and to operators, who are not meant to read along.

import { ServerError } from '../../domain/errors.ts'
import type { ModelMessage, ModelRequest } from '../model.ts'

/** So many characters in a row are no accident. */
const SAME_CHARS = 20
/** A whole line of this many is none either. */
const SHORT_LINE = 6
/** The newest text is what a provider repeats; comparing more of a long conversation would take its time. */
const MOST_COMPARED = 100_000

const LEFT_OUT = '[…]'

/** The same failure without what it repeats of the conversation. */
export function withoutQuotes(error: ServerError, { messages }: Pick<ModelRequest, 'messages'>): ServerError {
  const said = messages.flatMap(textsOf).join('\n').slice(-MOST_COMPARED)
  const message = withoutLines(leaveOut(error.message, spellingsOf(said)), said)
  if (message === error.message) return error
  const { code, details, problems } = error
  return new ServerError(code, message, { details, problems: [...problems], cause: error.cause })
}

const textsOf = (message: ModelMessage): string[] =>
  message.role === 'assistant'
    ? [message.content, ...message.toolCalls.map((call) => call.arguments)]
    : [message.content]

/** As a provider may write it: in one line, as JSON, and as JSON in ASCII. */
function spellingsOf(said: string): string {
  const json = JSON.stringify(said).slice(1, -1)
  const ascii = json.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [said.replace(/[\s\p{Cc}]+/gu, ' '), json, ascii].join('\n')
}

/** Short lines; longer ones are found by their parts. */
function withoutLines(text: string, said: string): string {
  const lines = said.split('\n').map((line) => line.trim())
  const short = new Set(lines.filter(({ length }) => length >= SHORT_LINE && length < SAME_CHARS))
  return [...short].reduce((left, line) => left.replaceAll(line, LEFT_OUT), text)
}

/** Replaces each stretch of `text` that `said` has as well. */
function leaveOut(text: string, said: string): string {
  const starts = new Set<string>()
  for (let i = 0; i + SAME_CHARS <= text.length; i += 1) starts.add(text.slice(i, i + SAME_CHARS))
  const common = new Set<string>()
  for (let i = 0; i + SAME_CHARS <= said.length; i += 1) {
    const piece = said.slice(i, i + SAME_CHARS)
    if (starts.has(piece)) common.add(piece)
  }
  if (common.size === 0) return text
  let kept = ''
  let until = 0
  for (let i = 0; i < text.length; i += 1) {
    if (common.has(text.slice(i, i + SAME_CHARS))) {
      if (i >= until) kept += LEFT_OUT
      until = i + SAME_CHARS
    }
    if (i >= until) kept += text[i]
  }
  return kept
}
