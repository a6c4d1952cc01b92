// What an approval asks, as a card: first the risk and what speaks against it, then what would be done, then the agent's own words.

import { isRecord } from '../../../domain/is-record.ts'
import type { Risk } from '../../../domain/tool-settings.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { visibleCode } from '../../../domain/visible-text.ts'
import { type Approval, type ChangeSummary, isWaiting } from '../../../domain/wait.ts'
import { masked, shownArguments } from '../../../supervision/approvals/shown-arguments.ts'
import {
  bold,
  code,
  emoji,
  type Inline,
  line,
  preformatted,
  quote,
  type RichPart,
  rich,
  type ThreadFile,
  time,
} from './blocks.ts'
import { button, type CardBody, type CardLook, type CardSubject, labelOf } from './card.ts'
import { type DiffExcerpt, diffExcerpt } from './diff-excerpt.ts'
import { choicesOf, fieldLines } from './question-choices.ts'
import { notifiedName, type ShownText, shownCode, shownLine, shownName, shownProse, wholeText } from './shown-text.ts'

type ApprovalSubject = CardSubject<Approval>
type Part = Pick<CardBody, 'blocks' | 'files'>

const MOST_PATH = 300
const MOST_WARNING = 200
const MOST_WARNINGS = 5
const MOST_CODE = 1_500
const MOST_WORDS = 1_500
const MOST_QUESTION = 3_000
const MOST_FIELDS = 1_500

export function approvalBody(subject: ApprovalSubject, look: CardLook): CardBody {
  const { wait } = subject
  const parts = [warnings(wait), whatChanges(wait), ...evidence(subject, look), yeses(subject)]
  return {
    asks: asksFor(wait),
    notified: notifiedAsk(wait),
    blocks: parts.flatMap(({ blocks }) => blocks),
    files: isWaiting(wait) ? parts.flatMap(({ files }) => files) : [],
    buttons: buttonsOf(wait, look),
    hint: hintOf(wait),
  }
}

/** The risk in front of everything else. */
export const riskPieces = ({ risk }: Pick<Approval, 'risk'>): (Inline | string)[] => [
  emoji(RISK_MARKS[risk]),
  ' ',
  bold(`Risk ${risk}`),
  ' · ',
]

const RISK_MARKS: Readonly<Record<Risk, string>> = {
  low: 'large_blue_circle',
  high: 'large_orange_circle',
  critical: 'red_circle',
}

const VERBS: Readonly<Record<ChangeSummary['kind'], { does: string; asks: string }>> = {
  create: { does: 'Creates a new file', asks: 'asks to create a file' },
  modify: { does: 'Changes', asks: 'asks to change a file' },
  delete: { does: 'Deletes the file', asks: 'asks to delete a file' },
}

function asksFor({ kind, supervised }: Approval): string {
  const change = supervised?.change ?? null
  switch (kind) {
    case 'tool_call':
      return 'asks to call a tool'
    case 'question':
      return 'has a question from one of its tools'
    case 'diff':
      return change === null ? 'asks to change a file' : VERBS[change.kind].asks
    case 'permission':
      return change === null ? 'asks to use a tool of its host' : VERBS[change.kind].asks
    case 'policy':
      return 'works under a policy that nobody has accepted'
    default:
      return unreachable(kind)
  }
}

/** Never the arguments: a notification is read on locked screens. */
function notifiedAsk(wait: Approval): string {
  const change = wait.supervised?.change ?? null
  const what = change === null ? (wait.kind === 'policy' ? '' : wait.tool) : change.path
  return `${asksFor(wait)}${what === '' ? '' : ` (${notifiedName(what)})`} · risk ${wait.risk}`
}

/** What speaks against it. */
export function warnings({ supervised, status }: Approval): Part {
  const change = supervised?.change ?? null
  const said = change?.warnings ?? []
  const left = said.length - MOST_WARNINGS
  const warning = (label: string, text: string): RichPart => line(emoji('warning'), ' ', bold(label), text)
  const lines = [
    ...(change === null || change.protectedBecause === null
      ? []
      : [warning('Protected: ', shownProse(change.protectedBecause, MOST_WARNING).text)]),
    ...(change?.hasHiddenText === true ? [warning('It hides characters. ', 'They are written out, as <U+202E>.')] : []),
    ...said.slice(0, MOST_WARNINGS).map((text) => warning('', shownProse(text, MOST_WARNING).text)),
    ...(left > 0 ? [warning('', `… ${left} more warnings`)] : []),
    ...(supervised?.isEdited === true && status === 'pending'
      ? [warning('Edited: ', 'an operator has changed what the agent asked for. You decide about the edited version.')]
      : []),
  ]
  return { blocks: rich(...lines), files: [] }
}

