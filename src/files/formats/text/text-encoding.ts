// Finds the encoding of a text: UTF-8 if the bytes allow it, then UTF-16 by the position of its zeros, then older encodings by the
// letters that they would give. A wrong guess gives nonsense that nobody notices, so unclear cases are not guessed.

import { isUtf8 } from 'node:buffer'

type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | LegacyEncoding

type LegacyEncoding = 'windows-1252' | 'windows-1250' | keyof typeof typical

/** Null: the encoding is not clear. `bytes` may end in the middle of a character. */
export function textEncodingOf(bytes: Uint8Array): TextEncoding | null {
  const [first, second, third] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  return utf16WithoutMark(bytes.subarray(0, 65_536)) ?? (isMostlyUtf8(bytes) ? 'utf-8' : legacyEncodingOf(bytes))
}

/** Every script has spaces, digits and line ends. In UTF-16 these are a byte and a zero, always in the same order. */
export function utf16WithoutMark(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const zeros = [0, 0]
  let controls = 0
  for (const [at, byte] of bytes.entries()) {
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
    if (byte < 0x08) controls++
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

/** For bytes that are not UTF-8. Looks around the first byte that is not ASCII, because ASCII is the same in all encodings. */
export function legacyEncodingOf(bytes: Uint8Array): LegacyEncoding | null {
  const from = Math.max(0, bytes.findIndex((byte) => byte > 0x7f) - BEFORE_BYTES)
  const sample = bytes.subarray(from, from + SAMPLE_BYTES)
  const western = decoded(sample, 'windows-1252')
  // Western languages have few letters outside ASCII, hardly ever three in a row. Chinese or Russian decoded as Western have only such letters.
  if (western !== null && isWestern(western)) return 'windows-1252'
  const central = decoded(sample, 'windows-1250')
  if (central !== null && isCentral(central)) return 'windows-1250'
  const [best, second] = (Object.keys(typical) as (keyof typeof typical)[])
    .map((encoding) => ({ encoding, score: scoreOf(decoded(sample, encoding), typical[encoding]) }))
    .sort((a, b) => b.score - a.score)
  if (best === undefined || best.score < CLEAR) return null
  return best.score >= (second?.score ?? 0) * MARGIN ? best.encoding : null
}

/** Null: the bytes are not in this encoding. */
function decoded(bytes: Uint8Array, encoding: string): string | null {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true })
    // Bytes that an encoding does not use become control characters.
    return /[\x80-\x9f]/.test(text) ? null : text
  } catch {
    return null
  }
}

/** In most texts of a language at least this share of the letters are one of these. */
interface Typical {
  letters: RegExp
  share: number
}

const cyrillic: Typical = { letters: /[оеаинтсрвл]/giu, share: 0.55 }
const japanese: Typical = { letters: /[のにはをたがでとしれさるいもなかっすまンスルトリーアイラ]/gu, share: 0.3 }
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
  'windows-1251': cyrillic,
  'koi8-r': cyrillic,
  ibm866: cyrillic,
  'iso-8859-5': cyrillic,
  shift_jis: japanese,
  'euc-jp': japanese,
  gb18030: simplified,
  big5: traditional,
  'euc-kr': korean,
} satisfies Record<string, Typical>

/** An ordinary text of the language scores 1. */
const CLEAR = 0.5
const MARGIN = 1.5
const FEWEST_LETTERS = 3

function scoreOf(text: string | null, { letters, share }: Typical): number {
  if (text === null) return 0
  const all = text.match(BEYOND_ASCII_LETTER)?.length ?? 0
  // Signs inside words show that the text is in another encoding.
  const odd = text.match(ODD)?.length ?? 0
  return all < FEWEST_LETTERS ? 0 : (text.match(letters)?.length ?? 0) / (all + 10 * odd) / share
}

const BEYOND_ASCII_LETTER = /(?![a-z])\p{L}/giu
/** Private, unassigned, drawing and half-width characters; two alphabets in one word; a capital after a small letter. */
const ODD =
  /[\p{Co}\p{Cn}\u2500-\u259f\uff61-\uff9f]|(?<=[A-Za-z])\p{Script=Cyrillic}|\p{Script=Cyrillic}(?=[A-Za-z])|(?<=\p{Ll})\p{Lu}/gu

/** Most characters that are not ASCII, as a share of all: languages in Latin script mostly use ASCII letters. */
const MAX_SHARE = 0.45

function isWestern(text: string): boolean {
  // This is how Czech, Slovak, Slovene and Croatian look when decoded as Western.
  if (/[šž]/i.test(text) && /[ìèøùïòæð]/i.test(text)) return false
  return isLatin(text)
}

const isCentral = (text: string): boolean => isLatin(text) && /[ąćęłńśźżěščřžůťďňđőű]/i.test(text)

function isLatin(text: string): boolean {
  const countOf = (pattern: RegExp) => text.match(pattern)?.length ?? 0
  const all = countOf(/[^\p{ASCII}]/gu)
  const inRuns = (text.match(/(?:(?!\p{ASCII})\p{L}){3,}/gu) ?? []).join('').length
  const capitals = countOf(/(?<=\p{Ll})(?!\p{ASCII})\p{Lu}/gu)
  const signsInWords = countOf(/(?<=\p{L})(?!\p{ASCII})[^\p{L}\p{M}’\u00ad·](?=\p{L})|[¶¦¼¾¨¸](?=\p{Ll})/gu)
  return all <= text.length * MAX_SHARE && (inRuns + capitals) * 5 + signsInWords * 20 <= all
}
