import type { OfficePackage, Relationship } from '../office-package.ts'
import { attribute } from '../xml-scanner.ts'

const MAX_COMMENTS = 300
const MAX_CHARACTERS = 4_000

export interface CellComment {
  /** As `B12`. */
  cell: string
  text: string
}

/** What people remarked on the cells of a sheet, conversations included, in the order of the file. */
export async function readSheetComments(
  pack: OfficePackage,
  relationships: ReadonlyMap<string, Relationship>,
): Promise<CellComment[]> {
  const partsOf = (type: string) =>
    [...relationships.values()].flatMap((one) => (one.type === type && pack.has(one.target) ? [one.target] : []))
  const [conversation] = partsOf('threadedComment')
  const [notes] = partsOf('comments')
  const said = conversation === undefined ? [] : await commentsIn(pack, conversation, 'threadedComment')
  const noted = notes === undefined ? [] : await commentsIn(pack, notes, 'comment')
  // For older programs, Excel writes a conversation as a note too.
  const cells = new Set(said.map(({ cell }) => cell))
  return [...said, ...noted.filter(({ cell }) => !cells.has(cell))].slice(0, MAX_COMMENTS)
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