export function whatChanges({ supervised }: Approval): Part {
  const change = supervised?.change ?? null
  if (change === null) return NOTHING
  const { path, kind, addedLines, removedLines } = change
  const what = line(
    bold(`${VERBS[kind].does} `),
    code(shownLine(path, MOST_PATH).text),
    ` +${addedLines} −${removedLines}`,
  )
  return { blocks: rich(what), files: [] }
}

const NOTHING: Part = { blocks: [], files: [] }

/** What the person decides about. With `minimal`, the thread has it. */
function evidence(subject: ApprovalSubject, look: CardLook): Part[] {
  const { wait } = subject
  const parts = [...callParts(wait), diffPart(subject, look), wordsPart(wait), hashLines(wait, look)]
  return look.detail === 'minimal' ? parts.map(({ files }) => ({ blocks: [], files })) : parts
}

function callParts(wait: Approval): Part[] {
  switch (wait.kind) {
    case 'diff':
      return []
    case 'question':
      return questionParts(wait)
    case 'policy':
      return [labelled('The policy', shownProse(wait.description, MOST_WORDS))]
    case 'permission':
    case 'tool_call':
      return [toolPart(wait), argumentsPart(wait), editedPart(wait), previewPart(wait)]
    default:
      return unreachable(wait.kind)
  }
}

const labelled = (label: string, { text }: ShownText, files: ThreadFile[] = []): Part => ({
  blocks: text === '' ? [] : rich(line(bold(label)), preformatted(text)),
  files,
})

function toolPart({ tool, kind, title, action }: Approval): Part {
  // Both are made by the server: the title of a host's call says what will happen, and so does the action of our own tool.
  const does = kind === 'permission' ? title : (action ?? '')
  const text = shownProse(does, MOST_PATH).text
  return {
    blocks: rich(line(bold('Tool '), code(shownName(tool))), preformatted(text)),
    files: [],
  }
}

/** The description of a call is its arguments in short, with secrets masked. */
function argumentsPart(wait: Approval): Part {
  const shown = shownProse(wait.description, MOST_CODE)
  const isShort = shown.isCut || /… \(\d+ (?:more characters|characters in all)\)|… and \d+ more/.test(wait.description)
  const args = isShort ? readObject(wait.arguments) : null
  const label = wait.kind === 'permission' ? 'The call' : 'Arguments'
  if (args === null) return labelled(label, shown)
  const content = visibleCode(JSON.stringify(masked(args, 0), null, 2).split('\n')).join('\n')
  return withNote(
    labelled(label, shown, [file(wait, 'arguments', content, 'json')]),
    'Not all of it fits. The arguments are in the thread, with secrets masked.',
  )
}

/** Arguments that an operator put in place of the agent's. */
function editedPart(wait: Approval): Part {
  const edited = wait.editedArguments === null ? null : readObject(wait.editedArguments)
  if (edited === null) return NOTHING
  const text = shownArguments(edited)
  // A question that was asked again shows them already.
  return wait.description.includes(text)
    ? NOTHING
    : labelled('Edited arguments: these run', shownProse(text, MOST_CODE))
}

function previewPart(wait: Approval): Part {
  const { preview = '' } = wait
  const shown = shownProse(preview, MOST_CODE)
  if (!shown.isCut) return labelled('Preview by the tool', shown)
  const whole = file(wait, 'preview', wholeText(preview), 'text')
  return withNote(labelled('Preview by the tool', shown, [whole]), 'The whole preview is in the thread.')
}

/** What a tool asks is the tool's own text, so it is set apart like the words of an agent. */
function questionParts(wait: Approval): Part[] {
  const { tool, question } = wait
  // The message of the question, with its hidden characters marked.
  const shown = shownProse(wait.description, MOST_QUESTION)
  const whole = shown.isCut ? [file(wait, 'question', wholeText(wait.description), 'text')] : []
  const asked: Part = {
    blocks: rich(
      line(bold('Tool '), code(shownName(tool)), ' asks, in its own words:'),
      quote(shown.text),
      ...(shown.isCut ? [line('The whole question is in the thread.')] : []),
    ),
    files: whole,
  }
  return question === undefined
    ? [asked]
    : [asked, labelled('Answer with', shownCode(fieldLines(question.schema), MOST_FIELDS))]
}

