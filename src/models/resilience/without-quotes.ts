// Providers often repeat text of the conversation in their errors. Errors go into logs and to operators, who must not read it there.

import { ServerError } from '../../domain/errors.ts'
import type { ModelMessage, ModelRequest } from '../model.ts'

/** This many equal characters in a row are a quote. */
const SAME_CHARS = 20
/** A whole line of this many characters is a quote too. */
const SHORT_LINE = 6
/** Providers repeat the newest text, and comparing more of a long conversation would take too long. */
const MAX_COMPARED = 100_000

const LEFT_OUT = '[…]'

/** The same failure without the text that it quotes from the conversation. */
export function withoutQuotes(error: ServerError, { messages }: Pick<ModelRequest, 'messages'>): ServerError {
  const said = messages.flatMap(textsOf).join('\n').slice(-MAX_COMPARED)
  const message = withoutLines(leaveOut(error.message, spellingsOf(said)), said)
  if (message === error.message) return error
  const { code, details, problems } = error
  return new ServerError(code, message, { details, problems: [...problems], cause: error.cause })
}

const textsOf = (message: ModelMessage): string[] =>
  message.role === 'assistant'
    ? [message.content, ...message.toolCalls.map((call) => call.arguments)]
    : [message.content]

/** The ways a provider may write it: on one line, as JSON, and as JSON in ASCII. */
function spellingsOf(said: string): string {
  const json = JSON.stringify(said).slice(1, -1)
  const ascii = json.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [said.replace(/[\s\p{Cc}]+/gu, ' '), json, ascii].join('\n')
}

/** Removes short lines. `leaveOut` finds longer ones. */
function withoutLines(text: string, said: string): string {
  const lines = said.split('\n').map((line) => line.trim())
  const short = new Set(lines.filter(({ length }) => length >= SHORT_LINE && length < SAME_CHARS))
  return [...short].reduce((left, line) => left.replaceAll(line, LEFT_OUT), text)
}

/** Replaces each piece of `text` that also occurs in `said`. */
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
