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

export type EastAsianEncoding = keyof typeof typical

/** An ordinary text of the language scores 1. */
const CLEAR = 0.5
const MARGIN = 2
/** One of them may be chance. */
const FEWEST_TYPICAL = 2

export interface EastAsianVerdict {
  encoding: EastAsianEncoding
  score: number
  isClear: boolean
}

export function eastAsianEncodingOf(bytes: Uint8Array): EastAsianVerdict | null {
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
