import type { OfficePackage, Relationship } from '../office-package.ts'
import { attribute } from '../xml-scanner.ts'

const MAX_COMMENTS = 300
const MAX_CHARACTERS = 4_000

export interface CellComment {
  /** For example `B12`. */
  cell: string
  text: string
}

/** The comments on the cells of a sheet, with their replies, in the order of the file. */
export async function readSheetComments(
  pack: OfficePackage,
  relationships: ReadonlyMap<string, Relationship>,
): Promise<CellComment[]> {
  const partsOf = (type: string) =>
    [...relationships.values()].flatMap((one) => (one.type === type && pack.has(one.target) ? [one.target] : []))
  const [threadPart] = partsOf('threadedComment')
  const [notePart] = partsOf('comments')
  const threads = threadPart === undefined ? [] : await commentsIn(pack, threadPart, 'threadedComment')
  const notes = notePart === undefined ? [] : await commentsIn(pack, notePart, 'comment')
  // Excel writes each thread a second time as a note, for older programs.
  const cells = new Set(threads.map(({ cell }) => cell))
  return [...threads, ...notes.filter(({ cell }) => !cells.has(cell))].slice(0, MAX_COMMENTS)
}

async function commentsIn(pack: OfficePackage, part: string, element: string): Promise<CellComment[]> {
  const comments: CellComment[] = []
  let cell = ''
  let text = ''
  let depth = 0
  await pack.scan(part, {
    open(name, attributes) {
      if (name === element) {
        cell = attribute(attributes, 'ref') ?? ''
        text = ''
      } else if (name === 'text') depth += 1
    },
    text(piece) {
      if (depth > 0 && text.length < MAX_CHARACTERS) text += piece
    },
    close(name) {
      if (name === 'text') depth -= 1
      else if (name === element && text.trim() !== '' && comments.length < MAX_COMMENTS) {
        comments.push({ cell, text: text.replace(/\s+/g, ' ').trim().slice(0, MAX_CHARACTERS) })
      }
    },
  })
  return comments
}
