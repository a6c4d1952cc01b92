// Tells which encoding of one byte a character a text has: the one in which it looks most like a language that uses this encoding.

import {
  type BytePairs,
  bitsOf,
  byteMeaningsOf,
  bytePairsOf,
  type Language,
  type UsualPairs,
  usualPairsOf,
} from './letter-costs.ts'

const western: Language[] = ['de', 'fr', 'es', 'pt', 'it', 'nl', 'ca', 'sv', 'da', 'nb', 'fi', 'is', 'et']
const central: Language[] = ['pl', 'cs', 'sk', 'hu', 'hr', 'sl', 'ro', 'de']
const baltic: Language[] = ['lt', 'lv', 'et']

/** For each encoding the languages that were written in it. Of two that give the same text, the first one counts. */
const candidates = {
  'windows-1252': western,
  'windows-1250': central,
  'windows-1251': ['ru', 'uk', 'bg', 'sr'],
  'windows-1253': ['el'],
  'windows-1254': ['tr'],
  'windows-1255': ['he'],
  'windows-1256': ['ar'],
  'windows-1257': baltic,
  'windows-874': ['th'],
  'iso-8859-2': central,
  'iso-8859-4': baltic,
  'iso-8859-5': ['ru', 'uk', 'bg', 'sr'],
  'iso-8859-6': ['ar'],
  'iso-8859-7': ['el'],
  'iso-8859-15': western,
  'koi8-r': ['ru'],
  'koi8-u': ['uk'],
  ibm866: ['ru'],
  // Icelandic had an encoding of its own on the Mac.
  macintosh: western.filter((language) => language !== 'is'),
  'x-mac-cyrillic': ['ru', 'uk'],
  // What Western DOS wrote. Node cannot decode it, so it is only recognized, and not taken for another one.
  ibm850: western,
} satisfies Record<string, Language[]>

type Candidate = keyof typeof candidates

export type SingleByteEncoding = Exclude<Candidate, 'ibm850'>

/** Bytes 128 to 255. */
const IBM850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0'

/**
 * An ordinary text costs about 9 bits a pair in Latin script, where only the rare letters are judged, and 8 in another script. One that
 * costs more than this is not in one of our languages …
 */
const MOST_BITS = { latin: 12, other: 9.6, th: 10.8 }
/** … unless it is full of rare words, and every other reading is much worse. */
const MOST_BITS_OF_RARE_WORDS = 13
const MUCH_WORSE_A_PAIR = 2
/** Hardly anybody has files in these, so they must fit better by some bits. */
const rare = new Set<Candidate>(['iso-8859-4', 'iso-8859-6', 'x-mac-cyrillic', 'ibm850'])
const RARE_BITS = 5
/** In all, another reading must cost at least so many bits more. */
const CLEAR_BITS = 12

/** A language has at most a thousand different pairs or so. To judge the pairs of noise would keep the server busy. */
const MOST_PAIRS = 3_000

export interface SingleByteVerdict {
  encoding: SingleByteEncoding
  bitsAPair: number
  /** It looks like a language. */
  isPossible: boolean
  /** And it looks much less like one in every other encoding. */
  isClear: boolean
}

/** Null: no encoding that we can read fits. */
export function singleByteEncodingOf(bytes: Uint8Array): SingleByteVerdict | null {
  const pairs = bytePairsOf(bytes)
  if (pairs.size > MOST_PAIRS) return null
  const total = pairs.values().reduce((sum, count) => sum + count, 0)
  const readings = readingsOf(pairs).sort((a, b) => a.bits - b.bits)
  const [best] = readings
  if (best === undefined || best.encoding === 'ibm850') return null
  const present = new Set(bytes.filter((byte) => byte > 0x7f))
  const other = readings.find(({ characters }) => present.values().some((at) => characters[at] !== best.characters[at]))
  const worse = (other?.bits ?? Number.POSITIVE_INFINITY) - best.bits
  const bitsAPair = best.bits / total
  const isPossible = bitsAPair <= mostBitsOf(best.language, worse / total)
  return { encoding: best.encoding, bitsAPair, isPossible, isClear: isPossible && worse >= CLEAR_BITS }
}

function mostBitsOf(language: Language, worseAPair: number): number {
  if (language === 'th') return MOST_BITS.th
  if (otherScripts.has(language)) return MOST_BITS.other
  return worseAPair >= MUCH_WORSE_A_PAIR ? MOST_BITS_OF_RARE_WORDS : MOST_BITS.latin
}

const otherScripts = new Set<Language>(['ru', 'uk', 'bg', 'sr', 'el', 'he', 'ar'])

interface Reading {
  encoding: Candidate
  characters: string
  /** The one that fits best, and its bits. */
  language: Language
  bits: number
}

function readingsOf(pairs: BytePairs): Reading[] {
  const usual = new Map<Language, UsualPairs>()
  return (Object.keys(candidates) as Candidate[]).flatMap((encoding) => {
    const characters = charactersOf(encoding)
    const meanings = byteMeaningsOf(characters)
    const handicap = rare.has(encoding) ? RARE_BITS : 0
    const [best] = candidates[encoding]
      .map((language: Language) => {
        const known = usual.get(language) ?? usualPairsOf(language)
        usual.set(language, known)
        return { encoding, characters, language, bits: handicap + bitsOf(pairs, meanings, known) }
      })
      .sort((a, b) => a.bits - b.bits)
    return best === undefined || best.bits === Number.POSITIVE_INFINITY ? [] : best
  })
}

const allBytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)

/** What the 256 bytes are in this encoding. */
const charactersOf = (encoding: Candidate): string =>
  encoding === 'ibm850'
    ? Buffer.from(allBytes.subarray(0, 128)).toString('latin1') + IBM850
    : new TextDecoder(encoding).decode(allBytes)
