// Bytes of a text file -> its characters. A byte order mark decides; without one, what the bytes can be.

import { isUtf8 } from 'node:buffer'

export interface DecodedText {
  /** Line ends are `\n`; no byte order mark. */
  text: string
  /** Some bytes fit no encoding and stand as U+FFFD. */
  lossy: boolean
}

export function decodeText(bytes: Uint8Array): DecodedText {
  const encoding = encodingOf(bytes)
  const text = new TextDecoder(encoding).decode(bytes)
  return { text: text.replace(/\r\n?/g, '\n'), lossy: encoding !== 'windows-1252' && text.includes('\uFFFD') }
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

function encodingOf(bytes: Uint8Array): Encoding {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  return utf16ByZeros(bytes.subarray(0, 65_536)) ?? (isMostlyUtf8(bytes) ? 'utf-8' : 'windows-1252')
}

/** Every script has spaces, digits and line ends, which in UTF-16 are a byte and a zero, always on the same side. */
function utf16ByZeros(bytes: Uint8Array): Encoding | null {
  const zeros = [0, 0]
  for (const [at, byte] of bytes.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (odd > bytes.length / 100 && even * 10 < odd) return 'utf-16le'
  if (even > bytes.length / 100 && odd * 10 < even) return 'utf-16be'
  return null
}

/**
 * A file that was cut in the middle of a character, or that has a few broken ones, is still UTF-8: read as Latin-1, all the others
 * would be wrong.
 */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  if (isUtf8(bytes)) return true
  const text = new TextDecoder().decode(bytes)
  let broken = 0
  let whole = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0xfffd) broken++
    else if (code > 0x7f) whole++
  }
  return broken * 10 <= whole
}
