// From what was read of a file to the passages that are found, read and cited.

import type { Place } from '../../domain/knowledge/passage.ts'
import { type Extract, type ExtractSection, type FileType, isText } from '../../domain/session/file.ts'
import { type Block, type Content, type Line, textBlock } from './block.ts'
import { htmlBlocks } from './html.ts'
import { type CutPassage, packed } from './pack.ts'
import { joinedPages, withoutPageBreaks } from './pages.ts'
import { textBlocks } from './text-blocks.ts'

const MARKDOWN = /\.(?:md|mdx|markdown|mkd)$/i
const HTML = /\.(?:html?|xhtml|xht)$/i
const CODE =
  /\.(?:[cm]?[jt]sx?|c|cc|cpp|cs|css|cu|dart|el|erl|ex|exs|fs|go|gradle|groovy|h|hh|hpp|hs|ini|java|jl|json[5cl]?|kt|kts|less|lisp|lua|m|mk|ml|nix|php|pl|pm|proto|ps1|py|r|rb|rs|sass|scala|scm|scss|sh|bash|zsh|sql|svelte|swift|tcl|tex|tf|toml|vb|vue|xml|xsd|xsl|ya?ml|zig|cfg|conf|env|properties|log|diff|patch|cmake)$|(?:^|\/)(?:Makefile|Dockerfile|Containerfile|Rakefile|Gemfile|CMakeLists\.txt)$/i

/** What is analysed and embedded of a passage. */
export const documentText = ({ headings, text }: Pick<CutPassage, 'headings' | 'text'>): string =>
  headings.length === 0 ? text : `${headings.join(' > ')}\n\n${text}`

/** In the order of the file. Each has at most 2,400 characters. */
export function cutPassages({ sections }: Extract, file: { name: string; type: FileType }): CutPassage[] {
  const read = sections.filter(({ text }) => text.trim() !== '')
  if (file.type === 'application/pdf' || file.type.startsWith('image/')) {
    const pages = read.map((section) => linesOf(section, false))
    return packed(textBlocks(joinedPages(pages), 'page'))
  }
  let sheet: string | null = null
  return read.flatMap((section) => {
    const blocks = blocksOf(section, file)
    const place = placeOf(section.label)
    const passages = packed(place.sheet === null ? blocks : [sheetHeading(place.sheet, place), ...blocks])
    // A long sheet is read in sections.
    const [first, ...others] = passages
    const goesOn = first !== undefined && place.sheet !== null && place.sheet === sheet
    sheet = place.sheet
    return goesOn ? [{ ...first, continues: true }, ...others] : passages
  })
}

const sheetHeading = (text: string, place: Place): Block => ({ kind: 'heading', level: 0, text, place })

function blocksOf(section: ExtractSection, { name, type }: { name: string; type: FileType }): Block[] {
  if (isText(type) && HTML.test(name)) return htmlBlocks(section.text, true)
  if (type === 'text/csv') return csvBlocks(section)
  const lines = linesOf(section, isText(type))
  if (!isText(type) || type === 'text/markdown' || MARKDOWN.test(name)) return textBlocks(lines, 'markdown')
  return CODE.test(name) ? codeBlocks(lines) : textBlocks(withoutPageBreaks(lines), 'plain')
}

function linesOf({ label, text }: ExtractSection, isCounted: boolean): Line[] {
  const place = placeOf(label)
  return text.split('\n').map((line, i) => ({ text: line, place: isCounted ? { ...place, line: i + 1 } : place }))
}

function placeOf(label: string): Place {
  const [, kind, name = ''] = /^(page|slide|sheet) (.+)$/.exec(label) ?? []
  return {
    page: kind === 'page' ? Number.parseInt(name, 10) || null : null,
    slide: kind === 'slide' ? Number.parseInt(name, 10) || null : null,
    sheet: kind === 'sheet' ? name.replace(/ rows \d+-\d+$/, '') : null,
    line: null,
  }
}

/** A long table was read as Markdown, so its lines are not those of the file. A short one is as it was written. */
function csvBlocks(section: ExtractSection): Block[] {
  if (section.text.startsWith('| ')) return textBlocks(linesOf(section, false), 'markdown')
  const lines = linesOf(section, true).filter(({ text }) => text.trim() !== '')
  const [head, ...rows] = lines
  if (head === undefined) return []
  return rows.length === 0 ? [textBlock([head])] : [{ ...textBlock(rows, 'table'), head: head.text }]
}

/** Between the blank lines in front of lines that are not indented: there begins a function, or something as whole. */
function codeBlocks(lines: readonly Line[]): Block[] {
  const blocks: Content[] = []
  let part: Line[] = []
  const close = () => {
    while (part.at(-1)?.text.trim() === '') part.pop()
    if (part.length > 0) blocks.push(textBlock(part, 'code'))
    part = []
  }
  let isAfterBlank = false
  for (const line of lines) {
    const isBlank = line.text.trim() === ''
    if (isAfterBlank && /^[^\s})\]]/.test(line.text)) close()
    if (!isBlank || part.length > 0) part.push(line)
    isAfterBlank = isBlank
  }
  close()
  return blocks
}
