import { posix } from 'node:path'
import type { Extract } from '../../../../domain/session/file.ts'
import { extractCharacters, limitExtract } from '../../extract-limit.ts'
import { joinBlocks } from '../../markdown.ts'
import { type OfficePackage, openOfficePackage, type Relationship } from '../office-package.ts'
import { pictureNotes, readChart, readDiagram } from '../read-chart.ts'
import { attribute } from '../xml-scanner.ts'
import { docxElements } from './docx-elements.ts'
import { createTextBudget } from './docx-frames.ts'
import { createDocxMath } from './docx-math.ts'
import { readDocxNumbering } from './docx-numbering.ts'
import {
  createDocxNotes,
  createDocxScan,
  type DocxContext,
  type DocxPart,
  type DocxScan,
  type NoteKind,
  show,
  showPlain,
} from './docx-scan.ts'
import { readDocxStyles } from './docx-styles.ts'

/**
 * Gives one section with headings, nested and numbered lists, tables, links, bold and italic, formulas, the numbers behind charts,
 * and descriptions of pictures. A text box follows the paragraph that it is anchored to. Footnotes, endnotes and comments follow
 * the text. Tracked changes count as accepted. Headers, footers and hidden text are left out.
 */
export async function readDocx(path: string): Promise<Extract> {
  const pack = await openOfficePackage(path, 'docx')
  try {
    const relationships = await pack.relationshipsOf(pack.main)
    const partOf = (type: string) => namedPart(pack, relationships, type)
    const styles = await readDocxStyles(pack, partOf('styles'))
    const numbering = await readDocxNumbering(pack, partOf('numbering'), (style) => styles.ofParagraph(style).list)
    const budget = createTextBudget(extractCharacters)
    const context: DocxContext = { pack, styles, numbering, notes: createDocxNotes(), budget }
    const figures = await readFigures(pack, relationships)
    const body = await scanDocument(context, { name: pack.main, relationships, figures })
    for (const kind of noteKinds) {
      const name = partOf(`${kind}s`)
      if (name === undefined) continue
      const own = await pack.relationshipsOf(name)
      await scanDocument(context, { name, relationships: own, figures: new Map(), notes: kind })
    }
    const text = joinBlocks([...body.blocks, { text: joinBlocks(context.notes.blocks()), item: false }])
    const extract = { sections: [{ label: '', text }], notes: notesOn(body.pictures, body.embeddedFiles) }
    return limitExtract(extract, extractCharacters, budget.asked())
  } finally {
    pack.close()
  }
}

const noteKinds: readonly NoteKind[] = ['footnote', 'endnote', 'comment']

/** Some programs leave out relationships or name parts that do not exist. The usual names of the parts are the same everywhere. */
function namedPart(pack: OfficePackage, relationships: Map<string, Relationship>, type: string): string | undefined {
  const named = [...relationships.values()].find((one) => one.type === type && !one.external)?.target
  const usual = posix.join(posix.dirname(pack.main), `${type}.xml`)
  return [named, usual].find((part) => part !== undefined && pack.has(part))
}

/** Reads each part once, however often the document shows it. */
async function readFigures(
  pack: OfficePackage,
  relationships: Map<string, Relationship>,
): Promise<Map<string, string>> {
  const figures = new Map<string, string>()
  const known = new Map<string, string>()
  for (const [id, { type, target, external }] of relationships) {
    const read = type === 'chart' ? readChart : type === 'diagramData' ? readDiagram : undefined
    if (read === undefined || external || !pack.has(target)) continue
    const text = known.get(target) ?? (await read(pack, target))
    known.set(target, text)
    figures.set(id, text)
  }
  return figures
}

function notesOn(pictures: number, embeddedFiles: number): string[] {
  const notes = pictureNotes(pictures)
  if (embeddedFiles > 0) {
    const what = embeddedFiles === 1 ? 'One embedded document' : `${embeddedFiles} embedded documents`
    notes.push(`${what} could not be read: open the file in Word, save it again and attach the new file.`)
  }
  return notes
}

