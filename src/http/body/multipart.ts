// Reads forms with files (`multipart/form-data`, RFC 7578) part by part as they arrive. Only the bytes that the reader has not taken yet
// are in memory.

import type { IncomingMessage } from 'node:http'
import { ServerError } from '../../domain/errors.ts'
import { fileLimits } from '../../domain/session/file.ts'
import { type BodyReader, declaredLength, refuseEncoding } from './body.ts'
import { readChunks } from './body-chunks.ts'
import { malformed, type RawPart, splitMultipart } from './multipart-split.ts'

export type MultipartPart = MultipartField | MultipartFile

interface MultipartField {
  kind: 'field'
  name: string
  value: string
}

export interface MultipartFile {
  kind: 'file'
  name: string
  /** As the client sent it. Null: it sent none. */
  filename: string | null
  /** Without parameters. Null: the client sent none. */
  mimeType: string | null
  /** Read it before you request the next part; the unread rest is skipped then. */
  content: AsyncIterable<Uint8Array>
}

export interface MultipartLimits {
  files: number
  /** Size of all files together. */
  totalBytes: number
  fields: number
  /** Size of one field. */
  fieldBytes: number
}

export const defaultMultipartLimits: MultipartLimits = {
  files: fileLimits.files,
  totalBytes: fileLimits.totalBytes,
  fields: 50,
  fieldBytes: 500_000,
}

interface MultipartReader extends Pick<BodyReader, 'pace' | 'clock' | 'onBegin'> {
  limits: MultipartLimits
}

/** Bytes that the body may have besides its files: boundaries, headers, fields. */
const OVERHEAD_BYTES = 1_000_000

/** Parts of any kind. An empty file field counts neither as a file nor as a field. */
const MAX_PARTS = 200

export const isMultipart = (contentType: string | undefined): boolean =>
  contentType !== undefined && parseHeader(contentType).value === 'multipart/form-data'

/**
 * Throws `unsupported_media_type`, `invalid_request` for an invalid form, `too_many_files`, `file_too_large` for all files together,
 * `body_too_large` for a field, `request_timeout`, `ClientGone`. It throws as soon as it can and does not read on.
 */
export async function* readMultipart(request: IncomingMessage, reader: MultipartReader): AsyncGenerator<MultipartPart> {
  const { limits, pace, clock } = reader
  const boundary = boundaryOf(request)
  refuseEncoding(request)
  const maxBytes = limits.totalBytes + OVERHEAD_BYTES
  const tooLarge = () => filesTooLarge(limits.totalBytes)
  if ((declaredLength(request) ?? 0) > maxBytes) throw tooLarge()
  reader.onBegin?.()

  let parts = 0
  let files = 0
  let fields = 0
  let bytes = 0

  async function* counted(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      bytes += chunk.length
      if (bytes > limits.totalBytes) throw tooLarge()
      yield chunk
    }
  }

  for await (const part of splitMultipart(readChunks(request, { maxBytes, tooLarge, pace, clock }), boundary)) {
    parts += 1
    if (parts > MAX_PARTS) throw malformed(`It has more than ${MAX_PARTS} parts.`)
    const { name, filename } = dispositionOf(part)
    if (filename === undefined) {
      fields += 1
      if (fields > limits.fields) throw malformed(`It has more than ${limits.fields} fields.`)
      yield { kind: 'field', name, value: await textOf(part, name, limits.fieldBytes) }
      continue
    }
    const content = await filledContent(counted(part.content), filename)
    if (content === null) continue
    files += 1
    if (files > limits.files) throw tooManyFiles(limits.files)
    yield { kind: 'file', name, filename: filename === '' ? null : filename, mimeType: mimeTypeOf(part), content }
  }
}

