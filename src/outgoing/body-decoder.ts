// Compressed answers, decompressed as they arrive. A bomb costs no memory: what nobody takes is not unpacked.

import type { Transform } from 'node:stream'
import type { Flow } from './exchange.ts'

const zlib = () => process.getBuiltinModule('node:zlib')

/** What we ask for. */
export const ACCEPTED_ENCODINGS = 'gzip, br'

/** Null for what is not compressed, undefined for what we cannot read. */
export function decoderFor(encoding: string): (() => Transform) | null | undefined {
  const { constants, createBrotliDecompress, createGunzip, createInflate } = zlib()
  // Whatever is there goes on at once, as the server sent it.
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

/** `source` is held up while the reader is. */
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
