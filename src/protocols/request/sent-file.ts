// Files inside of a JSON body: base64, data: URLs, and the ids of what was uploaded before.

import { z } from 'zod'
import { ServerError } from '../../domain/errors.ts'
import { fileLimits } from '../../domain/file.ts'
import { jsonPointer } from './input-problems.ts'

/** `pointer` says where in the body it is. */
export type SentFile = { pointer: string } & (
  | { base64: string; name: string | null; mimeType: string | null }
  | { fileId: string }
  | { url: string; name: string | null; mimeType: string | null }
)

const Base64FileSchema = z.strictObject({
  content: z.string().meta({ description: `Base64 of up to ${fileLimits.base64Bytes / 1e6} MB.`, format: 'byte' }),
  mime_type: z.string().meta({ description: 'What it is; the content must agree.' }),
  filename: z.string().nullish(),
})

const FileReferenceSchema = z.strictObject({
  file_id: z.string().meta({ description: 'Of a file that was uploaded to /files.' }),
})

/** How many there may be is checked with their sizes: that has a code of its own. */
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

/** Null for what is no `data:` URL in base64. */
export function parseDataUrl(url: string): { base64: string; mimeType: string | null } | null {
  const head = /^data:([^;,]*)((?:;[^;,]*)*);base64,/i.exec(url.slice(0, 500))
  if (head === null) return null
  return { base64: url.slice(head[0].length), mimeType: head[1]?.trim() || null }
}

/** Without decoding it; exact for valid base64. */
export function decodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return Math.floor((base64.length * 3) / 4) - padding
}

/** A multiple of four, so that each piece decodes by itself. */
const PIECE_CHARS = 64 * 1024
const WHOLE = /^[A-Za-z0-9+/]*$/
const LAST = /^[A-Za-z0-9+/]*={0,2}$/

/** Piece by piece, as it is asked for. Throws `invalid_request`. */
export async function* decodeBase64(base64: string, pointer: string): AsyncGenerator<Buffer> {
  if (base64.length % 4 !== 0) throw noBase64(pointer)
  for (let i = 0; i < base64.length; i += PIECE_CHARS) {
    const piece = base64.slice(i, i + PIECE_CHARS)
    const isLast = i + PIECE_CHARS >= base64.length
    if (!(isLast ? LAST : WHOLE).test(piece)) throw noBase64(pointer)
    yield Buffer.from(piece, 'base64')
  }
}

const noBase64 = (pointer: string): ServerError =>
  new ServerError('invalid_request', 'A file is no valid base64.', {
    problems: [{ pointer, detail: 'Send base64: letters, digits, + and /, padded with =, without line breaks.' }],
  })
