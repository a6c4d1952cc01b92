// What the two APIs share: text, and the parts of a message.

import { z } from 'zod'
import { type InputProblem, ServerError } from '../../domain/errors.ts'
import type { LongText } from '../../http/body/long-text.ts'
import { isLonger } from '../shared/request/message-limits.ts'
import { FileTextSchema, parseDataUrl, type SentFile } from '../shared/request/sent-file.ts'
import { jsonPointer } from '../shared/request/validate.ts'

const MAX_TEXT_CHARS = 100_000

const TOO_LONG = `A message has at most ${MAX_TEXT_CHARS} characters.`

// `abort`, here and for ids: `validate` stops reading a long list at such a problem.
export const TextSchema = z.string().refine((text) => !isLonger(text, MAX_TEXT_CHARS), { error: TOO_LONG, abort: true })

/** Id of a call. */
export const CallIdSchema = z.string().min(1, { abort: true })

/** `text` in chat completions; `input_text` and `output_text` in responses. Both APIs accept all three. */
const TextPartSchema = z.object({ type: z.enum(['text', 'input_text', 'output_text']), text: TextSchema })
const RefusalPartSchema = z.object({ type: z.literal('refusal'), refusal: TextSchema })
const ImageUrlPartSchema = z.object({
  type: z.literal('image_url'),
  image_url: z.union([FileTextSchema, z.object({ url: FileTextSchema })]),
})
const FileSchema = z.object({
  file_data: FileTextSchema.nullish().describe('A data: URL, or base64.'),
  file_id: z.string().nullish().describe('Id of a file that was uploaded to /files.'),
  filename: z.string().nullish(),
})
const FilePartSchema = z.object({ type: z.literal('file'), file: FileSchema })
const InputImagePartSchema = z.object({
  type: z.literal('input_image'),
  image_url: FileTextSchema.nullish().describe('A data: URL.'),
  file_id: z.string().nullish(),
})
const InputFilePartSchema = z.object({ type: z.literal('input_file'), ...FileSchema.shape })
const AudioPartSchema = z.object({ type: z.literal('input_audio') })

const PartSchema = z.discriminatedUnion(
  'type',
  [
    TextPartSchema,
    RefusalPartSchema,
    ImageUrlPartSchema,
    FilePartSchema,
    InputImagePartSchema,
    InputFilePartSchema,
    AudioPartSchema,
  ],
  {
    error:
      'Send a part with the type text, input_text, output_text, refusal, image_url, input_image, file or input_file.',
  },
)

type Part = z.infer<typeof PartSchema>

const textsOf = (parts: readonly Part[]): string[] =>
  parts.flatMap((part) => ('text' in part ? [part.text] : 'refusal' in part ? [part.refusal] : []))
const joined = (parts: readonly Part[]): string => textsOf(parts).join('\n')

export const ContentSchema = z.union([
  TextSchema,
  z.array(PartSchema).refine((parts) => !isLonger(joined(parts), MAX_TEXT_CHARS), { error: TOO_LONG, abort: true }),
])
export type Content = z.infer<typeof ContentSchema>

/** The same limit as in threads. OpenAI itself accepts 16 short texts. */
const MAX_METADATA_BYTES = 16 * 1024

export const MetadataSchema = z.record(z.string(), z.unknown()).nullish()

/** Checked before the schema, which would look at each of 100,000 keys. Metadata is stored with the run and sent back. */
export function metadataProblems(body: unknown): InputProblem[] {
  const metadata: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'metadata') : undefined
  if (metadata === undefined || Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES) return []
  return [{ pointer: '/metadata', detail: `The metadata has at most ${MAX_METADATA_BYTES} bytes of JSON.` }]
}

/** The text of a message that is not the user's. Throws `invalid_request` for parts that are not text; `path` is its place in the body. */
export function textOfContent(content: Content | null | undefined, path: readonly PropertyKey[]): string {
  const { text, files } = decodeContent(content, path)
  const [file] = files
  if (file === undefined) return text
  throw refused(file.pointer, 'Send files in user messages.')
}

/** Throws `invalid_request` for audio, and for parts without content. */
export function decodeContent(
  content: Content | null | undefined,
  path: readonly PropertyKey[],
): { text: string; files: SentFile[] } {
  if (content == null) return { text: '', files: [] }
  if (typeof content === 'string') return { text: content, files: [] }
  return {
    text: joined(content),
    files: content.flatMap((part, i) => fileOf(part, jsonPointer([...path, i]))),
  }
}

function fileOf(part: Part, pointer: string): SentFile[] {
  switch (part.type) {
    case 'image_url': {
      const { image_url } = part
      const url = typeof image_url === 'object' && 'url' in image_url ? image_url.url : image_url
      return [imageOf(url, `${pointer}/image_url`)]
    }
    case 'input_image':
      if (part.file_id != null) return [{ pointer: `${pointer}/file_id`, fileId: part.file_id }]
      return [imageOf(part.image_url ?? '', `${pointer}/image_url`)]
    case 'file':
      return [documentOf(part.file, `${pointer}/file`)]
    case 'input_file':
      return [documentOf(part, pointer)]
    case 'input_audio':
      throw refused(pointer, 'Audio is not supported: leave it out.')
    default:
      return []
  }
}

function imageOf(url: string | LongText, pointer: string): SentFile {
  const data = parseDataUrl(url)
  if (data !== null) return { pointer, name: null, ...data }
  if (typeof url === 'string' && URL.canParse(url)) return { pointer, url, name: null, mimeType: null }
  throw refused(pointer, 'Send the image itself, as a data: URL in base64.')
}

function documentOf({ file_data, file_id, filename }: z.infer<typeof FileSchema>, pointer: string): SentFile {
  if (file_id != null) return { pointer: `${pointer}/file_id`, fileId: file_id }
  if (file_data == null) {
    throw refused(pointer, 'Send file_data, or the file_id of a file that was uploaded to /files.')
  }
  const data = parseDataUrl(file_data) ?? { base64: file_data, mimeType: null }
  return { pointer: `${pointer}/file_data`, name: filename ?? null, ...data }
}

const refused = (pointer: string, detail: string): ServerError =>
  new ServerError('invalid_request', 'A part of a message cannot be used.', { problems: [{ pointer, detail }] })