/** Deleted text, the state before a tracked change, and descriptions that are not part of the text. */
const skippedElements = new Set(
  (
    'del moveFrom delText delInstrText rPrChange pPrChange tblPrChange tblPrExChange trPrChange tcPrChange sectPrChange ' +
    'tblGridChange numberingChange sectPr sdtPr sdtEndPr customXmlPr smartTagPr tabs tabLst tblPr tblGrid ffData rt rubyPr'
  ).split(' '),
)

/**
 * Reads one part of a Word document: the body, or all notes of one kind. `docx-elements.ts` handles the ordinary elements; here are the
 * ones that change how everything inside them is read: what is skipped, notes and formulas.
 */
async function scanDocument(
  context: DocxContext,
  part: DocxPart,
): Promise<Pick<DocxScan, 'blocks' | 'pictures' | 'embeddedFiles'>> {
  const scan = createDocxScan(context, part)
  const isNote = (name: string): boolean => name === part.notes && scan.frames.isEmpty()

  await context.pack.scan(part.name, {
    open(name, attributes) {
      if (name === 'del' && scan.skipDepth === 0) scan.frames.markDeleted()
      if (scan.skipDepth > 0 || skippedElements.has(name) || isSecondAlternative(scan, name)) scan.skipDepth += 1
      else if (name === 'oMath') startFormula(scan)
      else if (scan.formula !== undefined) scan.formula.math.open(name, attributes)
      else if (isNote(name)) startNote(scan, attributes)
      else docxElements.get(name)?.open?.(scan, attributes)
    },
    text(text) {
      if (scan.skipDepth > 0) return
      if (scan.formula !== undefined) scan.formula.math.text(text)
      else if (scan.textKind === 'shown') show(scan, shownText(text))
      else if (scan.textKind === 'instruction') scan.fields.instruct(text)
    },
    close(name) {
      if (scan.skipDepth > 0) scan.skipDepth -= 1
      else if (name === 'oMath') endFormula(scan)
      else if (scan.formula !== undefined) scan.formula.math.close(name)
      else if (isNote(name)) endNote(scan)
      else docxElements.get(name)?.close?.(scan)
    },
  })
  return scan
}

/** A line break inside a text element is a space to Word. A soft hyphen is visible only where a line happens to break. */
const shownText = (text: string): string => text.replaceAll('\u00AD', '').replace(/[\r\n]+/g, ' ')

/** `AlternateContent` holds the same content several times, for newer and older programs. The first that shows anything is read. */
const isSecondAlternative = ({ alternatives, shownCount }: DocxScan, name: string): boolean =>
  (name === 'Choice' || name === 'Fallback') && shownCount > (alternatives.at(-1) ?? shownCount)

/** Skips a note that the text does not refer to. */
function startNote(scan: DocxScan, attributes: string): void {
  const kind = scan.part.notes
  const id = attribute(attributes, 'w:id') ?? ''
  if (kind === undefined || !scan.context.notes.wants(kind, id)) {
    scan.skipDepth = 1
    return
  }
  const author = attribute(attributes, 'w:author')?.trim().slice(0, 100) ?? ''
  const start = kind !== 'comment' ? '' : author === '' ? 'Comment: ' : `Comment by ${author}: `
  scan.note = { id, start, texts: [] }
  scan.fields.clear()
}

function endNote(scan: DocxScan): void {
  const { note, part, context } = scan
  scan.note = undefined
  if (note === undefined || part.notes === undefined) return
  const text = note.texts.join('\n')
  context.notes.write(part.notes, note.id, text === '' ? '' : note.start + text)
}

function startFormula(scan: DocxScan): void {
  scan.formula ??= { math: createDocxMath(), depth: 0 }
  scan.formula.depth += 1
}

function endFormula(scan: DocxScan): void {
  const { formula } = scan
  if (formula === undefined) return
  formula.depth -= 1
  if (formula.depth > 0) return
  scan.formula = undefined
  const text = formula.math.formula()
  if (text !== '') showPlain(scan, `$${text}$`)
}
