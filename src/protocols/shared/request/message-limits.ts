import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'

/** The longest message, in characters (code points), at the doors of §2 to §4. */
export const MAX_MESSAGE_CHARS = 10_000

/** The text of a message at those doors. `meta` is for the document, which cannot see into a check. */
export const MessageSchema = z
  .string()
  .refine((text) => text.trim() !== '', 'Write something: the message is blank.')
  .refine((text) => !isLonger(text, MAX_MESSAGE_CHARS), `A message has at most ${MAX_MESSAGE_CHARS} characters.`)
  .meta({ minLength: 1, maxLength: MAX_MESSAGE_CHARS, pattern: '\\S' })

/** Is `text` longer than `limit` characters? Characters are code points: an emoji counts once. */
export function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  // A code point is one or two units.
  if (text.length > 2 * limit) return true
  let points = 0
  for (const _point of text) points += 1
  return points > limit
}

/** Each costs the store a few statements, one behind the other. */
const MAX_NEW = 2_048

/** Throws `body_too_large` for more new messages than a request may bring. What the server knows already does not count. */
export function refuseMany(count: number): void {
  if (count <= MAX_NEW) return
  throw new ServerError(
    'body_too_large',
    `The request brings ${count.toLocaleString('en')} new messages, and ${MAX_NEW.toLocaleString('en')} are possible. Send what is new, in several requests.`,
    { details: { max_messages: MAX_NEW } },
  )
}
