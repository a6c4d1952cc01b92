// Bytes of a file ↔ text. Only encodings that come back byte for byte: UTF-8, and UTF-16 with a byte order mark.

import { ServerError } from '../../domain/errors.ts'
import { MAX_FILE_BYTES, tooLarge } from '../workspace/read-workspace-file.ts'

type Encoding = 'UTF-8' | 'UTF-16 (little endian)' | 'UTF-16 (big endian)'

export interface FileText {
  encoding: Encoding
  /** Includes the byte order mark, if the file has one. */
  text: string
}

/** A text of millions of empty lines would take a gigabyte to compare. */
const MAX_LINES = 500_000

export const BYTE_ORDER_MARK = '\ufeff'

/** Throws `invalid_diff` for a file that is not text. */
export function decodeFile(bytes: Uint8Array, path: string): FileText {
  const file = decodeText(bytes, path)
  if (file === null) {
    throw new ServerError('invalid_diff', `${path} is not UTF-8 or UTF-16 text. Change such a file in another way.`)
  }
  return file
}

/** Null for a file that is not text. Throws `invalid_diff` for one with too many lines. */
export function decodeText(bytes: Uint8Array, path: string): FileText | null {
  const buffer = Buffer.from(bytes)
  const encoding = encodingOf(buffer)
  const text = decoded(
    encoding === 'UTF-16 (big endian)' && buffer.length % 2 === 0 ? buffer.swap16() : buffer,
    encoding,
  )
  if (text === null || text.includes('\0')) return null
  checkLines(text, path)
  return { encoding, text }
}

/** Throws `invalid_diff` for text that the file cannot hold. */
export function encodeFile({ encoding, text }: FileText, path: string): Uint8Array {
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new ServerError(
      'invalid_diff',
      `The new text of ${path} contains a NUL or half a character, so it is not text.`,
    )
  }
  if (encoding !== 'UTF-8' && !text.startsWith(BYTE_ORDER_MARK)) {
    throw new ServerError('invalid_diff', `${path} is ${encoding} and must keep its byte order mark.`)
  }
  checkLines(text, `The new text of ${path}`)
  const bytes = Buffer.from(text, encoding === 'UTF-8' ? 'utf8' : 'utf16le')
  if (bytes.length > MAX_FILE_BYTES) throw tooLarge(`The new text of ${path}`)
  return encoding === 'UTF-16 (big endian)' ? bytes.swap16() : bytes
}

function checkLines(text: string, what: string): void {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  if (lines > MAX_LINES) throw new ServerError('invalid_diff', `${what} has more than 500,000 lines.`)
}

function encodingOf(bytes: Uint8Array): Encoding {
  const [first, second, third, fourth] = bytes
  // FF FE 00 00 begins UTF-32, which then fails as UTF-8.
  if (first === 0xff && second === 0xfe && !(third === 0 && fourth === 0)) return 'UTF-16 (little endian)'
  return first === 0xfe && second === 0xff ? 'UTF-16 (big endian)' : 'UTF-8'
}

function decoded(bytes: Uint8Array, encoding: Encoding): string | null {
  try {
    const label = encoding === 'UTF-8' ? 'utf-8' : 'utf-16le'
    return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
