// HTML -> blocks, in one pass that never goes back. It builds no tree: what is never closed, or closed twice, costs nothing. Scripts,
// styles and navigation are left out; of links the text is kept.

import type { Place } from '../../domain/knowledge/passage.ts'
import { type Block, type Content, LONGEST_HEADING } from './block.ts'
import { withoutEntities } from './html-entities.ts'

const LEFT_OUT = new Set(['script', 'style', 'template', 'noscript', 'svg', 'nav', 'iframe', 'select'])
/** If the end tag is missing, a browser takes all that follows for their content. */
const RAW = new Set(['script', 'style'])
const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)
const DEEPEST_LIST = 8
const LONGEST_NAME = 24
/** In characters. If the main part has fewer, a script fills it in. */
const LEAST_MAIN = 200
const LONGEST_ALT = 2_000

interface Table {
  rows: string[][]
  isInCell: boolean
  place: Place
}

export function htmlBlocks(html: string, isCounted: boolean): Block[] {
  const blocks: Block[] = []
  const lists: { next: number | null }[] = []
  let parts: string[] = []
  let endsInBlank = true
  let item: string | null = null
  let isInList = false
  let heading: number | null = null
  let preformatted = 0
  let table: Table | null = null
  const main = { from: 0, to: 0 }
  let line = 1
  let newline = html.indexOf('\n')
  let started: Place = placeOf(1)

  function placeOf(at: number): Place {
    return { page: null, sheet: null, slide: null, line: isCounted ? at : null }
  }
  function countLines(to: number): void {
    for (; newline !== -1 && newline < to; newline = html.indexOf('\n', newline + 1)) line++
  }
  function add(text: string): void {
    const kept = preformatted > 0 && table === null ? text : text.replace(/[\s\u00a0]+/g, ' ')
    const fresh = preformatted === 0 && endsInBlank && kept.startsWith(' ') ? kept.slice(1) : kept
    if (fresh === '') return
    if (parts.length === 0) started = placeOf(line)
    parts.push(fresh)
    endsInBlank = /\s$/.test(fresh.slice(-1))
  }
  function taken(): string {
    const text = parts.join('')
    parts = []
    endsInBlank = true
    return text
  }
  function push(kind: Content['kind'], text: string, head = '', tail = '', follows = false): void {
    blocks.push({ kind, text, head, tail, follows, places: [started] })
  }
  function close(): void {
    if (table?.isInCell) {
      add(' ')
      return
    }
    const text = taken()
    if (text.trim() === '') return
    if (preformatted > 0) {
      const fence = text.includes('```') ? '~~~~' : '```'
      push('code', text.replace(/^\n/, '').trimEnd(), fence, fence)
      return
    }
    if (heading !== null && text.length <= LONGEST_HEADING) {
      isInList = false
      const title = text.replaceAll('\n', ' ').trim()
      const known = blocks.findLast((block) => block.kind === 'heading')
      if (known?.level === 0 && known.text === title) return
      blocks.push({ kind: 'heading', level: heading, text: title, place: started })
      return
    }
    const isItem = lists.length > 0
    push(isItem ? 'item' : 'text', `${item ?? ''}${text.trim()}`, '', '', isItem && isInList)
    isInList = isItem
    item = null
  }
  function closeCell(): void {
    const text = taken().trim()
    if (table?.isInCell) table.rows.at(-1)?.push(text)
    // A caption.
    else if (text !== '') push('text', text)
    if (table !== null) table.isInCell = false
  }
  /** With `isData` false, its cells become paragraphs: it was used to lay out a page. */
  function closeTable(isData: boolean): void {
    closeCell()
    const rows = (table?.rows ?? []).filter((row) => row.some((cell) => cell !== ''))
    if (table !== null) started = table.place
    table = null
    const [first, ...others] = rows
    isInList = false
    if (first === undefined) return
    if (isData && others.length > 0 && rows.some((row) => row.length > 1))
      push('table', others.map(rowOf).join('\n'), `${rowOf(first)}\n|${' --- |'.repeat(first.length)}`)
    else for (const cell of rows.flat()) if (cell !== '') push('text', cell)
  }

  function open(name: string, tag: string): void {
    const level = /^h[1-6]$/.test(name) ? Number(name[1]) : name === 'title' ? 0 : null
    if (name === 'br') {
      if (table !== null || heading !== null || preformatted > 0) add(preformatted > 0 ? '\n' : ' ')
      else if (parts.length > 0) {
        parts.push('\n')
        endsInBlank = true
      }
      return
    }
    if (name === 'img')
      add(
        withoutEntities(
          /\salt\s?=\s?(?:"([^"]*)"|'([^']*)')/i.exec(tag.slice(0, LONGEST_ALT))?.slice(1).join('') ?? '',
        ),
      )
    if (INLINE.has(name)) return
    if (table !== null && (level !== null || name === 'pre' || name === 'table')) closeTable(name === 'pre')
    if (table !== null && (name === 'tr' || name === 'td' || name === 'th')) {
      closeCell()
      if (name === 'tr' || table.rows.length === 0) table.rows.push([])
      table.isInCell = name !== 'tr'
      return
    }
    if (name === 'dd' && parts.length > 0 && table === null) {
      parts.push('\n')
      endsInBlank = true
      return
    }
    close()
    if (name === 'main' && main.to === 0) main.from = blocks.length
    if (level !== null) heading = level
    else if (name === 'pre') preformatted++
    else if (name === 'table') table = { rows: [], isInCell: false, place: placeOf(line) }
    else if (name === 'ul' || name === 'ol' || name === 'dl') {
      if (lists.length === 0) isInList = false
      lists.push({ next: name === 'ol' ? 1 : null })
    } else if (name === 'li') {
      const list = lists.at(-1)
      const mark = list === undefined || list.next === null ? '- ' : `${list.next++}. `
      item = '    '.repeat(Math.min(DEEPEST_LIST, Math.max(0, lists.length - 1))) + mark
    }
  }
  function shut(name: string): void {
    if (INLINE.has(name)) return
    if (table !== null && (name === 'td' || name === 'th' || name === 'tr')) closeCell()
    else if (table !== null && name === 'table') closeTable(true)
    else close()
    if (name === 'main' && main.to === 0) main.to = blocks.length
    if (/^h[1-6]$|^title$/.test(name)) heading = null
    else if (name === 'pre') preformatted = Math.max(0, preformatted - 1)
    else if (name === 'ul' || name === 'ol' || name === 'dl') {
      lists.pop()
      item = null
    }
  }

  const scan = createTagScanner(html)
  for (let at = 0; at < html.length; ) {
    const tag = scan.next(at)
    countLines(at)
    add(withoutEntities(html.slice(at, tag?.from ?? html.length)))
    if (tag === null) break
    at = tag.to
    if (tag.name === '') continue
    if (tag.isEnd) shut(tag.name)
    else if (LEFT_OUT.has(tag.name)) at = scan.endOf(tag.name, at) ?? (RAW.has(tag.name) ? html.length : at)
    else open(tag.name, html.slice(tag.from, Math.min(tag.to, tag.from + LONGEST_ALT)))
  }
  if (table !== null) closeTable(true)
  close()
  // What stands around the main part of a page is the same on all pages.
  const within = blocks.slice(main.from, main.to)
  const isWhole = within.reduce((sum, { text }) => sum + text.length, 0) < LEAST_MAIN
  return isWhole ? blocks : [...blocks.filter((block) => block.kind === 'heading' && block.level === 0), ...within]
}

