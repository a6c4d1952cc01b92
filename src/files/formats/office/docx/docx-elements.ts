// What each XML element of a Word document does when it opens and when it closes.

import { maxLink } from '../../markdown.ts'
import { attribute, type ElementActions, type ElementTable, elementMap } from '../xml-scanner.ts'
import { linkOf } from './docx-fields.ts'
import { newRun, type ParagraphFrame, type Run } from './docx-frames.ts'
import type { DocxParagraph } from './docx-paragraph.ts'
import { type DocxScan, isShown, type NoteKind, show, showBelow, showPlain } from './docx-scan.ts'
import { isOn, levelOf } from './docx-styles.ts'
import { symbolOf } from './symbol-fonts.ts'

type DocxElement = ElementActions<DocxScan>
type Elements = ElementTable<DocxScan>

const paragraphs: Elements = {
  p: {
    open: ({ frames }) => frames.openParagraph(),
    close({ fields, frames }) {
      fields.endParagraph()
      frames.closeParagraph()
    },
  },
  pPr: inParagraph((frame, isOpen) => {
    frame.inProperties = isOpen
  }),
  pStyle: paragraphProperty('style', (value) => value),
  outlineLvl: paragraphProperty('outline', Number),
  numId: paragraphProperty('list', (value) => value),
  ilvl: paragraphProperty('level', levelOf),
}

const runs: Elements = {
  // Reset at the end too: a formula between two runs must not look like the run before it.
  r: inParagraph((frame) => {
    frame.run = newRun()
  }),
  rPr: inParagraph((frame, isOpen) => {
    frame.inRunProperties = isOpen && !frame.inProperties
  }),
  rStyle: runProperty('style', (value) => value),
  b: runProperty('bold', isOn),
  i: runProperty('italic', isOn),
  vanish: runProperty('hidden', isOn),
}

const texts: Elements = {
  t: textOf('shown'),
  tab: { open: (scan) => show(scan, '\t') },
  ptab: { open: (scan) => show(scan, '\t') },
  br: { open: (scan) => showPlain(scan, '\n') },
  cr: { open: (scan) => showPlain(scan, '\n') },
  noBreakHyphen: { open: (scan) => show(scan, '-') },
  sym: {
    open(scan, attributes) {
      const code = attribute(attributes, 'w:char')
      if (code !== undefined) show(scan, symbolOf(attribute(attributes, 'w:font') ?? '', code))
    },
  },
  footnoteReference: noteReference('footnote'),
  endnoteReference: noteReference('endnote'),
  commentReference: noteReference('comment'),
}

const fieldsAndLinks: Elements = {
  instrText: textOf('instruction'),
  fldChar: {
    open({ fields }, attributes) {
      const type = attribute(attributes, 'w:fldCharType')
      if (type === 'begin') fields.begin()
      else if (type === 'separate') fields.separate()
      else if (type === 'end') fields.end()
    },
  },
  fldSimple: {
    open: ({ links }, attributes) => openLink(links, linkOf(attribute(attributes, 'w:instr') ?? '')),
    close: ({ links }) => void links.pop(),
  },
  hyperlink: {
    open: (scan, attributes) => openLink(scan.links, targetOf(scan, attributes)),
    close: ({ links }) => void links.pop(),
  },
}

const tables: Elements = {
  tbl: { open: ({ frames }) => frames.openTable(), close: ({ frames }) => frames.closeTable() },
  tr: { open: ({ frames }) => frames.openRow(), close: ({ frames }) => frames.closeRow() },
  trPr: { open: ({ frames }) => frames.setRowProperties(true), close: ({ frames }) => frames.setRowProperties(false) },
  gridBefore: { open: ({ frames }, attributes) => frames.setFreeColumns(attribute(attributes, 'w:val')) },
  tc: { open: ({ frames }) => frames.openCell(), close: ({ frames }) => frames.closeCell() },
  gridSpan: { open: ({ frames }, attributes) => frames.setColumns(attribute(attributes, 'w:val')) },
  cellDel: { open: ({ frames }) => frames.deleteCell() },
}

