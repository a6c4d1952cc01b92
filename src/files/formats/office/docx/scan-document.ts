// A part of a Word document as it streams by: the body, or the notes below it. Only what is open at the moment is held, and the
// text that came out of what is closed.

import { maxLink } from '../../markdown.ts'
import type { OfficePackage, Relationship } from '../office-package.ts'
import type { TextBlock } from '../pptx/scan-slide.ts'
import { attribute } from '../xml-scanner.ts'
import { createDocxDrawings } from './docx-drawings.ts'
import { createDocxFields, linkOf } from './docx-fields.ts'
import { createDocxFrames, newRun, type Run } from './docx-frames.ts'
import { createDocxMath, type DocxMath } from './docx-math.ts'
import type { DocxNotes, NoteKind } from './docx-notes.ts'
import type { DocxNumbering } from './docx-numbering.ts'
import { addText, type DocxParagraph, type Look } from './docx-paragraph.ts'
import { type DocxStyles, isOn, levelOf } from './docx-styles.ts'
import { symbolOf } from './symbol-fonts.ts'
import type { TextBudget } from './text-budget.ts'

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
  /** The text of charts and diagrams by the id of their relationship. */
  figures: ReadonlyMap<string, string>
  /** What the part holds, where it is not the body. */
  notes?: NoteKind
}

export interface ScannedDocument {
  blocks: TextBlock[]
  /** Without a description: there is nothing of them to read. */
  pictures: number
  /** Files of another kind, kept whole for Word to convert when it opens the document. */
  chunks: number
}

/** Deleted text; what was so before a tracked change; and what describes a thing and is not part of the text. */
const unread = new Set(
  (
    'del moveFrom delText delInstrText rPrChange pPrChange tblPrChange tblPrExChange trPrChange tcPrChange sectPrChange ' +
    'tblGridChange numberingChange sectPr sdtPr sdtEndPr customXmlPr smartTagPr tabs tabLst tblPr tblGrid ffData rt rubyPr'
  ).split(' '),
)

const plainLook: Look = { bold: false, italic: false, link: undefined }

