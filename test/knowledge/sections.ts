// The sections of the fetched documents, found without any code of the server: what is measured must not say what is asked.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { type CorpusDocument, documentsFolder } from './corpus.ts'
import type { Language } from './packages.ts'

export interface Section {
  heading: string
  /** The next higher heading, or the title. Empty: there is none. */
  above: string
  page: number | null
  text: string
  /** Ids of HTML. */
  anchors: string[]
  definitions: Definition[]
}

/** A term and what is said of it: an entry of a definition list, an option of a manual page. */
export interface Definition {
  term: string
  text: string
}

export async function sectionsOf(document: CorpusDocument): Promise<Section[]> {
  const bytes = readFileSync(join(documentsFolder, document.file))
  switch (document.kind) {
    case 'html':
      return htmlSections(bytes.toString('utf8'))
    case 'markdown':
      return markdownSections(bytes.toString('utf8'))
    case 'text':
      return textSections(bytes.toString('utf8'))
    case 'manual':
      return manualSections(bytes.toString('utf8'))
    case 'pdf':
      return pdfSections(bytes)
  }
}

const section = (heading: string, above: string): Section => ({
  heading: heading.replace(/\s+/g, ' ').trim(),
  above,
  page: null,
  text: '',
  anchors: [],
  definitions: [],
})

const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  szlig: 'ß',
  laquo: '«',
  raquo: '»',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  sbquo: '‚',
  para: '',
  iexcl: '¡',
  iquest: '¿',
  oelig: 'œ',
  copy: '©',
}

const ACCENTS: Record<string, string> = {
  acute: '\u0301',
  grave: '\u0300',
  circ: '\u0302',
  uml: '\u0308',
  tilde: '\u0303',
  cedil: '\u0327',
  ring: '\u030a',
}

/** `eacute` is an e with an acute accent. */
function accented(name: string): string | undefined {
  const accent = ACCENTS[name.slice(1)]
  return accent === undefined ? undefined : `${name[0]}${accent}`.normalize('NFC')
}

export const plainText = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:#(\d+)|#x([\da-f]+)|([a-z]+));/gi, (all, decimal?: string, hex?: string, name?: string) =>
      name === undefined
        ? String.fromCodePoint(Number.parseInt(decimal ?? hex ?? '', hex === undefined ? 10 : 16) || 32)
        : (ENTITIES[name] ?? accented(name) ?? all),
    )
    .replace(/[¶\u200b\u00ad]/g, '')
    .replace(/\s+/g, ' ')

function htmlSections(html: string): Section[] {
  const body = html.replace(/<!--[\s\S]*?-->|<(script|style|nav|head)\b[\s\S]*?<\/\1>/gi, ' ')
  const parts = body.split(/<h[1-6]\b/i)
  const levels = [...body.matchAll(/<h([1-6])\b/gi)].map((found) => Number(found[1]))
  const above: string[] = []
  const idsOf = (part: string): string[] =>
    [...part.matchAll(/\s(?:id|name)="([^"]+)"/g)].map((found) => found[1] ?? '')
  // The id of a section often stands on an element just before its heading.
  const NEAR = 250
  let pending = idsOf((parts[0] ?? '').slice(-NEAR))
  return parts.slice(1).map((part, i) => {
    const end = part.search(/<\/h[1-6]>/i)
    const level = levels[i] ?? 1
    const title = plainText(part.slice(part.indexOf('>') + 1, end === -1 ? 0 : end))
    const found = section(title, above.slice(0, level).findLast((one) => one !== undefined) ?? '')
    above.length = Math.min(above.length, level)
    above[level] = found.heading
    const rest = end === -1 ? '' : part.slice(end)
    const cut = Math.max(end, part.length - NEAR)
    found.anchors = [...pending, ...idsOf(part.slice(0, cut))]
    pending = idsOf(part.slice(cut))
    found.text = plainText(
      rest.replace(/<(?:p|div|li|dt|dd|tr|pre|table|br|ul|ol|dl|h\d|blockquote)\b[^>]*>/gi, (tag) => `\n${tag} `),
    ).trim()
    found.definitions = [
      ...rest.matchAll(/<dt\b[^>]*>([\s\S]*?)<\/dt>\s*<dd\b[^>]*>([\s\S]*?)(?=<\/dd>|<dt\b|<dl\b)/gi),
    ].map((entry) => ({
      term: plainText(entry[1] ?? '').trim(),
      text: plainText(entry[2] ?? '').trim(),
    }))
    return found
  })
}

