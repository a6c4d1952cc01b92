// What the two APIs have in common: text, the parts of a message, and what is not taken yet.

import { z } from 'zod'
import { ServerError } from '../../domain/errors.ts'
import { isLonger } from '../request/message-text.ts'

const MAX_TEXT_CHARS = 100_000

const TOO_LONG = `A message has at most ${MAX_TEXT_CHARS} characters.`

export const TextSchema = z.string().refine((text) => !isLonger(text, MAX_TEXT_CHARS), TOO_LONG)

/** `text` in chat completions; `input_text` and `output_text` in responses. Either is read at both. */
const TextPartSchema = z.object({ type: z.enum(['text', 'input_text', 'output_text']), text: TextSchema })
const RefusalPartSchema = z.object({ type: z.literal('refusal'), refusal: TextSchema })
const FilePartSchema = z.object({ type: z.enum(['image_url', 'input_image', 'input_audio', 'file', 'input_file']) })

const PartSchema = z.discriminatedUnion('type', [TextPartSchema, RefusalPartSchema, FilePartSchema], {
  error: 'Send a part with the type text, input_text, output_text or refusal.',
})

type Part = z.infer<typeof PartSchema>

const textOfPart = (part: Part): string => ('text' in part ? part.text : 'refusal' in part ? part.refusal : '')
const joined = (parts: readonly Part[]): string => parts.map(textOfPart).join('\n')

export const ContentSchema = z.union([
  TextSchema,
  z.array(PartSchema).refine((parts) => !isLonger(joined(parts), MAX_TEXT_CHARS), TOO_LONG),
])
export type Content = z.infer<typeof ContentSchema>

/** Tools run at the caller, which has no place here yet; an empty list asks for nothing. */
export const CallerToolsSchema = z.array(z.object({})).nullish()

export const MetadataSchema = z.record(z.string(), z.unknown()).nullish()

/** Throws `not_available_yet` for parts that are no text. */
export function textOfContent(content: Content | null | undefined): string {
  if (content == null) return ''
  if (typeof content === 'string') return content
  if (content.every((part) => 'text' in part || 'refusal' in part)) return joined(content)
  throw new ServerError('not_available_yet', 'Images, audio and files are not available yet; send the text alone.')
}

export function refuseTools(...tools: (readonly unknown[] | null | undefined)[]): void {
  if (tools.some((list) => list != null && list.length > 0)) throw noCallerTools()
}

export const noCallerTools = (): ServerError =>
  new ServerError(
    'not_available_yet',
    'Tools that run at the caller are not available yet; leave them out. The tools of the agent itself do run.',
  )