export async function scanDocument(context: DocxContext, part: DocxPart): Promise<ScannedDocument> {
  const { styles, numbering, notes, budget } = context
  const scanned: ScannedDocument = { blocks: [], pictures: 0, chunks: 0 }
  const frames = createDocxFrames({
    styles,
    numbering,
    budget,
    linesOnly: part.notes !== undefined,
    add: (block) => void (part.notes === undefined ? scanned.blocks.push(block) : note?.texts.push(block.text)),
  })
  let note: { id: string; start: string; texts: string[] } | undefined
  let fields = createDocxFields()
  const links: (string | undefined)[] = []
  const drawings = createDocxDrawings()
  const alternatives: number[] = []
  let produced = 0
  let math: DocxMath | undefined
  let formulas = 0
  let skipped = 0
  let into: 'text' | 'instruction' | undefined

  /** Of what stands here; undefined where nothing is shown. */
  function lookHere(): Look | undefined {
    const here = frames.here()
    if (here === undefined || fields.inInstruction()) return undefined
    const { run, paragraph } = here
    const around = styles.ofParagraph(paragraph.style)
    const own = run.style === undefined ? undefined : styles.ofRun(run.style)
    if (run.hidden ?? own?.hidden ?? around.hidden) return undefined
    // In Word a bold style on a bold paragraph takes the bold away.
    const toggled = (a = false, b = false) => a !== b
    return {
      bold: run.bold ?? toggled(own?.bold, around.bold),
      italic: run.italic ?? toggled(own?.italic, around.italic),
      link: links.at(-1) ?? fields.link(),
    }
  }

  function show(text: string, look: Look | undefined = lookHere()): void {
    const here = frames.here()
    if (here === undefined || look === undefined || text === '') return
    produced += 1
    if (look.link !== undefined && here.paragraph.runs.at(-1)?.link !== look.link) budget.spend(look.link.length)
    const kept = budget.take(text)
    if (kept !== '') addText(here.paragraph, kept, look)
  }

  /** Without the look of the run around it. */
  const showPlain = (text: string) => show(text, lookHere() === undefined ? undefined : plainLook)

  function showBelow(text: string | undefined): void {
    const here = frames.here()
    if (here === undefined || text === undefined || lookHere() === undefined) return
    produced += 1
    here.below.push({ text: budget.take(text), item: false })
  }

  const mark = (kind: NoteKind) => (attributes: string) => {
    const id = attribute(attributes, 'w:id')
    // Its number grows with those before it, so none is given that would not be shown.
    if (id !== undefined && lookHere() !== undefined && budget.take('[^1]') !== '') showPlain(notes.mark(kind, id))
  }

  function endDrawing(): void {
    const picture = drawings.end()
    if (picture === undefined || lookHere() === undefined) return
    produced += 1
    if (picture !== '') showPlain(picture)
    else scanned.pictures += 1
  }

  function linkTo(attributes: string): string | undefined {
    const relationship = part.relationships.get(attribute(attributes, 'r:id') ?? '')
    if (relationship?.external !== true) return undefined
    const place = attribute(attributes, 'w:anchor')
    return place === undefined || place === '' ? relationship.target : `${relationship.target}#${place}`
  }

  const follow = (link: string | undefined) =>
    void links.push(link !== undefined && link.length <= maxLink ? link : links.at(-1))

  const inRun = (set: (run: Run, value: string | undefined) => void) => (attributes: string) => {
    const here = frames.here()
    if (here?.inRunProperties === true) set(here.run, attribute(attributes, 'w:val'))
  }
  const inParagraph = (set: (paragraph: DocxParagraph, value: string | undefined) => void) => (attributes: string) => {
    const here = frames.here()
    if (here?.inProperties === true) set(here.paragraph, attribute(attributes, 'w:val'))
  }

  function startRun(): void {
    const here = frames.here()
    if (here !== undefined) here.run = newRun()
  }

  // Maps: an element named `constructor` must not find one.
  const opened = new Map<string, (attributes: string) => void>(
    Object.entries({
      p: () => frames.openParagraph(),
      pPr: () => {
        const here = frames.here()
        if (here !== undefined) here.inProperties = true
      },
      pStyle: inParagraph((paragraph, value) => {
        paragraph.style = value
      }),
      outlineLvl: inParagraph((paragraph, value) => {
        paragraph.outline = Number(value)
      }),
      numId: inParagraph((paragraph, value) => {
        paragraph.list = value
      }),
      ilvl: inParagraph((paragraph, value) => {
        paragraph.level = levelOf(value)
      }),
      r: startRun,
      rPr: () => {
        const here = frames.here()
        if (here !== undefined) here.inRunProperties = !here.inProperties
      },
      rStyle: inRun((run, value) => {
        run.style = value
      }),
      b: inRun((run, value) => {
        run.bold = isOn(value)
      }),
      i: inRun((run, value) => {
        run.italic = isOn(value)
      }),
      vanish: inRun((run, value) => {
        run.hidden = isOn(value)
      }),
      t: () => {
        into = 'text'
      },
      tab: () => show('\t'),
      ptab: () => show('\t'),
      br: () => showPlain('\n'),
      cr: () => showPlain('\n'),
      noBreakHyphen: () => show('-'),
      sym: (attributes: string) => {
        const code = attribute(attributes, 'w:char')
        if (code !== undefined) show(symbolOf(attribute(attributes, 'w:font') ?? '', code))
      },
      instrText: () => {
        into = 'instruction'
      },
      fldChar: (attributes: string) => {
        const type = attribute(attributes, 'w:fldCharType')
        if (type === 'begin') fields.begin()
        else if (type === 'separate') fields.separate()
        else if (type === 'end') fields.end()
      },
      fldSimple: (attributes: string) => follow(linkOf(attribute(attributes, 'w:instr') ?? '')),
      hyperlink: (attributes: string) => follow(linkTo(attributes)),
      footnoteReference: mark('footnote'),
      endnoteReference: mark('endnote'),
      commentReference: mark('comment'),
      tbl: () => frames.openTable(),
      tr: () => frames.openRow(),
      trPr: () => frames.setRowProperties(true),
      gridBefore: (attributes: string) => frames.setFreeColumns(attribute(attributes, 'w:val')),
      tc: () => frames.openCell(),
      gridSpan: (attributes: string) => frames.setColumns(attribute(attributes, 'w:val')),
      cellDel: () => frames.deleteCell(),
      drawing: () => drawings.start(),
      pict: () => drawings.start(),
      object: () => drawings.start(),
      docPr: (attributes: string) =>
        drawings.describe(attribute(attributes, 'descr') || attribute(attributes, 'title')),
      cNvPr: (attributes: string) => drawings.describe(attribute(attributes, 'descr')),
      shape: (attributes: string) => drawings.describe(attribute(attributes, 'alt')),
      decorative: (attributes: string) => drawings.decorate(isOn(attribute(attributes, 'val'))),
      blip: () => drawings.addPicture(),
      imagedata: () => drawings.addPicture(),
      chart: (attributes: string) => showBelow(part.figures.get(attribute(attributes, 'r:id') ?? '')),
      relIds: (attributes: string) => showBelow(part.figures.get(attribute(attributes, 'r:dm') ?? '')),
      AlternateContent: () => void alternatives.push(produced),
      altChunk: () => {
        scanned.chunks += 1
      },
    }),
  )

  const closed = new Map<string, () => void>(
    Object.entries({
      p: () => {
        fields.endParagraph()
        frames.closeParagraph()
      },
      pPr: () => {
        const here = frames.here()
        if (here !== undefined) here.inProperties = false
      },
      // What stands between runs, as formulas do, does not look like the one before it.
      r: startRun,
      rPr: () => {
        const here = frames.here()
        if (here !== undefined) here.inRunProperties = false
      },
      t: () => {
        into = undefined
      },
      instrText: () => {
        into = undefined
      },
      fldSimple: () => void links.pop(),
      hyperlink: () => void links.pop(),
      tbl: () => frames.closeTable(),
      tr: () => frames.closeRow(),
      trPr: () => frames.setRowProperties(false),
      tc: () => frames.closeCell(),
      drawing: endDrawing,
      pict: endDrawing,
      object: endDrawing,
      AlternateContent: () => void alternatives.pop(),
    }),
  )

  /** The same content twice, for newer programs and for older ones: the first that holds anything is read. */
  const isSecond = (name: string): boolean =>
    (name === 'Choice' || name === 'Fallback') && produced > (alternatives.at(-1) ?? produced)

  function startNote(attributes: string): boolean {
    const id = attribute(attributes, 'w:id') ?? ''
    if (part.notes === undefined || !notes.wants(part.notes, id)) return false
    const author = attribute(attributes, 'w:author')?.trim().slice(0, 100) ?? ''
    const start = part.notes !== 'comment' ? '' : author === '' ? 'Comment: ' : `Comment by ${author}: `
    note = { id, start, texts: [] }
    fields = createDocxFields()
    return true
  }

  function endNote(): void {
    if (note !== undefined && part.notes !== undefined) {
      const text = note.texts.join('\n')
      notes.write(part.notes, note.id, text === '' ? '' : note.start + text)
    }
    note = undefined
  }

  function endFormula(): void {
    formulas -= 1
    if (formulas > 0) return
    const formula = math?.formula() ?? ''
    math = undefined
    if (formula !== '') showPlain(`$${formula}$`)
  }

  await context.pack.scan(part.name, {
    open(name, attributes) {
      if (name === 'del' && skipped === 0) frames.markDeleted()
      if (skipped > 0 || unread.has(name) || isSecond(name)) skipped += 1
      else if (name === 'oMath') {
        formulas += 1
        math ??= createDocxMath()
      } else if (math !== undefined) math.open(name, attributes)
      else if (name === part.notes && frames.none()) {
        if (!startNote(attributes)) skipped = 1
      } else opened.get(name)?.(attributes)
    },
    text(text) {
      if (skipped > 0) return
      if (math !== undefined) math.text(text)
      else if (into === 'text') show(shownText(text))
      else if (into === 'instruction') fields.instruct(text)
    },
    close(name) {
      if (skipped > 0) skipped -= 1
      else if (name === 'oMath') endFormula()
      else if (math !== undefined) math.close(name)
      else if (name === part.notes && frames.none()) endNote()
      else closed.get(name)?.()
    },
  })
  return scanned
}

/** A line's end inside a run of text is a space to Word, and a soft hyphen is seen only where a line happens to break. */
const shownText = (text: string): string => text.replaceAll('\u00AD', '').replace(/[\r\n]+/g, ' ')