function diffPart({ wait, diff }: ApprovalSubject, { detail }: CardLook): Part {
  if (diff === null) {
    if (wait.kind !== 'diff') return NOTHING
    return {
      blocks: rich(line(emoji('warning'), ' The diff is gone. Reject it, and let the agent ask again.')),
      files: [],
    }
  }
  const excerpt = diffExcerpt(diff.shown)
  const isInThread = !excerpt.isWhole || detail === 'minimal'
  const name = (wait.supervised?.change?.path ?? wait.kind).split('/').at(-1) ?? ''
  return {
    blocks: rich(preformatted(excerpt.text), ...(excerpt.isWhole ? [] : [line(leftOut(excerpt))])),
    files: isInThread ? [file(wait, name, diff.shown, 'diff')] : [],
  }
}

const leftOut = ({ hiddenChanges }: DiffExcerpt): string =>
  hiddenChanges === 0
    ? 'Some of it is left out. The whole diff is in the thread.'
    : `… ${hiddenChanges.toLocaleString('en')} more changed line${hiddenChanges === 1 ? '' : 's'}. The whole diff is in the thread.`

/** The agent's title and description: what it says about its change is no evidence. */
function wordsPart(wait: Approval): Part {
  if (wait.kind !== 'diff') return NOTHING
  const title = shownProse(wait.title, MOST_PATH)
  const description = shownProse(wait.description, MOST_WORDS)
  const isCut = title.isCut || description.isCut
  const words = [title.text, description.text].filter((text) => text !== '')
  if (words.length === 0) return NOTHING
  return {
    blocks: rich(
      line(bold('In the agent’s words:')),
      quote(words.join('\n')),
      ...(isCut ? [line('All of its words are in the thread.')] : []),
    ),
    files: isCut ? [file(wait, 'agents-words', wholeText(`${wait.title}\n\n${wait.description}`), 'text')] : [],
  }
}

function hashLines({ digest, beforeHash, afterHash }: Approval, { detail }: CardLook): Part {
  if (detail !== 'verbose') return NOTHING
  const row = (name: string, hash: string | null): RichPart | null =>
    hash === null || hash === '' ? null : line(`${name} `, code(shownName(hash)))
  return {
    blocks: rich(row('Digest', digest), row('File before', beforeHash), row('File after', afterHash)),
    files: [],
  }
}

/** `1 of 2 yeses: ada today at 10:02`. */
function yeses({ wait, quorum }: ApprovalSubject): Part {
  if (quorum === null || quorum.needed < 2) return NOTHING
  const names = quorum.yeses
    .slice(0, MOST_WARNINGS)
    .flatMap(({ by, at }, i) => [i === 0 ? ': ' : ', ', bold(shownName(by)), ' ', time(at)])
  const left = quorum.yeses.length - MOST_WARNINGS
  const more = wait.status === 'pending' ? '. The first no closes it.' : ''
  const count = bold(`${quorum.yeses.length} of ${quorum.needed} yeses`)
  return { blocks: rich(line(count, ...names, left > 0 ? ` and ${left} more` : '', more)), files: [] }
}

function buttonsOf({ kind, question }: Approval, look: CardLook) {
  const reject = button(look, 'reject', labelOf('reject'))
  if (kind !== 'question') return [button(look, 'accept', labelOf('accept')), reject]
  const choices = question === undefined ? [] : choicesOf(question.schema)
  if (choices.length === 0) return [button(look, 'answer', labelOf('answer')), reject]
  return [...choices.map(({ label }, i) => button(look, `choose:${i}`, label)), reject]
}

function hintOf({ kind, supervised }: Approval): string {
  switch (kind) {
    case 'question':
      return 'Or reply in this thread with the answer, or with reject and a reason.'
    case 'diff':
      return supervised?.change?.kind === 'delete'
        ? 'Or reply in this thread with accept, or with reject and a reason.'
        : 'Or reply in this thread with accept, or with reject and a reason. To edit it first, reply with the whole file attached.'
    case 'permission':
    case 'tool_call':
      return 'Or reply in this thread with accept, or with reject and a reason. To edit the arguments first, reply with a JSON file attached.'
    case 'policy':
      return 'Or reply in this thread with accept, or with reject and a reason.'
    default:
      return unreachable(kind)
  }
}

/** A note below the text that it is about. */
const withNote = ({ blocks, files }: Part, note: string): Part => ({ blocks: [...blocks, ...rich(line(note))], files })

function file(
  { id, digest }: Approval,
  name: string,
  content: string,
  snippetType: ThreadFile['snippetType'],
): ThreadFile {
  const safe = (text: string, most: number): string => text.replace(/[^\w.-]+/g, '_').slice(0, most)
  const ending = { diff: '.diff', json: '.json', text: '.txt' }[snippetType]
  return {
    name: `${safe(name, 60)}-${safe(id, 64).slice(-8)}-${safe(digest, 8)}${ending}`,
    content: content.toWellFormed(),
    snippetType,
  }
}

function readObject(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json)
    return isRecord(value) ? { ...value } : null
  } catch {
    return null
  }
}
