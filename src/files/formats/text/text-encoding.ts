// Finds the encoding of a text: UTF-8 if the bytes allow it, UTF-16 by the position of its zeros, ISO-2022-JP by its marks, and other
// encodings by the letters that they would give. A wrong guess gives nonsense that nobody notices, so unclear cases are not guessed.

import { isUtf8 } from 'node:buffer'
import { type SingleByteEncoding, singleByteEncodingOf } from './single-byte-encoding.ts'

type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'iso-2022-jp' | LegacyEncoding

type LegacyEncoding = SingleByteEncoding | EastAsianEncoding

/** Null: the encoding is not clear. `bytes` may end in the middle of a character. */
export function textEncodingOf(bytes: Uint8Array): TextEncoding | null {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  const utf16 = utf16WithoutMark(bytes.subarray(0, 65_536))
  if (utf16 !== null) return utf16
  if (!isMostlyUtf8(bytes)) return legacyEncodingOf(bytes)
  return hasEscapes(bytes) ? escapedEncodingOf(bytes) : 'utf-8'
}

/** Mail of old: ASCII in which an escape and `$` begin another script. */
const hasEscapes = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('\x1b$')

function escapedEncodingOf(bytes: Uint8Array): 'iso-2022-jp' | null {
  try {
    const text = new TextDecoder('iso-2022-jp', { fatal: true }).decode(bytes, { stream: true })
    return /\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Han}/u.test(text) ? 'iso-2022-jp' : null
  } catch {
    return null
  }
}

/** Every script has spaces, digits and line ends. In UTF-16 these are a byte and a zero, always in the same order. */
export function utf16WithoutMark(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const zeros = [0, 0]
  let controls = 0
  for (const [at, byte] of bytes.entries()) {
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
    // Not counted: what text has too, as line ends and escapes.
    if (byte < 0x08 || (byte > 0x0d && byte < 0x1b)) controls++
  }
  const [even = 0, odd = 0] = zeros
  const most = Math.max(even, odd)
  // A single zero in other text is not enough.
  if (most < 2 || most <= bytes.length / 100 || Math.min(even, odd) * 10 >= most) return null
  if (isUtf8(bytes) && controls * 5 < bytes.length) return null
  return odd > even ? 'utf-16le' : 'utf-16be'
}

/**
 * A text that ends in the middle of a character, or has a few broken characters, is still UTF-8: in any other encoding all other
 * characters would be wrong.
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

/** How many bytes are judged in all, and how many of them before the first byte that is not ASCII. */
export const SAMPLE_BYTES = 65_536
export const BEFORE_BYTES = 1_000

/** With fewer bits a pair, a text has one byte a character, even if it looks East Asian too. */
const CERTAIN_BITS = 9.6

/** For bytes that are not UTF-8. Looks around the first byte that is not ASCII, because ASCII is the same in all encodings. */
export function legacyEncodingOf(bytes: Uint8Array): LegacyEncoding | null {
  const from = Math.max(0, bytes.findIndex((byte) => byte > 0x7f) - BEFORE_BYTES)
  const sample = bytes.subarray(from, from + SAMPLE_BYTES)
  const eastAsian = eastAsianEncodingOf(sample)
  const single = singleByteEncodingOf(sample)
  const isEastAsian = eastAsian?.isClear === true
  if (single?.isPossible !== true) return isEastAsian ? eastAsian.encoding : null
  return single.isClear && (!isEastAsian || single.bitsAPair <= CERTAIN_BITS) ? single.encoding : null
}

// Tells which of the encodings with two bytes a character a text has: the one in which the most frequent characters of its language
// are frequent.

/** In most texts of a language at least this share of the letters are one of these. */
interface Typical {
  letters: RegExp
  share: number
}

/** The kanji are those of addresses and names: a table of customers has no kana. */
const japanese: Typical = {
  letters:
    /[のにはをたがでとしれさるいもなかっすまンスルトリーアイラ東京都道府県市区町村大阪山田川本井木野中藤原島崎谷橋郎子美様住所氏名電話番号会社員者日年月品]/gu,
  share: 0.3,
}
const simplified: Typical = {
  letters:
    /[的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着之过家学对可里后小心多天而能好都然没日于起还发成事作用行方如前所本经面公同三从动两长分部]/gu,
  share: 0.2,
}
const traditional: Typical = {
  letters:
    /[的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著之過家學對可裡後小心多天而能好都然沒日於起還發成事作用行方如前所本經面公同三從動兩長分部]/gu,
  share: 0.2,
}
const korean: Typical = { letters: /[이다는의에을가고하지로은를서한도기사나인]/gu, share: 0.3 }

const typical = {
  shift_jis: japanese,
  'euc-jp': japanese,
  gb18030: simplified,
  big5: traditional,
  'euc-kr': korean,
} satisfies Record<string, Typical>

type EastAsianEncoding = keyof typeof typical

/** An ordinary text of the language scores 1. */
const CLEAR = 0.5
const MARGIN = 2
/** One of them may be chance. */
const FEWEST_TYPICAL = 2

interface EastAsianVerdict {
  encoding: EastAsianEncoding
  score: number
  isClear: boolean
}

function eastAsianEncodingOf(bytes: Uint8Array): EastAsianVerdict | null {
  const [best, second] = (Object.keys(typical) as EastAsianEncoding[])
    .map((encoding) => ({ encoding, score: scoreOf(decoded(bytes, encoding), typical[encoding]) }))
    .sort((a, b) => b.score - a.score)
  if (best === undefined || best.score === 0) return null
  return { ...best, isClear: best.score >= CLEAR && best.score >= (second?.score ?? 0) * MARGIN }
}

/** Null: the bytes are not in this encoding. */
function decoded(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return null
  }
}

function scoreOf(text: string | null, { letters, share }: Typical): number {
  if (text === null) return 0
  const all = text.match(BEYOND_ASCII_LETTER)?.length ?? 0
  // Signs inside words show that the text is in another encoding.
  const odd = text.match(ODD)?.length ?? 0
  const usual = text.match(letters)?.length ?? 0
  return usual < FEWEST_TYPICAL ? 0 : usual / (all + 10 * odd) / share
}

const BEYOND_ASCII_LETTER = /(?![a-z])\p{L}/giu
/** Control, private, unassigned, drawing and half-width characters, letters of other alphabets, and others right after a Latin letter. */
const ODD =
  /[\x80-\x9f\p{Co}\p{Cn}\u2500-\u259f\uff61-\uff9f\p{Script=Cyrillic}\p{Script=Greek}]|(?<=[a-z])(?!\p{ASCII})\p{L}/gu
