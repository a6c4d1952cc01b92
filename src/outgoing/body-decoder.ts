// Decompresses answers as they arrive. A decompression bomb costs no memory: what nobody reads is not unpacked.

import type { Transform } from 'node:stream'
import type { Flow } from './exchange.ts'

const zlib = () => process.getBuiltinModule('node:zlib')

/** For the `accept-encoding` header. */
export const ACCEPTED_ENCODINGS = 'gzip, br'

/** Null when the body is not compressed, undefined when we do not know the encoding. */
export function decoderFor(encoding: string): (() => Transform) | null | undefined {
  const { constants, createBrotliDecompress, createGunzip, createInflate } = zlib()
  // Passes on at once what the server flushed.
  const flush = { flush: constants.Z_SYNC_FLUSH }
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return null
    case 'gzip':
    case 'x-gzip':
      return () => createGunzip(flush)
    case 'deflate':
      return () => createInflate(flush)
    case 'br':
      return () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH })
    default:
      return undefined
  }
}

export interface BodyDecoder extends Flow {
  body(bytes: Buffer): void
  end(): void
}

/** Pauses `source` while the reader is paused. */
export function createBodyDecoder(
  decoder: Transform,
  source: Flow,
  to: { body(bytes: Buffer): void; end(): void; failed(error: Error): void },
): BodyDecoder {
  decoder.on('data', to.body)
  decoder.on('end', to.end)
  decoder.on('drain', () => source.resume())
  decoder.on('error', (error) => to.failed(error))
  return {
    body(bytes) {
      if (!decoder.write(bytes)) source.pause()
    },
    end: () => void decoder.end(),
    pause: () => void decoder.pause(),
    resume: () => void decoder.resume(),
    destroy: () => void decoder.destroy(),
  }
}
