// The state of reading one part of a Word document from start to end, and how text gets into the open paragraph. A part is the
// body, or all notes of one kind. Only open elements and finished text are held in memory.

import type { TextBlock } from '../../markdown.ts'
import type { OfficePackage, Relationship } from '../office-package.ts'
import { createDocxFields, type DocxFields } from './docx-fields.ts'
import { createDocxFrames, type DocxFrames, type TextBudget } from './docx-frames.ts'
import type { DocxMath } from './docx-math.ts'
import type { DocxNumbering } from './docx-numbering.ts'
import { addText, type Look } from './docx-paragraph.ts'
import type { DocxStyles } from './docx-styles.ts'

/** What all parts of a document share. */
export interface DocxContext {
  pack: OfficePackage
  styles: DocxStyles
  numbering: DocxNumbering
  notes: DocxNotes
  budget: TextBudget
}

export interface DocxPart {
  name: string
  relationships: ReadonlyMap<string, Relationship>
  /** Text of charts and diagrams, by the id of their relationship. */
  figures: ReadonlyMap<string, string>
  /** Which notes the part holds. The body has none. */
  notes?: NoteKind
}

export interface DocxScan {
  readonly context: DocxContext
  readonly part: DocxPart
  readonly frames: DocxFrames
  readonly fields: DocxFields
  readonly drawings: DocxDrawings
  /** Targets of the open links. Undefined: the link leads nowhere outside the document. */
  readonly links: (string | undefined)[]
  /** For each open `AlternateContent`: the value of `shownCount` when it opened. */
  readonly alternatives: number[]
  /** How many texts, figures and pictures have been shown so far. */
  shownCount: number
  /** What the text between tags is. Undefined: white space that is not part of the document. */
  textKind: 'shown' | 'instruction' | undefined
  note: { id: string; start: string; texts: string[] } | undefined
  formula: { math: DocxMath; depth: number } | undefined
  /** How many open elements are skipped. */
  skipDepth: number
  readonly blocks: TextBlock[]
  /** Pictures without a description. */
  pictures: number
  /** Files of other formats inside the document, which Word converts when it opens the document. */
  embeddedFiles: number
}

export function createDocxScan(context: DocxContext, part: DocxPart): DocxScan {
  const { styles, numbering, budget } = context
  const scan: DocxScan = {
    context,
    part,
    frames: createDocxFrames({
      styles,
      numbering,
      budget,
      linesOnly: part.notes !== undefined,
      add(block) {
        if (part.notes === undefined) scan.blocks.push(block)
        else scan.note?.texts.push(block.text)
      },
    }),
    fields: createDocxFields(),
    drawings: createDocxDrawings(),
    links: [],
    alternatives: [],
    shownCount: 0,
    textKind: undefined,
    note: undefined,
    formula: undefined,
    skipDepth: 0,
    blocks: [],
    pictures: 0,
    embeddedFiles: 0,
  }
  return scan
}

const plainLook: Look = { bold: false, italic: false, link: undefined }

/** How text looks at this point. Undefined: text at this point is not shown. */
function currentLook({ context, frames, fields, links }: DocxScan): Look | undefined {
  const frame = frames.paragraph()
  if (frame === undefined || fields.inInstruction()) return undefined
  const { run, paragraph } = frame
  const ofParagraph = context.styles.ofParagraph(paragraph.style)
  const ofRun = run.style === undefined ? undefined : context.styles.ofRun(run.style)
  if (run.hidden ?? ofRun?.hidden ?? ofParagraph.hidden) return undefined
  // In Word a bold run style inside a bold paragraph style turns bold off.
  const toggled = (a = false, b = false) => a !== b
  return {
    bold: run.bold ?? toggled(ofRun?.bold, ofParagraph.bold),
    italic: run.italic ?? toggled(ofRun?.italic, ofParagraph.italic),
    link: links.at(-1) ?? fields.link(),
  }
}

/** False in hidden text, in the instruction of a field, and outside paragraphs. */
export const isShown = (scan: DocxScan): boolean => currentLook(scan) !== undefined

/** Adds text with the look of its run. */
export function show(scan: DocxScan, text: string, look: Look | undefined = currentLook(scan)): void {
  const frame = scan.frames.paragraph()
  if (frame === undefined || look === undefined || text === '') return
  const { budget } = scan.context
  scan.shownCount += 1
  if (look.link !== undefined && frame.paragraph.runs.at(-1)?.link !== look.link) budget.spend(look.link.length)
  const kept = budget.take(text)
  if (kept !== '') addText(frame.paragraph, kept, look)
}

/** Adds text without bold, italic or a link. */
export const showPlain = (scan: DocxScan, text: string): void => {
  if (isShown(scan)) show(scan, text, plainLook)
}

/** Adds a block below the open paragraph. */
export function showBelow(scan: DocxScan, text: string | undefined): void {
  const frame = scan.frames.paragraph()
  if (frame === undefined || text === undefined || !isShown(scan)) return
  scan.shownCount += 1
  frame.below.push({ text: scan.context.budget.take(text), item: false })
}

// The drawings that are open while a Word document is read. A drawing may hold another one in its text box. Only drawings that show
// a picture give a text here; the words of charts and text boxes are read elsewhere.

function createDocxDrawings() {
  const drawings: { description: string; picture: boolean; decorative: boolean }[] = []

  return {
    start: (): void => void drawings.push({ description: '', picture: false, decorative: false }),
    /** The first description that is not empty counts. */
    describe(description: string | undefined): void {
      const drawing = drawings.at(-1)
      if (drawing?.description === '') drawing.description = description?.replace(/\s+/g, ' ').trim() ?? ''
    },
    addPicture(): void {
      const drawing = drawings.at(-1)
      if (drawing !== undefined) drawing.picture = true
    },
    /** Whether the author marked the drawing as decoration only. */
    decorate(decorative: boolean): void {
      const drawing = drawings.at(-1)
      if (drawing !== undefined) drawing.decorative = decorative
    },
    /** The text to show for the picture: empty without a description, undefined if there is no picture or it is decoration only. */
    end(): string | undefined {
      const drawing = drawings.pop()
      if (drawing?.picture !== true) return undefined
      if (drawing.description !== '') return `[Picture: ${drawing.description}]`
      return drawing.decorative ? undefined : ''
    },
  }
}

type DocxDrawings = ReturnType<typeof createDocxDrawings>

export type NoteKind = 'footnote' | 'endnote' | 'comment'

/** Footnotes, endnotes and comments. They are numbered in the order in which the text refers to them, and follow it in that order. */
export function createDocxNotes() {
  const notes = new Map<string, { number: number; text: string }>()
  const keyOf = (kind: NoteKind, id: string) => `${kind} ${id}`

  return {
    /** The mark to show in the text. */
    mark(kind: NoteKind, id: string): string {
      const key = keyOf(kind, id)
      const note = notes.get(key) ?? { number: notes.size + 1, text: '' }
      notes.set(key, note)
      return `[^${note.number}]`
    },
    /** Whether the text refers to the note. */
    wants: (kind: NoteKind, id: string): boolean => notes.has(keyOf(kind, id)),
    write(kind: NoteKind, id: string, text: string): void {
      const note = notes.get(keyOf(kind, id))
      if (note !== undefined && note.text === '') note.text = text
    },
    blocks: (): TextBlock[] =>
      [...notes.values()].flatMap(({ number, text }) =>
        text.trim() === '' ? [] : { text: `[^${number}]: ${text.trim().replace(/\n\s*/g, '\n    ')}`, item: true },
      ),
  }
}

type DocxNotes = ReturnType<typeof createDocxNotes>
