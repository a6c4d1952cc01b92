// Providers like to repeat what they do not understand. Their errors go into logs and to operators, who are not meant to read along.

import { ServerError } from '../domain/errors.ts'
import type { ModelRequest } from './model.ts'

/** So many characters in a row are no accident. */
const SAME_CHARS = 20
/** The newest text is what a provider repeats; comparing more of a long conversation would take its time. */
const MOST_COMPARED = 100_000

const LEFT_OUT = '[…]'

/** The same failure without what it repeats of the conversation. */
export function withoutQuotes(error: ServerError, { messages }: Pick<ModelRequest, 'messages'>): ServerError {
  const message = leaveOut(
    error.message,
    messages
      .map(({ content }) => content)
      .join('\n')
      .slice(-MOST_COMPARED),
  )
  if (message === error.message) return error
  const { code, details, problems } = error
  return new ServerError(code, message, { details, problems: [...problems], cause: error.cause })
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