function markdownSections(text: string): Section[] {
  const sections: Section[] = []
  const above: string[] = []
  let isCode = false
  for (const line of text.replace(/^---\n[\s\S]*?\n---\n/, '').split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    const [, marks, title] = isCode ? [] : (/^(#{1,6})\s+(.+?)\s*#*$/.exec(line) ?? [])
    if (marks !== undefined && title !== undefined) {
      const clean = plainText(title.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]|\{#[^}]*\}/g, ''))
      sections.push(section(clean, above.slice(0, marks.length).findLast((one) => one !== undefined) ?? ''))
      above.length = Math.min(above.length, marks.length)
      above[marks.length] = clean
    } else {
      const last = sections.at(-1)
      if (last !== undefined && !isCode && !/^\s*(?:```|~~~|\||<|import |:::|!\[)/.test(line)) last.text += `${line}\n`
    }
  }
  for (const one of sections)
    one.text = one.text
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[`*]/g, '')
      .trim()
  return sections
}

/** RFCs with numbered headings, and AsciiDoc with underlined ones. */
function textSections(text: string): Section[] {
  const lines = text.split('\n').filter((line) => !/^\f|\[Page \d+\]\s*$|^RFC \d+ .*\d{4}\s*$/.test(line))
  const sections: Section[] = []
  const title = lines.find((line) => line.trim() !== '')?.trim() ?? ''
  for (let i = 0; i < lines.length; i += 1) {
    const [line = '', next = ''] = [lines[i], lines[i + 1]]
    const numbered = /^(?:\d+(?:\.\d+)*\.?|[A-Z](?:\.\d+)+\.?)\s{1,3}(\S.{2,70})$/.exec(line)?.[1]
    if (numbered !== undefined && next.trim() === '' && !/\.{3}|(?: \.){3}|\s\d+$/.test(numbered))
      sections.push(section(numbered, title))
    else if (
      /^\S.{3,70}$/.test(line) &&
      /^(?:-{4,}|~{4,}|={4,}|\^{4,})$/.test(next) &&
      Math.abs(line.length - next.length) < 3
    ) {
      sections.push(section(line, title))
      i += 1
    } else {
      const last = sections.at(-1)
      if (last !== undefined) last.text += `${line}\n`
    }
  }
  for (const one of sections) {
    const entries = one.text.matchAll(
      /(?:^|\n)((?:-{1,2}\w[^\n]*|[a-z]+(?:\.[a-zA-Z<>]+)+))::\n\s*(\S[^\n]*(?:\n(?!\n)[^\n]+)*)/g,
    )
    one.definitions = [...entries].map((entry) => ({
      term: entry[1] ?? '',
      text: (entry[2] ?? '').replace(/\s+/g, ' '),
    }))
  }
  return sections
}

function manualSections(text: string): Section[] {
  const lines = text.split('\n')
  const title = lines[0] ?? ''
  const sections: Section[] = []
  for (const line of lines.slice(1)) {
    if (/^(?: {3})?\S/.test(line)) sections.push(section(line, title))
    else {
      const last = sections.at(-1)
      if (last !== undefined) last.text += `${line}\n`
    }
  }
  for (const one of sections) {
    // A term stands in the line before its text, at the same margin; in front of it is a blank line.
    const entries = one.text.matchAll(/(?:^|\n\n) {7}(-{0,2}\S[^\n]{1,60})\n {7}(\S[^\n]*(?:\n {7}[^\n]+)*)/g)
    one.definitions = [...entries].map((entry) => ({
      term: entry[1] ?? '',
      text: (entry[2] ?? '').replace(/\s+/g, ' '),
    }))
  }
  return sections
}

async function pdfSections(bytes: Buffer): Promise<Section[]> {
  const data = new Uint8Array(bytes)
  const pdf = await getDocument({
    data,
    verbosity: VerbosityLevel.ERRORS,
    useSystemFonts: false,
  }).promise
  try {
    const flat: { title: string; above: string; dest: unknown }[] = []
    const walk = (items: Awaited<ReturnType<typeof pdf.getOutline>>, above: string): void => {
      for (const item of items ?? []) {
        flat.push({ title: item.title, above, dest: item.dest })
        walk(item.items, item.title)
      }
    }
    walk(await pdf.getOutline(), '')
    const pages = new Map<number, string>()
    const sections: Section[] = []
    // Enough to choose from; manuals have thousands.
    const step = Math.max(1, Math.ceil(flat.length / 60))
    for (const { title, above, dest } of flat.filter((_, i) => i % step === 0)) {
      const place = typeof dest === 'string' ? await pdf.getDestination(dest).catch(() => null) : dest
      const ref = Array.isArray(place) ? place[0] : null
      if (ref === null || typeof ref !== 'object') continue
      const page = (await pdf.getPageIndex(ref).catch(() => -2)) + 1
      if (page < 1) continue
      const text = pages.get(page) ?? (await pageText(pdf, page))
      pages.set(page, text)
      const found = section(title, above)
      const bare = found.heading.replace(/^(?:[\dA-Z]+(?:\.\d+)*\.?|Kapitel \d+\.|Chapitre \d+\.|第 ?\d+ ?章)\s+/, '')
      const at = text.indexOf(bare)
      if (bare.length < 4 || at === -1) continue
      sections.push({ ...found, heading: bare, page, text: text.slice(at + bare.length).trim() })
    }
    return sections
  } finally {
    await pdf.loadingTask.destroy()
  }
}

async function pageText(pdf: Awaited<ReturnType<typeof getDocument>['promise']>, page: number): Promise<string> {
  const { items } = await (await pdf.getPage(page)).getTextContent()
  return items
    .map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
    .join('')
    .replace(/(\p{Ll})-\n(\p{Ll})/gu, '$1$2')
    .replace(/\s+/g, ' ')
}

const STOP: Record<Exclude<Language, 'ja' | 'zh'>, ReadonlySet<string>> = {
  en: new Set(
    'the of and to is in that for are with this be or as by on it an from can if which not you will when'.split(' '),
  ),
  de: new Set(
    'der die das und ist nicht ein eine mit für auf den werden wird sie von zu im dem des sich auch oder wenn'.split(
      ' ',
    ),
  ),
  fr: new Set(
    'le la les des et est une un pour dans que qui du sur par pas avec vous ce cette il au ou être sont'.split(' '),
  ),
  es: new Set(
    'el la los las de y es una un para en que del por con se no lo su al como este esta o más son'.split(' '),
  ),
  it: new Set(
    'il la le gli di e è una un per che del della non con si nel sono come questo questa da al i o più'.split(' '),
  ),
}

/** Translations are often unfinished, so the language is that of the text and not that of its package. */
export function isIn(language: Language, text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const kana = text.match(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0
  if (language === 'ja') return kana > letters * 0.2
  if (language === 'zh') return kana === 0 && han > letters * 0.4
  if (han + kana > 5) return false
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? []
  const share = (one: keyof typeof STOP): number =>
    words.filter((word) => STOP[one].has(word)).length / Math.max(1, words.length)
  const own = share(language)
  return own > 0.15 && (Object.keys(STOP) as (keyof typeof STOP)[]).every((one) => one === language || share(one) < own)
}
