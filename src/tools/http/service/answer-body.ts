import { Buffer } from 'node:buffer'
import type { Readable, Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { serviceFailure } from './service-failure.ts'

export interface AnswerBody {
  /** Decompressed, and not longer than the limit. */
  body: Buffer
  /** Whether there was more. */
  isCut: boolean
}

export const MAX_BODY_BYTES = 1_048_576

/** Reads up to the end or the limit. The limit holds before and after decompression. */
export async function readAnswerBody(
  message: Readable,
  encoding: string,
  maxBytes = MAX_BODY_BYTES,
): Promise<AnswerBody> {
  const raw = await collect(message, maxBytes).catch((error: unknown) => {
    throw serviceFailure('broke_off', error)
  })
  if (raw.body.length === 0) return raw
  const decoder = decoderFor(encoding.trim().toLowerCase(), raw)
  if (decoder === null) return raw
  decoder.end(raw.body)
  const plain = await collect(decoder, maxBytes).catch((error: unknown) => {
    throw serviceFailure('undecodable', error)
  })
  return { body: plain.body, isCut: raw.isCut || plain.isCut }
}

/** Leaving the loop early destroys the stream and its connection. */
async function collect(stream: Readable, maxBytes: number): Promise<AnswerBody> {
  const chunks: Buffer[] = []
  let room = maxBytes
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) continue
    if (chunk.length > room) {
      chunks.push(chunk.subarray(0, room))
      return { body: Buffer.concat(chunks), isCut: true }
    }
    chunks.push(chunk)
    room -= chunk.length
  }
  return { body: Buffer.concat(chunks), isCut: false }
}

function decoderFor(encoding: string, { body, isCut }: AnswerBody): Transform | null {
  // Without this, a body that we cut ourselves would count as damaged.
  const tolerant = isCut ? { finishFlush: constants.Z_SYNC_FLUSH } : {}
  switch (encoding) {
    case '':
    case 'identity':
      return null
    case 'gzip':
    case 'x-gzip':
      return createGunzip(tolerant)
    case 'deflate':
      // `deflate` means zlib's format, but some servers send raw deflate data.
      return ((body[0] ?? 0) & 0x0f) === 8 ? createInflate(tolerant) : createInflateRaw(tolerant)
    case 'br':
      return createBrotliDecompress(isCut ? { finishFlush: constants.BROTLI_OPERATION_FLUSH } : {})
    default:
      throw serviceFailure('undecodable')
  }
}
