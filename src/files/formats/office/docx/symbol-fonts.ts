// Characters of symbol fonts: Word stores a tick as "character F0FC of Wingdings".

/** The font Symbol shows these in place of A to Z and a to z. */
const greek = { capitals: 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ', small: 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ' } as const
const symbol = new Map([
  [0xa3, '≤'],
  [0xa5, '∞'],
  [0xab, '↔'],
  [0xac, '←'],
  [0xad, '↑'],
  [0xae, '→'],
  [0xaf, '↓'],
  [0xb0, '°'],
  [0xb1, '±'],
  [0xb3, '≥'],
  [0xb4, '×'],
  [0xb6, '∂'],
  [0xb7, '•'],
  [0xb8, '÷'],
  [0xb9, '≠'],
  [0xba, '≡'],
  [0xbb, '≈'],
  [0xbc, '…'],
  [0xc5, '⊕'],
  [0xc6, '∅'],
  [0xc7, '∩'],
  [0xc8, '∪'],
  [0xcc, '⊂'],
  [0xce, '∈'],
  [0xcf, '∉'],
  [0xd1, '∇'],
  [0xd2, '®'],
  [0xd3, '©'],
  [0xd4, '™'],
  [0xd5, '∏'],
  [0xd6, '√'],
  [0xd8, '¬'],
  [0xd9, '∧'],
  [0xda, '∨'],
  [0xde, '⇒'],
  [0xe5, '∑'],
  [0xf2, '∫'],
])

const wingdings = new Map([
  [0x28, '☎'],
  [0x2a, '✉'],
  [0x46, '☞'],
  [0x4a, '☺'],
  [0x4c, '☹'],
  [0x6c, '●'],
  [0x6e, '■'],
  [0x6f, '☐'],
  [0x71, '☐'],
  [0x76, '❖'],
  [0xa7, '▪'],
  [0xa8, '☐'],
  [0xd8, '➢'],
  [0xdf, '←'],
  [0xe0, '→'],
  [0xe1, '↑'],
  [0xe2, '↓'],
  [0xe8, '➔'],
  [0xf0, '⇨'],
  [0xfb, '✗'],
  [0xfc, '✓'],
  [0xfd, '☒'],
  [0xfe, '☑'],
])

/** `code`: up to four hexadecimal digits. Unknown symbols give the replacement character, so that something stands there. */
export function symbolOf(font: string, code: string): string {
  const number = /^[0-9a-f]{1,4}$/i.test(code) ? Number.parseInt(code, 16) : 0
  // Such fonts use a private area of Unicode that mirrors the first 256 characters.
  const char = number >= 0xf000 && number <= 0xf0ff ? number - 0xf000 : number
  if (/^symbol$/i.test(font)) return symbolFont(char) ?? unknown
  if (/^wingdings$/i.test(font)) return wingdings.get(char) ?? unknown
  return char < 0x20 || (char >= 0xd800 && char < 0xf900) || number !== char ? unknown : String.fromCharCode(char)
}

const unknown = '\uFFFD'

function symbolFont(char: number): string | undefined {
  if (char >= 0x61 && char <= 0x7a) return greek.small[char - 0x61]
  if (char >= 0x41 && char <= 0x5a) return greek.capitals[char - 0x41]
  return symbol.get(char) ?? (char >= 0x20 && char < 0x40 ? String.fromCharCode(char) : undefined)
}
