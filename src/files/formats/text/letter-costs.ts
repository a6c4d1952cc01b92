// How unlikely a text is in a language, in bits, judged by its letters beyond ASCII and their neighbours. `ł` is Polish, but not after
// `q`. Only pairs of characters are judged: they tell languages apart and can be counted once for all encodings of one byte a character.

import { letterPairs } from './letter-pairs.ts'

export type Language = keyof typeof letterPairs

/** Counts of the byte pairs in a text where at least one byte is not ASCII. The key is the first byte × 256 + the second. */
export type BytePairs = ReadonlyMap<number, number>

/** The beginning and the end count as spaces. */
export function bytePairsOf(bytes: Uint8Array): BytePairs {
  const counts = new Map<number, number>()
  let before = SPACE
  for (let at = 0; at <= bytes.length; at++) {
    const byte = bytes[at] ?? SPACE
    if (before > 0x7f || byte > 0x7f) {
      const pair = before * 256 + byte
      counts.set(pair, (counts.get(pair) ?? 0) + 1)
    }
    before = byte
  }
  return counts
}

const SPACE = 0x20

/** What each byte means in an encoding of one byte a character. */
export type ByteMeanings = readonly (Meaning | null)[]

interface Meaning {
  /** Small letter; other characters are a space. */
  letter: string
  kind: 'letter' | 'digit' | 'space' | 'punctuation' | Sign
  isCapital: boolean
  isAscii: boolean
  isLatin: boolean
  /** Quotation marks come in twos. */
  isQuotation: boolean
}

/** Characters that are not letters, by the place that they have in a text. */
type Sign = 'apostrophe' | 'opening' | 'closing' | 'either' | 'dash' | 'apart' | 'odd'

const signs: Record<string, Sign> = {
  ...signsOf('’', 'apostrophe'),
  ...signsOf('„¿¡µ', 'opening'),
  ...signsOf('”™®ªº', 'closing'),
  // Some languages open a quotation with these, others close it. A degree follows a number or precedes a C.
  ...signsOf('“‘«»°', 'either'),
  ...signsOf('–—', 'dash'),
  ...signsOf('…•€£¥§©½²³±×№\u00a0', 'apart'),
}

function signsOf(characters: string, sign: Sign): Record<string, Sign> {
  return Object.fromEntries(Array.from(characters, (character) => [character, sign]))
}

/** `characters`: what the 256 bytes are in the encoding. A byte that it does not use is null. */
export const byteMeaningsOf = (characters: string): ByteMeanings => Array.from(characters, meaningOf)

function meaningOf(character: string): Meaning | null {
  // Bytes that an encoding does not use may also become control or private characters.
  if (/[\x80-\x9f\p{Co}\ufffd]/u.test(character)) return null
  const isLetter = /[\p{L}\p{M}]/u.test(character) && signs[character] === undefined
  const isAscii = character <= '\x7f'
  return {
    letter: isLetter ? character.toLowerCase().charAt(0) : ' ',
    kind: isLetter ? 'letter' : isAscii ? asciiKindOf(character) : (signs[character] ?? 'odd'),
    isCapital: /\p{Lu}/u.test(character),
    isAscii,
    isLatin: /\p{Script=Latin}/u.test(character),
    isQuotation: /[„“”«»]/.test(character),
  }
}

function asciiKindOf(character: string): 'digit' | 'space' | 'punctuation' {
  if (/[0-9]/.test(character)) return 'digit'
  return /\s/.test(character) ? 'space' : 'punctuation'
}

/** A pair that the language has costs 5 to 12 bits. */
const UNSEEN_PAIR = 14
const FOREIGN_LETTER = 3
const SIGN_IN_PLACE = 7
const USUAL_SIGN = 4
const UNUSUAL_SIGN = 9
const SIGN_OUT_OF_PLACE = 14
const ODD_SIGN = 17
const CAPITAL_AFTER_SMALL = 12
const TWO_SCRIPTS_IN_WORD = 14
const LETTER_AT_DIGIT = 4
const QUOTE_LEFT_OPEN = 10

/** Infinite when the encoding does not have one of the bytes. */
export function bitsOf(pairs: BytePairs, meanings: ByteMeanings, usual: UsualPairs): number {
  let bits = 0
  let quotes = 0
  for (const [pair, count] of pairs) {
    const before = meanings[pair >> 8]
    const after = meanings[pair & 0xff]
    if (before == null || after == null) return Number.POSITIVE_INFINITY
    bits += count * bitsOfPair(before, after, usual)
    if (after.isQuotation) quotes += count
  }
  return bits + (quotes % 2) * QUOTE_LEFT_OPEN
}

function bitsOfPair(before: Meaning, after: Meaning, { pairs, letters }: UsualPairs): number {
  if (isSign(before) || isSign(after)) return bitsOfSign(before, after)
  let bits = pairs.get(before.letter + after.letter) ?? UNSEEN_PAIR + foreign(before, letters) + foreign(after, letters)
  if (before.kind === 'digit' || after.kind === 'digit') bits += LETTER_AT_DIGIT
  if (before.kind !== 'letter' || after.kind !== 'letter') return bits
  if (after.isCapital && !before.isCapital) bits += CAPITAL_AFTER_SMALL
  if (before.isLatin !== after.isLatin) bits += TWO_SCRIPTS_IN_WORD
  return bits
}

const foreign = ({ letter, isAscii }: Meaning, letters: ReadonlySet<string>): number =>
  isAscii || letters.has(letter) ? 0 : FOREIGN_LETTER

const plainKinds = new Set<Meaning['kind']>(['letter', 'digit', 'space', 'punctuation'])
const isSign = ({ kind }: Meaning): boolean => !plainKinds.has(kind)

/** Pairs of kinds that are hardly ever seen in a text, besides two signs. */
const outOfPlace = new Set([
  'closing letter',
  'space closing',
  'letter opening',
  'opening space',
  'apart letter',
  'letter apart',
])
const usual = new Set(['letter apostrophe', 'apostrophe letter'])
const unusual = new Set(['dash letter', 'letter dash', 'either letter', 'letter either'])

function bitsOfSign(before: Meaning, after: Meaning): number {
  if (before.kind === 'odd' || after.kind === 'odd') return ODD_SIGN
  const kinds = `${before.kind} ${after.kind}`
  if (outOfPlace.has(kinds) || (isSign(before) && isSign(after))) return SIGN_OUT_OF_PLACE
  if (usual.has(kinds) || before.kind === 'digit' || after.kind === 'digit') return USUAL_SIGN
  return unusual.has(kinds) ? UNUSUAL_SIGN : SIGN_IN_PLACE
}

export interface UsualPairs {
  pairs: ReadonlyMap<string, number>
  letters: ReadonlySet<string>
}

const FEWEST_BITS = 5

export function usualPairsOf(language: Language): UsualPairs {
  const pairs = new Map<string, number>()
  for (const [step, group] of letterPairs[language].split(' ').entries()) {
    for (const pair of group.match(/../gu) ?? []) pairs.set(pair.replace('_', ' '), FEWEST_BITS + step)
  }
  return { pairs, letters: new Set([...pairs.keys()].join('')) }
}
