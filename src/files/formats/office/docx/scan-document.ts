// Reads one part of a Word document: the body, or all notes of one kind. `docx-elements.ts` handles the ordinary elements; here
// are the ones that change how everything inside them is read: what is skipped, notes and formulas.

import { attribute } from '../xml-scanner.ts'
import { docxElements } from './docx-elements.ts'
import { createDocxMath } from './docx-math.ts'
import { createDocxScan, type DocxContext, type DocxPart, type DocxScan, show, showPlain } from './docx-scan.ts'

/** Deleted text, the state before a tracked change, and descriptions that are not part of the text. */
const skippedElements = new Set(
  (
    'del moveFrom delText delInstrText rPrChange pPrChange tblPrChange tblPrExChange trPrChange tcPrChange sectPrChange ' +
    'tblGridChange numberingChange sectPr sdtPr sdtEndPr customXmlPr smartTagPr tabs tabLst tblPr tblGrid ffData rt rubyPr'
  ).split(' '),
)

export async function scanDocument(
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
