// Reads one slide, or the notes page of one. Shapes keep the order of the file, which is the order in which screen readers read them.

import { listItem, markdownLink, markdownTable, maxLink, type TextBlock } from '../../markdown.ts'
import type { OfficePackage, Relationship } from '../office-package.ts'
import { attribute, type ElementActions, type ElementTable, elementMap } from '../xml-scanner.ts'

interface ScannedSlide {
  shapes: Shape[]
  hidden: boolean
  /** Pictures without a description. */
  pictures: number
}

export type Shape =
  | { kind: 'text'; placeholder: string | undefined; blocks: TextBlock[] }
  | { kind: 'table'; text: string }
  | { kind: 'picture'; description: string }
  | { kind: 'chart' | 'diagram'; part: string }

interface Paragraph {
  text: string
  level: number
  bullet: 'inherited' | 'none' | 'bullet' | 'number'
  startAt: number
}

/** What is open while a slide is read. */
interface SlideScan extends ScannedSlide {
  readonly pack: OfficePackage
  readonly relationships: ReadonlyMap<string, Relationship>
  placeholder: string | undefined
  /** The finished paragraphs of the open shape or table cell. */
  paragraphs: Paragraph[]
  paragraph: Paragraph | undefined
  rows: string[][] | undefined
  run: { text: string; link: string | undefined; isPageNumberOrDate: boolean }
  inText: boolean
  /** The description of the last shape. */
  description: string
  /** How many open elements are a fallback. */
  fallbackDepth: number
}

export async function scanSlide(pack: OfficePackage, part: string): Promise<ScannedSlide> {
  const scan: SlideScan = {
    shapes: [],
    hidden: false,
    pictures: 0,
    pack,
    relationships: await pack.relationshipsOf(part),
    placeholder: undefined,
    paragraphs: [],
    paragraph: undefined,
    rows: undefined,
    run: newRun(),
    inText: false,
    description: '',
    fallbackDepth: 0,
  }
  await pack.scan(part, {
    open(name, attributes) {
      // A fallback repeats the content beside it for older programs.
      if (name === 'Fallback') scan.fallbackDepth += 1
      if (scan.fallbackDepth === 0) slideElements.get(name)?.open?.(scan, attributes)
    },
    text(text) {
      if (scan.inText && scan.fallbackDepth === 0) scan.run.text += text
    },
    close(name) {
      if (scan.fallbackDepth === 0) slideElements.get(name)?.close?.(scan)
      if (name === 'Fallback') scan.fallbackDepth -= 1
    },
  })
  return scan
}

type Elements = ElementTable<SlideScan>

const shapes: Elements = {
  sld: {
    open(scan, attributes) {
      scan.hidden = /^(0|false)$/.test(attribute(attributes, 'show') ?? '')
    },
  },
  sp: {
    open(scan) {
      scan.placeholder = undefined
      scan.paragraphs = []
    },
    close(scan) {
      const { paragraphs, placeholder } = scan
      if (paragraphs.length > 0) {
        scan.shapes.push({ kind: 'text', placeholder, blocks: blocksOf(paragraphs, placeholder) })
      }
      scan.paragraphs = []
    },
  },
  ph: {
    // A placeholder without a type takes content of any kind.
    open(scan, attributes) {
      scan.placeholder = attribute(attributes, 'type') ?? 'obj'
    },
  },
  cNvPr: {
    open(scan, attributes) {
      scan.description = attribute(attributes, 'descr') ?? ''
    },
  },
  pic: {
    close(scan) {
      if (scan.description === '') scan.pictures += 1
      else scan.shapes.push({ kind: 'picture', description: scan.description })
    },
  },
  chart: { open: (scan, attributes) => addPart(scan, 'chart', attribute(attributes, 'r:id')) },
  relIds: { open: (scan, attributes) => addPart(scan, 'diagram', attribute(attributes, 'r:dm')) },
}

