// The words of an RTF document, in their order. Formatting, pictures, headers and footers are left out.

export const isRtf = (text: string): boolean => text.startsWith('{\\rtf')

/** A control word with its number, a byte of the document's code page, a control symbol, a brace, or plain text. */
const TOKEN = /\\([a-z]{1,32})(-?\d{1,9})? ?|\\'([0-9a-f]{2})|\\([\s\S])|([{}])|([^\\{}\n]+)|\n/gi

/** Groups that are not part of the text. Those that begin with `\*` are not either. */
const ASIDE = new Set(
  'fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf fldinst filetbl listtable listoverridetable rsidtbl themedata colorschememapping latentstyles datastore'.split(
    ' ',
  ),
)

const WORDS: Readonly<Record<string, string>> = {
  par: '\n',
  line: '\n',
  sect: '\n',
  page: '\n',
  row: '\n',
  tab: '\t',
  cell: ' | ',
  nestcell: ' | ',
  nestrow: '\n',
  emdash: '—',
  endash: '–',
  bullet: '•',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  emspace: ' ',
  enspace: ' ',
}
const SYMBOLS: Readonly<Record<string, string>> = { '\\': '\\', '{': '{', '}': '}', '~': ' ', _: '‑', '\n': '\n' }

/** Code pages whose name is not `windows-` and the number. */
const CODE_PAGES: Readonly<Record<number, string>> = {
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10000: 'macintosh',
  65001: 'utf-8',
}

interface Group {
  isAside: boolean
  /** How many characters after `\u` repeat that character for old programs. */
  fallback: number
}

export function rtfText(rtf: string): string {
  const written: string[] = []
  const outer: Group[] = []
  let group: Group = { isAside: false, fallback: 1 }
  let decoder = decoderFor(1252)
  /** Bytes of the code page that stand side by side: a character may have two. */
  let bytes: number[] = []
  let toSkip = 0

  function write(text: string): void {
    if (bytes.length > 0) written.push(decoder.decode(Uint8Array.from(bytes)))
    bytes = []
    if (!group.isAside && text !== '') written.push(text)
  }

  function control(word: string, number: number | null): number {
    if (word === 'ansicpg' && number !== null) decoder = decoderFor(number)
    else if (word === 'uc' && number !== null) group.fallback = Math.min(Math.max(number, 0), 8)
    else if (word === 'u' && number !== null) {
      write(String.fromCharCode(number & 0xffff))
      toSkip = group.fallback
    } else if (word === 'bin') return Math.max(number ?? 0, 0)
    else if (ASIDE.has(word)) group.isAside = true
    else write(Object.hasOwn(WORDS, word) ? (WORDS[word] ?? '') : '')
    return 0
  }

  TOKEN.lastIndex = 0
  for (let token = TOKEN.exec(rtf); token !== null; token = TOKEN.exec(rtf)) {
    const [, word, number, hex, symbol, brace, plain] = token
    if (hex !== undefined || plain !== undefined) {
      const skipped = Math.min(toSkip, plain?.length ?? 1)
      toSkip -= skipped
      if (plain !== undefined) write(plain.slice(skipped))
      else if (skipped === 0 && !group.isAside) bytes.push(Number.parseInt(hex ?? '', 16))
      continue
    }
    if (brace === undefined && word === undefined && symbol === undefined) continue
    write('')
    toSkip = 0
    if (brace === '{') {
      outer.push(group)
      group = { ...group }
    } else if (brace === '}') group = outer.pop() ?? group
    else if (word !== undefined) TOKEN.lastIndex += control(word, number === undefined ? null : Number(number))
    else if (symbol === '*') group.isAside = true
    else write(SYMBOLS[symbol ?? ''] ?? '')
  }
  write('')
  return written
    .join('')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function decoderFor(codePage: number) {
  try {
    return new TextDecoder(CODE_PAGES[codePage] ?? `windows-${codePage}`)
  } catch {
    return new TextDecoder('windows-1252')
  }
}
