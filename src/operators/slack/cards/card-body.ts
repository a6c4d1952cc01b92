// What a person looks at before they answer. What does not fit, and what a short card leaves out, is a file in the thread.

import { hash } from 'node:crypto'
import { visibleCode } from '../../../domain/text/visible-text.ts'
import type { BodyPart, RecordView } from '../../../supervision/records/record-view.ts'
import { bold, line, preformatted, quote, type RichPart, rich, type SlackBlock, type ThreadFile } from './blocks.ts'
import { type CardLook, checklist, type Room } from './card.ts'
import { shownNote, shownProse, sizeOf, wholeText } from './shown-text.ts'

interface ShownPart {
  parts: RichPart[]
  /** Not all of it is in the message. */
  isCut: boolean
}

/** The first words of a body say what is asked. */
const MOST_FIRST = 3_000
const MOST_TEXT = 1_500
/** Of a short card, and of what a person wrote: people know it. */
const MOST_SHORT = 600
const MOST_STEPS = 15
const MOST_TITLE = 120

export function cardBody(view: RecordView, { detail }: Pick<CardLook, 'detail'>, room: Room) {
  const { body } = view
  const isShort = detail === 'minimal'
  const said = isShort ? [...words(body), ...body.filter(isArguments).slice(1)] : body
  const all = body.map((part, i) => {
    const isShown = said.includes(part)
    const { parts, isCut } = shownPart(part, (isShort ? MOST_SHORT : mostOf(part, i)) * room, room)
    const file = isCut || !isShown ? fileOf(view, part, isCut) : null
    const note = isCut && file !== null && part.type !== 'diff' ? line(`${IN_THREAD}${maskNote(part)}.`) : null
    return { blocks: isShown ? rich(...parts, note) : [], files: file === null ? [] : [file] }
  })
  return { blocks: all.flatMap(({ blocks }) => blocks), files: all.flatMap(({ files }) => files) }
}

const IN_THREAD = 'Not all of it fits. All of it is in the thread'
const maskNote = (part: BodyPart): string => (isArguments(part) ? ', with secrets masked' : '')

/** What would be done, for a last look at it: in words, and with the arguments that run. */
export const lastLook = ({ body }: RecordView): SlackBlock[] =>
  [...words(body), ...body.filter(isArguments).slice(-1)].flatMap((part) =>
    rich(...shownPart(part, MOST_TEXT, 1).parts),
  )

/** What is asked, if words say it. */
const words = ([first]: readonly BodyPart[]): BodyPart[] => (first?.type === 'prose' ? [first] : [])

const isArguments = ({ type }: BodyPart): boolean => type === 'arguments'

function mostOf(part: BodyPart, i: number): number {
  if (part.type === 'prose' && part.by === 'person') return MOST_SHORT
  return i === 0 ? MOST_FIRST : MOST_TEXT
}

function shownPart(part: BodyPart, most: number, room: Room): ShownPart {
  if (part.type === 'diff') return shownDiff(diffExcerpt(part.text, room))
  if (part.type === 'steps') return { parts: checklist(part.title, part.steps, MOST_STEPS), isCut: false }
  const { text, isCut } = shownProse(part.text, most)
  if (text === '') return { parts: [], isCut }
  // Without a title it is a sentence of ours.
  if (part.title === '') return { parts: [line(text)], isCut }
  const isQuoted = part.type === 'prose' && (part.by === 'agent' || part.by === 'person')
  return {
    parts: [line(bold(`${shownNote(part.title, MOST_TITLE)}:`)), isQuoted ? quote(text) : preformatted(text)],
    isCut: isCut || (part.type === 'arguments' && isShortened(part.text)),
  }
}

function shownDiff({ text, hiddenChanges, isWhole }: DiffExcerpt): ShownPart {
  const more =
    hiddenChanges === 0
      ? 'Some of it is left out.'
      : `… ${hiddenChanges.toLocaleString('en')} more changed line${hiddenChanges === 1 ? '' : 's'}.`
  return {
    parts: [preformatted(text), line(isWhole ? '' : `${more} The whole diff is in the thread.`)],
    isCut: !isWhole,
  }
}

/** Whether arguments in short leave something out. */
const isShortened = (text: string): boolean =>
  /… \(\d+ (?:more characters|characters in all)\)|… and \d+ more/.test(text)

/** Null: what the message says of it is enough. */
function fileOf(view: RecordView, part: BodyPart, isCut: boolean): ThreadFile | null {
  switch (part.type) {
    case 'diff':
      return threadFile(view, view.title, part.text, 'diff')
    case 'arguments':
      return threadFile(view, part.title, argumentsText(part.whole), 'json')
    case 'prose': {
      const isEvidence = part.by === 'tool' || (part.by === 'agent' && isCut)
      return isEvidence ? threadFile(view, part.title, wholeText(part.text), 'text') : null
    }
    default:
      return null
  }
}

const argumentsText = (masked: Record<string, unknown>): string =>
  visibleCode(JSON.stringify(masked, null, 2).split('\n')).join('\n')

/** The name tells what it is, and changes with the content. */
function threadFile(
  { id }: RecordView,
  title: string,
  text: string,
  snippetType: ThreadFile['snippetType'],
): ThreadFile {
  const content = text.toWellFormed()
  const safe = (name: string): string => name.replaceAll('’', '').replace(/[^\w.-]+/g, '-')
  const ending = { diff: '.diff', json: '.json', text: '.txt' }[snippetType]
  const version = `${safe(id).slice(-8)}-${hash('sha256', content).slice(0, 8)}`
  return { name: `${safe(title).slice(0, 80)}-${version}${ending}`, content, snippetType }
}

// The part of a diff that a card shows.

interface DiffExcerpt {
  text: string
  /** Changed lines that the excerpt leaves out. */
  hiddenChanges: number
  /** Nothing is left out, not even the end of a line. */
  isWhole: boolean
}

/** A diff with more changed lines is shown in part. */
const MOST_CHANGED_LINES = 20
const MOST_LINE_CHARS = 300
const MOST_CHARS = 2_600

/** `shown` is a unified diff in which hidden characters are marked. The card says the path of a single file itself. */
function diffExcerpt(shown: string, room: Room = 1): DiffExcerpt {
  const lines = shown.replace(/\n$/, '').split('\n')
  const isHeader = (line: string | undefined, i: number): boolean =>
    (line?.startsWith('--- ') === true && lines[i + 1]?.startsWith('+++ ') === true) ||
    (line?.startsWith('+++ ') === true && lines[i - 1]?.startsWith('--- ') === true)
  const headers = lines.filter(isHeader)
  const isOne = headers.length === 2 && isHeader(lines[0], 0)
  const body = isOne ? lines.slice(2) : lines
  const isChange = (line: string): boolean => /^[+-]/.test(line) && (isOne || !headers.includes(line))
  const all = body.filter(isChange).length
  const kept: string[] = []
  let changes = 0
  let chars = 0
  let isWhole = true
  for (const line of body) {
    const { text, isCut } = shownProse(line, MOST_LINE_CHARS)
    const isNext = isChange(line)
    chars += sizeOf(text) + sizeOf('\n')
    if ((isNext && changes === MOST_CHANGED_LINES) || chars > MOST_CHARS * room) {
      isWhole = false
      break
    }
    if (isCut) isWhole = false
    if (isNext) changes += 1
    kept.push(text)
  }
  return { text: kept.join('\n'), hiddenChanges: all - changes, isWhole }
}
