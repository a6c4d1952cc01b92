import { posix } from 'node:path'
import type { Extract } from '../../../../domain/file.ts'
import { extractCharacters, limitExtract } from '../../extract-limit.ts'
import { joinBlocks } from '../../markdown.ts'
import { type OfficePackage, openOfficePackage, type Relationship } from '../office-package.ts'
import { readChart, readDiagram } from '../read-chart.ts'
import { createDocxNotes, type NoteKind } from './docx-notes.ts'
import { readDocxNumbering } from './docx-numbering.ts'
import type { DocxContext } from './docx-scan.ts'
import { readDocxStyles } from './docx-styles.ts'
import { scanDocument } from './scan-document.ts'
import { createTextBudget } from './text-budget.ts'

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
  const notes: string[] = []
  if (pictures > 0) {
    notes.push(`${pictures === 1 ? 'One picture' : `${pictures} pictures`} without a description could not be read.`)
  }
  if (embeddedFiles > 0) {
    const what = embeddedFiles === 1 ? 'One embedded document' : `${embeddedFiles} embedded documents`
    notes.push(`${what} could not be read: open the file in Word, save it again and attach the new file.`)
  }
  return notes
}
