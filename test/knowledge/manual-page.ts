// A manual page as text: headings at the margin, everything else indented, as `man` prints it. It knows the macros that pages of section 1
// to 8 use, and throws the others away; the machine needs no groff.

const CHARACTERS: Record<string, string> = {
  aq: "'",
  dq: '"',
  cq: '’',
  oq: '‘',
  lq: '“',
  rq: '”',
  em: '—',
  en: '–',
  hy: '-',
  bu: '•',
  co: '©',
  ha: '^',
  ti: '~',
  rs: '\\',
  ga: '`',
  la: '⟨',
  ra: '⟩',
  mu: '×',
  ss: 'ß',
  ':a': 'ä',
  ':o': 'ö',
  ':u': 'ü',
  ':A': 'Ä',
  ':O': 'Ö',
  ':U': 'Ü',
  "'e": 'é',
}

const SKIPPED =
  /^(?:\.\\"|'\\"|\.(?:de|ig|if|ie|el|nr|ds|so|ad|hy|nh|ta|ne|in|ti|ft|ps|vs|fi|nf|EX|EE|UE|ME|RS|RE|PD|BB|EB|Os|Dd|Bl|El|Ed|Bd)\b|\.\.|\.$)/

/** Null: it has no text of its own, or is written in macros that this does not know. */
export function manualText(roff: string): string | null {
  const lines: string[] = []
  let paragraph = ''
  let isTerm = false
  let definition: string | null = null
  let title: string | null = null
  const close = (): void => {
    if (paragraph !== '') lines.push(`       ${paragraph}`, '')
    paragraph = ''
  }
  for (const raw of roff.split('\n')) {
    if (definition !== null) {
      if (raw === definition) definition = null
      continue
    }
    if (/^\.(?:de|ig)\b/.test(raw)) {
      definition = '..'
      continue
    }
    const [, macro, rest = ''] = /^[.']\s*([A-Za-z]{1,3})(?:\s+(.*))?$/.exec(raw) ?? []
    if (macro === 'Sh' || macro === 'Nm') return null
    if (macro === 'TH') title = words(rest).slice(0, 2).join(' ')
    else if (macro === 'SH' || macro === 'SS') {
      close()
      isTerm = false
      const text = inline(rest)
      if (text === '') continue
      lines.push(`${macro === 'SS' ? '   ' : ''}${text}`)
    } else if (macro === 'TP' || macro === 'TQ') {
      close()
      isTerm = true
    } else if (macro === 'IP') {
      close()
      const text = words(rest)[0] ?? ''
      if (text.length > 1) lines.push(`       ${text}`)
    } else if (macro === 'PP' || macro === 'P' || macro === 'LP' || macro === 'br' || macro === 'sp') close()
    else if (SKIPPED.test(raw) || (macro === undefined && /^[.']/.test(raw))) continue
    else {
      const text =
        macro === undefined ? inline(raw) : /^(?:[BIR]{2}|SB|SM|[BI])$/.test(macro) ? joined(macro, rest) : inline(rest)
      if (text === '' && macro === undefined) close()
      else if (isTerm && text !== '') {
        lines.push(`       ${text}`)
        isTerm = false
      } else if (text !== '') paragraph = paragraph === '' ? text : `${paragraph} ${text}`
    }
  }
  close()
  if (title === null || lines.length < 10) return null
  return `${title}\n\n${wrapped(lines).join('\n')}\n`
}

function words(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"?|(\S+)/g)].map((found) => inline(found[1] ?? found[2] ?? ''))
}

const joined = (macro: string, rest: string): string => words(rest).join(/^[BIR]{2}$/.test(macro) ? '' : ' ')

function inline(text: string): string {
  return text
    .replace(/\\".*$/, '')
    .replace(/\\f(?:\[[^\]]*\]|\(..|.)|\\s[-+]?\d|\\[&|^%:/,)c]/g, '')
    .replace(/\\\[([^\]]*)\]|\\\((..)/g, (_, long?: string, short?: string) => CHARACTERS[long ?? short ?? ''] ?? '')
    .replace(/\\-/g, '-')
    .replace(/\\[ ~0]/g, ' ')
    .replace(/\\e|\\\\/g, '\\')
    .replace(/\\\*(?:\[[^\]]*\]|\(..|.)/g, '')
    .replace(/^"|"$/g, '')
    .trim()
}

/** At 80 columns, as a terminal shows them. */
function wrapped(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    if (line.length <= 80 || !line.startsWith('       ')) return [line]
    const rows: string[] = []
    let row = ''
    for (const word of line.trim().split(' ')) {
      if (row !== '' && row.length + word.length > 72) {
        rows.push(row)
        row = ''
      }
      row = row === '' ? word : `${row} ${word}`
    }
    return [...rows, row].map((text) => `       ${text}`)
  })
}