const drawing: DocxElement = { open: ({ drawings }) => drawings.start(), close: endDrawing }
const picture: DocxElement = { open: ({ drawings }) => drawings.addPicture() }

const figures: Elements = {
  drawing,
  pict: drawing,
  object: drawing,
  docPr: {
    open: ({ drawings }, attributes) =>
      drawings.describe(attribute(attributes, 'descr') || attribute(attributes, 'title')),
  },
  cNvPr: { open: ({ drawings }, attributes) => drawings.describe(attribute(attributes, 'descr')) },
  shape: { open: ({ drawings }, attributes) => drawings.describe(attribute(attributes, 'alt')) },
  decorative: { open: ({ drawings }, attributes) => drawings.decorate(isOn(attribute(attributes, 'val'))) },
  blip: picture,
  imagedata: picture,
  chart: {
    open: (scan, attributes) => showBelow(scan, scan.part.figures.get(attribute(attributes, 'r:id') ?? '')),
  },
  relIds: {
    open: (scan, attributes) => showBelow(scan, scan.part.figures.get(attribute(attributes, 'r:dm') ?? '')),
  },
  AlternateContent: {
    open: ({ alternatives, shownCount }) => void alternatives.push(shownCount),
    close: ({ alternatives }) => void alternatives.pop(),
  },
  altChunk: {
    open(scan) {
      scan.embeddedFiles += 1
    },
  },
}

export const docxElements = elementMap(paragraphs, runs, texts, fieldsAndLinks, tables, figures)

function paragraphProperty<Key extends keyof DocxParagraph>(
  key: Key,
  read: (value: string | undefined) => DocxParagraph[Key],
): DocxElement {
  return {
    open({ frames }, attributes) {
      const frame = frames.paragraph()
      if (frame?.inProperties === true) frame.paragraph[key] = read(attribute(attributes, 'w:val'))
    },
  }
}

function runProperty<Key extends keyof Run>(key: Key, read: (value: string | undefined) => Run[Key]): DocxElement {
  return {
    open({ frames }, attributes) {
      const frame = frames.paragraph()
      if (frame?.inRunProperties === true) frame.run[key] = read(attribute(attributes, 'w:val'))
    },
  }
}

/** Changes the open paragraph, if there is one, when the element opens and when it closes. */
function inParagraph(change: (frame: ParagraphFrame, isOpen: boolean) => void): DocxElement {
  const changed =
    (isOpen: boolean) =>
    ({ frames }: DocxScan): void => {
      const frame = frames.paragraph()
      if (frame !== undefined) change(frame, isOpen)
    }
  return { open: changed(true), close: changed(false) }
}

function textOf(kind: DocxScan['textKind']): DocxElement {
  return {
    open(scan) {
      scan.textKind = kind
    },
    close(scan) {
      scan.textKind = undefined
    },
  }
}

function noteReference(kind: NoteKind): DocxElement {
  return {
    open(scan, attributes) {
      const { notes, budget } = scan.context
      const id = attribute(attributes, 'w:id')
      // Marks are numbered in order, so a mark that would not be shown must not get a number.
      if (id !== undefined && isShown(scan) && budget.take('[^1]') !== '') showPlain(scan, notes.mark(kind, id))
    },
  }
}

function openLink(links: DocxScan['links'], target: string | undefined): void {
  links.push(target !== undefined && target.length <= maxLink ? target : links.at(-1))
}

function targetOf({ part }: DocxScan, attributes: string): string | undefined {
  const relationship = part.relationships.get(attribute(attributes, 'r:id') ?? '')
  if (relationship?.external !== true) return undefined
  const place = attribute(attributes, 'w:anchor')
  return place === undefined || place === '' ? relationship.target : `${relationship.target}#${place}`
}

function endDrawing(scan: DocxScan): void {
  const description = scan.drawings.end()
  if (description === undefined || !isShown(scan)) return
  if (description === '') {
    scan.shownCount += 1
    scan.pictures += 1
  } else showPlain(scan, description)
}
