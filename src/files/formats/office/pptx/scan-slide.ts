// One slide, or the notes page of one, as it streams by: its shapes in the order of the file, which is the order in which
// screen readers read them out.

import { listItem, markdownLink, markdownTable, maxLink } from '../../markdown.ts'
import type { OfficePackage, Relationship } from '../office-package.ts'
import { attribute } from '../xml-scanner.ts'

export interface ScannedSlide {
  shapes: Shape[]
  hidden: boolean
  /** Without a description: there is nothing of them to read. */
  pictures: number
}

export type Shape =
  | { kind: 'text'; placeholder: string | undefined; blocks: TextBlock[] }
  | { kind: 'table'; text: string }
  | { kind: 'picture'; description: string }
  | { kind: 'chart' | 'diagram'; part: string }

export interface TextBlock {
  text: string
  /** An item of a list. */
  item: boolean
}

interface Paragraph {
  text: string
  level: number
  bullet: 'inherited' | 'none' | 'bullet' | 'number'
  startAt: number
}

/** What a field shows is the slide's number or today's date: furniture, not text. */
const furniture = /^(slidenum|datetime)/

export async function scanSlide(pack: OfficePackage, part: string): Promise<ScannedSlide> {
  const relationships = await pack.relationshipsOf(part)
  const slide: ScannedSlide = { shapes: [], hidden: false, pictures: 0 }
  let placeholder: string | undefined
  let paragraphs: Paragraph[] = []
  let paragraph: Paragraph | undefined
  let rows: string[][] | undefined
  let link: string | undefined
  let run = ''
  let inText = false
  let inFurniture = false
  let fallbacks = 0
  let description = ''

  // Maps: an element named `constructor` must not find one.
  const opened = new Map<string, (attributes: string) => void>(
    Object.entries({
      sld: (attributes: string) => {
        slide.hidden = /^(0|false)$/.test(attribute(attributes, 'show') ?? '')
      },
      sp: () => {
        placeholder = undefined
        paragraphs = []
      },
      // Without a type it is the place for content of any kind.
      ph: (attributes: string) => {
        placeholder = attribute(attributes, 'type') ?? 'obj'
      },
      cNvPr: (attributes: string) => {
        description = attribute(attributes, 'descr') ?? ''
      },
      p: () => {
        paragraph = { text: '', level: 0, bullet: 'inherited', startAt: 1 }
      },
      pPr: (attributes: string) => {
        if (paragraph !== undefined)
          paragraph.level = Math.min(8, Math.max(0, Number(attribute(attributes, 'lvl') ?? 0) || 0))
      },
      buNone: () => setBullet('none'),
      buChar: () => setBullet('bullet'),
      buBlip: () => setBullet('bullet'),
      buAutoNum: (attributes: string) => {
        setBullet('number')
        if (paragraph !== undefined) paragraph.startAt = Number(attribute(attributes, 'startAt') ?? 1) || 1
      },
      r: startRun,
      fld: (attributes: string) => {
        startRun()
        inFurniture = furniture.test(attribute(attributes, 'type') ?? '')
      },
      hlinkClick: (attributes: string) => {
        const target = relationships.get(attribute(attributes, 'r:id') ?? '')
        link = target?.external && target.target.length <= maxLink ? target.target : undefined
      },
      br: () => {
        if (paragraph !== undefined) paragraph.text += '\n'
      },
      t: () => {
        inText = true
      },
      tbl: () => {
        rows = []
      },
      tr: () => {
        rows?.push([])
      },
      tc: () => {
        paragraphs = []
      },
      chart: (attributes: string) => addPart('chart', relationships.get(attribute(attributes, 'r:id') ?? '')),
      relIds: (attributes: string) => addPart('diagram', relationships.get(attribute(attributes, 'r:dm') ?? '')),
    }),
  )

  const closed = new Map<string, () => void>(
    Object.entries({
      t: () => {
        inText = false
      },
      r: endRun,
      fld: endRun,
      p: () => {
        if (paragraph !== undefined && paragraph.text.trim() !== '') paragraphs.push(paragraph)
        paragraph = undefined
      },
      tc: () => {
        rows?.at(-1)?.push(paragraphs.map(({ text }) => text.trim()).join('\n'))
        paragraphs = []
      },
      tbl: () => {
        if (rows?.some((row) => row.some((cell) => cell !== '')))
          slide.shapes.push({ kind: 'table', text: markdownTable(rows) })
        rows = undefined
      },
      sp: () => {
        if (paragraphs.length > 0)
          slide.shapes.push({ kind: 'text', placeholder, blocks: blocksOf(paragraphs, placeholder) })
        paragraphs = []
      },
      pic: () => {
        if (description === '') slide.pictures += 1
        else slide.shapes.push({ kind: 'picture', description })
      },
    }),
  )

  function setBullet(bullet: Paragraph['bullet']): void {
    if (paragraph !== undefined) paragraph.bullet = bullet
  }

  function startRun(): void {
    run = ''
    link = undefined
    inFurniture = false
  }

  function endRun(): void {
    if (paragraph !== undefined && !inFurniture) paragraph.text += link === undefined ? run : markdownLink(run, link)
    startRun()
  }

  function addPart(kind: 'chart' | 'diagram', target: Relationship | undefined): void {
    if (target !== undefined && !target.external && pack.has(target.target)) {
      slide.shapes.push({ kind, part: target.target })
    }
  }

  await pack.scan(part, {
    open(name, attributes) {
      // The same content once more, for programs older than what stands in the other branch.
      if (name === 'Fallback') fallbacks += 1
      if (fallbacks === 0) opened.get(name)?.(attributes)
    },
    text(text) {
      if (inText && fallbacks === 0) run += text
    },
    close(name) {
      if (fallbacks === 0) closed.get(name)?.()
      if (name === 'Fallback') fallbacks -= 1
    },
  })
  return slide
}

/** In the places for content every paragraph is a bullet unless it says that it is none; elsewhere it must say that it is one. */
function blocksOf(paragraphs: readonly Paragraph[], placeholder: string | undefined): TextBlock[] {
  const bulleted = placeholder === 'body' || placeholder === 'obj'
  const numbers: number[] = []
  return paragraphs.map(({ text, level, bullet, startAt }) => {
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
