import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'

/** The longest message of the agent, chat, thread and session routes, in characters (code points). */
export const MAX_MESSAGE_CHARS = 10_000

/** What somebody writes. `meta` is for the OpenAPI document, which cannot see the checks. */
export const writtenText = (name: string, most: number, tooLong = `A ${name} has at most ${most} characters.`) =>
  z
    .string()
    .refine((text) => text.trim() !== '', `The ${name} is blank. Write something.`)
    .refine((text) => !isLonger(text, most), tooLong)
    .meta({ minLength: 1, maxLength: most, pattern: '\\S' })

/** The text of a message in these routes. */
export const MessageSchema = writtenText('message', MAX_MESSAGE_CHARS)

/** Whether `text` is longer than `limit` characters. Characters are code points: an emoji counts once. */
export function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  // A code point is one or two UTF-16 units.
  if (text.length > 2 * limit) return true
  let points = 0
  for (const _point of text) points += 1
  return points > limit
}

/** Each new message costs the store a few statements. */
const MAX_NEW = 2_048

/** Throws `body_too_large` if a request has too many new messages. Stored messages do not count. */
export function refuseMany(count: number): void {
  if (count <= MAX_NEW) return
  throw new ServerError(
    'body_too_large',
    `The request has ${count.toLocaleString('en')} new messages, and the limit is ${MAX_NEW.toLocaleString('en')}. Send new messages in several requests.`,
    { details: { max_messages: MAX_NEW } },
  )
}