function boundaryOf({ headers }: IncomingMessage): string {
  const type = headers['content-type'] ?? ''
  const { value, parameters } = parseHeader(type)
  if (value !== 'multipart/form-data') {
    throw new ServerError(
      'unsupported_media_type',
      type === ''
        ? 'The request has no Content-Type; send multipart/form-data.'
        : `Content-Type ${JSON.stringify(type)} is not supported here; send multipart/form-data.`,
    )
  }
  const boundary = parameters.get('boundary') ?? ''
  // RFC 2046 allows 70 characters. Some clients send more.
  if (!/^[ -~]{1,200}$/.test(boundary)) {
    throw malformed('Its Content-Type must have a boundary of 1 to 200 characters. Let your HTTP library set it.')
  }
  return boundary
}

/** `filename` is undefined if the part is not a file. */
function dispositionOf({ headers }: RawPart): { name: string; filename: string | undefined } {
  const { value, parameters } = parseHeader(headers.get('content-disposition') ?? '')
  const name = parameters.get('name')
  if (value !== 'form-data' || name === undefined) {
    throw malformed('A part needs a Content-Disposition with a name: form-data; name="…".')
  }
  const encoding = headers.get('content-transfer-encoding')?.trim().toLowerCase() ?? 'binary'
  if (!['binary', '7bit', '8bit'].includes(encoding)) {
    throw malformed(`A part has the encoding ${JSON.stringify(encoding.slice(0, 40))}; send it without one.`)
  }
  const filename = parameters.get('filename')
  return {
    name: fromBytes(name),
    filename: extendedName(parameters.get('filename*')) ?? (filename === undefined ? undefined : fromBytes(filename)),
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes a name as browsers send it: UTF-8 in which only quotes and line breaks are percent-encoded. */
function fromBytes(text: string): string {
  const bytes = text.replaceAll(/%(22|0D|0A)/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'))
  } catch {
    return bytes
  }
}

/** `UTF-8''na%C3%AFve.txt`: forms must not use it, but some clients do. */
function extendedName(text: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(text ?? '')?.[1]
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

function mimeTypeOf({ headers }: RawPart): string | null {
  const type = headers.get('content-type')
  return type === undefined ? null : parseHeader(type).value || null
}

/** Null for an empty file field. Browsers send it without a name and content. */
async function filledContent(content: AsyncIterable<Buffer>, filename: string): Promise<AsyncIterable<Buffer> | null> {
  if (filename !== '') return content
  const iterator = content[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done) return null
  return (async function* () {
    yield first.value
    yield* { [Symbol.asyncIterator]: () => iterator }
  })()
}

async function textOf({ content }: RawPart, name: string, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of content) {
    size += chunk.length
    if (size > maxBytes) {
      const shown = JSON.stringify(name.slice(0, 100))
      throw new ServerError('body_too_large', `The field ${shown} is larger than ${maxBytes} bytes.`, {
        details: { max_bytes: maxBytes },
      })
    }
    chunks.push(chunk)
  }
  try {
    return utf8.decode(Buffer.concat(chunks, size))
  } catch {
    throw malformed(`The field ${JSON.stringify(name.slice(0, 100))} is not valid UTF-8.`)
  }
}

const filesTooLarge = (maxBytes: number): ServerError =>
  new ServerError('file_too_large', `The files are larger than ${maxBytes / 1_000_000} MB together.`, {
    details: { max_bytes: maxBytes },
  })

const tooManyFiles = (max: number): ServerError =>
  new ServerError('too_many_files', `The request has more than ${max} files; send them in several requests.`, {
    details: { max_files: max },
  })

interface HeaderValue {
  /** In lower case. */
  value: string
  /** Keyed by name in lower case. A Map, not an object: clients choose the names. */
  parameters: ReadonlyMap<string, string>
}

const PARAMETER = /;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;"]*))/g

/** Reads a header such as `form-data; name="file"; filename="a.txt"`. Skips what is not a parameter. If a name comes twice, the first one counts. */
export function parseHeader(text: string): HeaderValue {
  const [value = ''] = text.split(';', 1)
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, plain = ''] of text.slice(value.length).matchAll(PARAMETER)) {
    const key = name.toLowerCase()
    // Only these two are unescaped: old browsers send whole paths with plain backslashes.
    if (!parameters.has(key)) parameters.set(key, quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain.trim())
  }
  return { value: value.trim().toLowerCase(), parameters }
}