const paragraphs: Elements = {
  p: {
    open(scan) {
      scan.paragraph = { text: '', level: 0, bullet: 'inherited', startAt: 1 }
    },
    close(scan) {
      if (scan.paragraph !== undefined && scan.paragraph.text.trim() !== '') scan.paragraphs.push(scan.paragraph)
      scan.paragraph = undefined
    },
  },
  pPr: {
    open({ paragraph }, attributes) {
      if (paragraph === undefined) return
      paragraph.level = Math.min(8, Math.max(0, Number(attribute(attributes, 'lvl') ?? 0) || 0))
    },
  },
  buNone: bullet('none'),
  buChar: bullet('bullet'),
  buBlip: bullet('bullet'),
  buAutoNum: bullet('number'),
  br: {
    open({ paragraph }) {
      if (paragraph !== undefined) paragraph.text += '\n'
    },
  },
}

const runs: Elements = {
  r: { open: startRun, close: endRun },
  fld: {
    open(scan, attributes) {
      startRun(scan)
      scan.run.isPageNumberOrDate = /^(slidenum|datetime)/.test(attribute(attributes, 'type') ?? '')
    },
    close: endRun,
  },
  hlinkClick: {
    open({ run, relationships }, attributes) {
      const target = relationships.get(attribute(attributes, 'r:id') ?? '')
      run.link = target?.external && target.target.length <= maxLink ? target.target : undefined
    },
  },
  t: {
    open(scan) {
      scan.inText = true
    },
    close(scan) {
      scan.inText = false
    },
  },
}

const tables: Elements = {
  tbl: {
    open(scan) {
      scan.rows = []
    },
    close(scan) {
      if (scan.rows?.some((row) => row.some((cell) => cell !== ''))) {
        scan.shapes.push({ kind: 'table', text: markdownTable(scan.rows) })
      }
      scan.rows = undefined
    },
  },
  tr: { open: ({ rows }) => void rows?.push([]) },
  tc: {
    open(scan) {
      scan.paragraphs = []
    },
    close(scan) {
      scan.rows?.at(-1)?.push(scan.paragraphs.map(({ text }) => text.trim()).join('\n'))
      scan.paragraphs = []
    },
  },
}

const slideElements = elementMap(shapes, paragraphs, runs, tables)

function bullet(kind: Paragraph['bullet']): ElementActions<SlideScan> {
  return {
    open({ paragraph }, attributes) {
      if (paragraph === undefined) return
      paragraph.bullet = kind
      if (kind === 'number') paragraph.startAt = Number(attribute(attributes, 'startAt') ?? 1) || 1
    },
  }
}

function newRun(): SlideScan['run'] {
  return { text: '', link: undefined, isPageNumberOrDate: false }
}

function startRun(scan: SlideScan): void {
  scan.run = newRun()
}

function endRun(scan: SlideScan): void {
  const { paragraph, run } = scan
  if (paragraph !== undefined && !run.isPageNumberOrDate) {
    paragraph.text += run.link === undefined ? run.text : markdownLink(run.text, run.link)
  }
  startRun(scan)
}

function addPart({ pack, relationships, shapes: all }: SlideScan, kind: 'chart' | 'diagram', id = ''): void {
  const target = relationships.get(id)
  if (target !== undefined && !target.external && pack.has(target.target)) all.push({ kind, part: target.target })
}

/** In placeholders for content every paragraph is a bullet unless it says otherwise. Elsewhere only paragraphs that say so are. */
function blocksOf(all: readonly Paragraph[], placeholder: string | undefined): TextBlock[] {
  const bulleted = placeholder === 'body' || placeholder === 'obj'
  const numbers: number[] = []
  return all.map(({ text, level, bullet, startAt }) => {
    numbers.length = level + 1
    if (bullet === 'number') {
      const number = numbers[level] === undefined ? startAt : numbers[level] + 1
      numbers[level] = number
      return { text: listItem(text, level, number), item: true }
    }
    delete numbers[level]
    if (bullet === 'bullet' || (bullet === 'inherited' && (bulleted || level > 0))) {
      return { text: listItem(text, level), item: true }
    }
    return { text: text.trim(), item: false }
  })
}