const rowOf = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

interface Tag {
  /** Empty: a comment, or a declaration. */
  name: string
  isEnd: boolean
  from: number
  to: number
}

/** Positions only grow, so what was not found once is never looked for again. */
function createTagScanner(html: string) {
  const nowhere = new Set<string>()
  const ends = new Map<string, number>()

  function find(text: string, from: number): number {
    if (nowhere.has(text)) return -1
    const at = html.indexOf(text, from)
    if (at === -1) nowhere.add(text)
    return at
  }

  /** A quoted value may have a `>`. */
  function tagEnd(from: number): number {
    const sign = /[>"']/g
    sign.lastIndex = from
    for (let found = sign.exec(html); found !== null; found = sign.exec(html)) {
      if (found[0] === '>') return found.index + 1
      if (html[found.index - 1] !== '=') continue
      const closing = find(found[0], found.index + 1)
      if (closing !== -1) sign.lastIndex = closing + 1
    }
    return -1
  }

  return {
    /** The next tag. What looks like one and never ends is text. */
    next(from: number): Tag | null {
      for (let at = find('<', from); at !== -1; at = find('<', at + 1)) {
        if (html.startsWith('<!--', at)) {
          const end = find('-->', at + 4)
          return { name: '', isEnd: false, from: at, to: end === -1 ? html.length : end + 3 }
        }
        if (html.startsWith('<![CDATA[', at)) return { name: '', isEnd: false, from: at, to: at + 9 }
        if (!/[a-z/!?]/i.test(html[at + 1] ?? '')) continue
        const isEnd = html[at + 1] === '/'
        const name =
          /^[a-z][a-z\d:-]*/i.exec(html.slice(at + (isEnd ? 2 : 1), at + LONGEST_NAME))?.[0].toLowerCase() ?? ''
        if (nowhere.has('tag')) return null
        const to = tagEnd(at + 1)
        if (to !== -1) return { name, isEnd, from: at, to }
        nowhere.add('tag')
        return null
      }
      return null
    },

    /** Where the end tag of this name ends. */
    endOf(name: string, from: number): number | null {
      let end = ends.get(name) ?? 0
      if (end < from) {
        const tag = new RegExp(`</${name}[\\s>]`, 'gi')
        tag.lastIndex = from
        end = tag.exec(html) === null ? Number.POSITIVE_INFINITY : tag.lastIndex
        ends.set(name, end)
      }
      return end === Number.POSITIVE_INFINITY ? null : end
    },
  }
}
