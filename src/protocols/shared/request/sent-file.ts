// Files in a JSON body: base64, data: URLs, and ids of uploaded files.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { fileLimits } from '../../../domain/session/file.ts'
import { type LongTail, LongText } from '../../../http/body/long-text.ts'
import { jsonPointer } from './validate.ts'

export type Base64 = string | LongTail

/** `pointer` is its place in the body. */
export type SentFile = { pointer: string } & (
  | { base64: Base64; name: string | null; mimeType: string | null }
  | { fileId: string }
  | { url: string; name: string | null; mimeType: string | null }
)

/** A string that may be a file. In a large body it is a `LongText`. `meta` is for the OpenAPI document, which cannot see the check. */
export const FileTextSchema = z
  .custom<string | LongText>((value) => typeof value === 'string' || value instanceof LongText, 'Send a string.')
  .meta({ type: 'string' })

const Base64FileSchema = z.strictObject({
  content: FileTextSchema.meta({
    type: 'string',
    description: `Base64 of up to ${fileLimits.base64Bytes / 1e6} MB.`,
    format: 'byte',
  }),
  mime_type: z.string().meta({ description: 'The type of the file; the content must match.' }),
  filename: z.string().nullish(),
})

const FileReferenceSchema = z.strictObject({
  file_id: z.string().meta({ description: 'Id of a file that was uploaded to /files.' }),
})

/** Their number is checked together with their sizes, because that error has its own code. */
export const SentFilesSchema = z
  .array(z.union([Base64FileSchema, FileReferenceSchema]))
  .nullish()
  .meta({ maxItems: fileLimits.files })

export const sentFiles = (files: z.infer<typeof SentFilesSchema>, field = 'files'): SentFile[] =>
  (files ?? []).map((file, i) =>
    'file_id' in file
      ? { pointer: jsonPointer([field, i, 'file_id']), fileId: file.file_id }
      : {
          pointer: jsonPointer([field, i, 'content']),
          base64: file.content,
          name: file.filename ?? null,
          mimeType: file.mime_type,
        },
  )

/** Null if it is not a `data:` URL in base64. */
export function parseDataUrl(url: string | LongText): { base64: Base64; mimeType: string | null } | null {
  const head = /^data:([^;,]*)((?:;[^;,]*)*);base64,/i.exec(typeof url === 'string' ? url.slice(0, 500) : url.head)
  if (head === null) return null
  const start = head[0].length
  return {
    base64: typeof url === 'string' ? url.slice(start) : url.after(start),
    mimeType: head[1]?.trim() || null,
  }
}

/** The size without decoding; exact for valid base64. */
export function decodedBytes(base64: Base64): number {
  const ending = typeof base64 === 'string' ? base64.slice(-2) : base64.ending
  const padding = ending === '==' ? 2 : ending.endsWith('=') ? 1 : 0
  return Math.floor((lengthOf(base64) * 3) / 4) - padding
}

const lengthOf = (base64: Base64): number => (typeof base64 === 'string' ? base64.length : base64.chars)

/** A multiple of four, so that each piece can be decoded alone. */
const PIECE_CHARS = 64 * 1024
const WHOLE = /^[A-Za-z0-9+/]*$/
const LAST = /^[A-Za-z0-9+/]*={0,2}$/

/** Decodes piece by piece, on demand. Throws `invalid_request`. */
export async function* decodeBase64(base64: Base64, pointer: string): AsyncGenerator<Buffer> {
  const length = lengthOf(base64)
  if (length % 4 !== 0) throw noBase64(pointer)
  let seen = 0
  for await (const piece of typeof base64 === 'string' ? piecesOf(base64) : base64.pieces(PIECE_CHARS)) {
    seen += piece.length
    const isLast = seen === length
    // Text that was set aside has been checked already, except for its padding.
    const isGood = isLast ? LAST.test(piece) : typeof base64 === 'string' ? WHOLE.test(piece) : !piece.includes('=')
    if (!isGood) throw noBase64(pointer)
    yield Buffer.from(piece, 'base64')
  }
}

function* piecesOf(text: string): Generator<string> {
  for (let i = 0; i < text.length; i += PIECE_CHARS) yield text.slice(i, i + PIECE_CHARS)
}

const noBase64 = (pointer: string): ServerError =>
  new ServerError('invalid_request', 'A file is not valid base64.', {
    problems: [{ pointer, detail: 'Send base64: letters, digits, + and /, padded with =, without line breaks.' }],
  })
