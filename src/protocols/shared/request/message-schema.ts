import { z } from 'zod'
import { isLonger } from './message-text.ts'

/** The longest message, in characters (code points), at the doors of §2 to §4. */
export const MAX_MESSAGE_CHARS = 10_000

/** The text of a message at those doors. `meta` is for the document, which cannot see into a check. */
export const MessageSchema = z
  .string()
  .refine((text) => text.trim() !== '', 'Write something: the message is blank.')
  .refine((text) => !isLonger(text, MAX_MESSAGE_CHARS), `A message has at most ${MAX_MESSAGE_CHARS} characters.`)
  .meta({ minLength: 1, maxLength: MAX_MESSAGE_CHARS, pattern: '\\S' })
