import { posix } from 'node:path'
import type { Extract } from '../../../../domain/file.ts'
import { extractCharacters, limitExtract } from '../../extract-limit.ts'
import { joinBlocks } from '../../markdown.ts'
import { type OfficePackage, openOfficePackage, type Relationship } from '../office-package.ts'
import { readChart, readDiagram } from '../read-chart.ts'
import { createDocxNotes, type NoteKind } from './docx-notes.ts'
import { readDocxNumbering } from './docx-numbering.ts'
import { readDocxStyles } from './docx-styles.ts'
import { type DocxContext, scanDocument } from './scan-document.ts'
import { createTextBudget } from './text-budget.ts'

/**
 * One section: headings, nested and numbered lists, tables, links, bold and italic, text boxes behind the paragraph they hang
 * on, formulas, the numbers behind charts, descriptions of pictures; footnotes, endnotes and comments below the text. Tracked
 * changes are read as accepted. Headers, footers and hidden text are left out.
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
    const { blocks, pictures, chunks } = await scanDocument(context, { name: pack.main, relationships, figures })
    for (const kind of noteKinds) {
      const name = partOf(`${kind}s`)
      if (name === undefined) continue
      const own = await pack.relationshipsOf(name)
      await scanDocument(context, { name, relationships: own, figures: new Map(), notes: kind })
    }
    const text = joinBlocks([...blocks, { text: joinBlocks(context.notes.blocks()), item: false }])
    const extract = { sections: [{ label: '', text }], notes: notesOn(pictures, chunks) }
    return limitExtract(extract, extractCharacters, budget.asked())
  } finally {
    pack.close()
  }
}

const noteKinds: readonly NoteKind[] = ['footnote', 'endnote', 'comment']

/** Some writers leave relationships out, or name parts that are not there; every program writes these names. */
function namedPart(pack: OfficePackage, relationships: Map<string, Relationship>, type: string): string | undefined {
  const named = [...relationships.values()].find((one) => one.type === type && !one.external)?.target
  const usual = posix.join(posix.dirname(pack.main), `${type}.xml`)
  return [named, usual].find((part) => part !== undefined && pack.has(part))
}

/** Each part once, however often the document shows it. */
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

function notesOn(pictures: number, chunks: number): string[] {
  const notes: string[] = []
  if (pictures > 0) {
    notes.push(`${pictures === 1 ? 'One picture' : `${pictures} pictures`} without a description could not be read.`)
  }
  if (chunks > 0) {
    const what = chunks === 1 ? 'One embedded document' : `${chunks} embedded documents`
    notes.push(`${what} could not be read: open the file in Word, save it anew and attach it again.`)
  }
  return notes
}
