// Bytes of a text file -> its characters.

import { unreadable } from '../unreadable.ts'
import { textEncodingOf } from './text-encoding.ts'

export interface DecodedText {
  /** Line ends are `\n`; no byte order mark. */
  text: string
  /** Some bytes fit no encoding and stand as U+FFFD. */
  lossy: boolean
}

/** Throws `file_unreadable` when it is not clear what the bytes stand for. */
export function decodeText(bytes: Uint8Array): DecodedText {
  const encoding = textEncodingOf(bytes)
  if (encoding === null) throw unreadable(UNKNOWN_ENCODING)
  const text = new TextDecoder(encoding).decode(bytes)
  return { text: text.replace(/\r\n?/g, '\n'), lossy: text.includes('\uFFFD') }
}

const UNKNOWN_ENCODING =
  'The file is text in an encoding that cannot be told for certain: save it as UTF-8 and attach it again.'
