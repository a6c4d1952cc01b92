// What a person looks at before they decide: the call with its arguments, the diff, and what the agent says about it.

import { isRecord } from '../../../domain/is-record.ts'
import type { Approval } from '../../../domain/records/record.ts'
import { maskSecrets } from '../../../domain/secret-name.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { visibleCode } from '../../../domain/visible-text.ts'
import { canonicalJson } from '../../../json/digest.ts'
import { questionForm } from '../../../supervision/approvals/question-form.ts'
import { shownArguments } from '../../../supervision/approvals/shown-arguments.ts'
import { bold, code, emoji, line, preformatted, quote, type RichPart, rich, type ThreadFile } from './blocks.ts'
import type { CardBody, CardLook, CardSubject, Room } from './card.ts'
import { type DiffExcerpt, diffExcerpt } from './diff-excerpt.ts'
import { type ShownText, shownCode, shownName, shownProse, wholeText } from './shown-text.ts'

type Part = Pick<CardBody, 'blocks' | 'files'>

const MOST_ACTION = 300
const MOST_CODE = 1_500
const MOST_WORDS = 1_500
const MOST_QUESTION = 3_000
const MOST_FIELDS = 1_500

const NOTHING: Part = { blocks: [], files: [] }

/** A minimal card says what would be done. All that is behind it is in the thread. */
export function evidence({ wait, diff }: CardSubject<Approval>, { detail }: CardLook, room: Room): Part {
  const isMinimal = detail === 'minimal'
  const inShort = [whatIsCalled(wait, room), edited(wait, room)]
  const behind = [
    ...callDetails(wait, isMinimal, room),
    changeDiff(wait, diff, isMinimal, room),
    agentsWords(wait, room),
    ...(detail === 'verbose' ? [hashes(wait)] : []),
  ]
  return {
    blocks: [...inShort, ...(isMinimal ? [] : behind)].flatMap(({ blocks }) => blocks),
    files: [...inShort, ...behind].flatMap(({ files }) => files),
  }
}

/** What would be done, without what is behind it. */
export function whatIsCalled(wait: Approval, room: Room = 1): Part {
  switch (wait.kind) {
    case 'diff':
    case 'policy':
      return NOTHING
    case 'question':
      return question(wait, room)
    case 'permission':
    case 'tool_call': {
      // Both are made by the server: the title of a host's call says what will happen, and so does the action of our own tool.
      const does = wait.kind === 'permission' ? wait.title : (wait.action ?? '')
      const tool = line(bold('Tool '), code(shownName(wait.tool)))
      return { blocks: rich(tool, preformatted(shownProse(does, MOST_ACTION).text)), files: [] }
    }
    default:
      return unreachable(wait.kind)
  }
}

/** What a tool asks is the tool's own text, so it is set apart like the words of an agent. What may be answered is ours to say, below it. */
function question(wait: Approval, room: Room): Part {
  const message = wait.question?.message ?? wait.description
  const shown = shownCode(message, MOST_QUESTION * room)
  const form = wait.question === undefined ? [] : questionForm(wait.question.schema)
  return {
    blocks: [
      ...rich(
        line(bold('Tool '), code(shownName(wait.tool)), ' asks, in its own words:'),
        quote(shown.text),
        shown.isCut ? line('The whole question is in the thread.') : null,
      ),
      ...rich(preformatted(shownProse(form.join('\n'), MOST_FIELDS * room).text)),
    ],
    files: shown.isCut ? [file(wait, 'question', wholeText(message), 'text')] : [],
  }
}

/** Arguments that an operator put in place of the agent's. Whoever else has to say yes must see them, and all of them. */
export function edited(wait: Approval, room: Room = 1): Part {
  const args = wait.editedArguments === null ? null : readObject(wait.editedArguments)
  // A question that was asked again is about them, so it shows them already. The text alone does not tell: it may be a part of another.
  if (args === null || canonicalJson(args) === canonicalJson(readObject(wait.arguments))) return NOTHING
  const text = shownArguments(args)
  const shown = shownProse(text, MOST_CODE * room)
  const label = 'Edited arguments: these run'
  if (!shown.isCut && !isShortened(text)) return labelled(label, shown)
  return labelled(label, shown, [file(wait, 'edited-arguments', argumentsText(args), 'json')], IN_THREAD)
}

const IN_THREAD = 'Not all of it fits. The arguments are in the thread, with secrets masked.'

/** Whether `shownArguments` has left something out. */
const isShortened = (text: string): boolean =>
  /… \(\d+ (?:more characters|characters in all)\)|… and \d+ more/.test(text)

const argumentsText = (args: Record<string, unknown>): string =>
  visibleCode(JSON.stringify(maskSecrets(args), null, 2).split('\n')).join('\n')

function callDetails(wait: Approval, isMinimal: boolean, room: Room): Part[] {
  switch (wait.kind) {
    case 'diff':
    case 'question':
      return []
    case 'policy':
      return [labelled('The policy', shownProse(wait.description, MOST_WORDS * room))]
    case 'permission':
    case 'tool_call':
      return [callArguments(wait, isMinimal, room), preview(wait, isMinimal, room)]
    default:
      return unreachable(wait.kind)
  }
}

/** The description of a call is its arguments in short, with secrets masked. */
export function callArguments(wait: Approval, isMinimal: boolean, room: Room = 1): Part {
  const label = wait.kind === 'permission' ? 'The call' : 'Arguments'
  const shown = shownProse(wait.description, MOST_CODE * room)
  const isShort = shown.isCut || isShortened(wait.description)
  const args = isShort || isMinimal ? readObject(wait.arguments) : null
  if (args === null) return labelled(label, shown)
  return labelled(label, shown, [file(wait, 'arguments', argumentsText(args), 'json')], IN_THREAD)
}

function preview(wait: Approval, isMinimal: boolean, room: Room): Part {
  const { preview: text = '' } = wait
  const shown = shownProse(text, MOST_CODE * room)
  if (text === '' || !(shown.isCut || isMinimal)) return labelled('Preview by the tool', shown)
  const files = [file(wait, 'preview', wholeText(text), 'text')]
  return labelled('Preview by the tool', shown, files, 'The whole preview is in the thread.')
}

function changeDiff(wait: Approval, diff: CardSubject['diff'], isMinimal: boolean, room: Room): Part {
  if (diff === null) {
    if (wait.kind !== 'diff') return NOTHING
    const gone = line(emoji('warning'), ' The diff is gone. Reject it, and let the agent ask again.')
    return { blocks: rich(gone), files: [] }
  }
  const excerpt = diffExcerpt(diff.shown, room)
  const name = (wait.supervised?.change?.path ?? wait.kind).split('/').at(-1) ?? ''
  return {
    blocks: rich(preformatted(excerpt.text), excerpt.isWhole ? null : line(leftOut(excerpt))),
    files: excerpt.isWhole && !isMinimal ? [] : [file(wait, name, diff.shown, 'diff')],
  }
}

const leftOut = ({ hiddenChanges }: DiffExcerpt): string =>
  hiddenChanges === 0
    ? 'Some of it is left out. The whole diff is in the thread.'
    : `… ${hiddenChanges.toLocaleString('en')} more changed line${hiddenChanges === 1 ? '' : 's'}. The whole diff is in the thread.`

/** The agent's title and description: what it says about its change is no evidence. */
function agentsWords(wait: Approval, room: Room): Part {
  if (wait.kind !== 'diff') return NOTHING
  const title = shownProse(wait.title, MOST_ACTION)
  const description = shownProse(wait.description, MOST_WORDS * room)
  const isCut = title.isCut || description.isCut
  const words = [title.text, description.text].filter((text) => text !== '')
  if (words.length === 0) return NOTHING
  return {
    blocks: rich(
      line(bold('In the agent’s words:')),
      quote(words.join('\n')),
      isCut ? line('All of its words are in the thread.') : null,
    ),
    files: isCut ? [file(wait, 'agents-words', wholeText(`${wait.title}\n\n${wait.description}`), 'text')] : [],
  }
}

function hashes({ digest, beforeHash, afterHash }: Approval): Part {
  const row = (name: string, hash: string | null): RichPart | null =>
    hash === null || hash === '' ? null : line(`${name} `, code(shownName(hash)))
  const rows = [row('Digest', digest), row('File before', beforeHash), row('File after', afterHash)]
  return { blocks: rich(...rows), files: [] }
}

/** A text under its name, with a note below if files have the rest. */
const labelled = (label: string, { text }: ShownText, files: ThreadFile[] = [], note = ''): Part => ({
  blocks: text === '' ? [] : rich(line(bold(label)), preformatted(text), line(note)),
  files,
})

function file(
  { id, digest }: Approval,
  name: string,
  content: string,
  snippetType: ThreadFile['snippetType'],
): ThreadFile {
  const safe = (text: string, most: number): string => text.replace(/[^\w.-]+/g, '_').slice(0, most)
  const ending = { diff: '.diff', json: '.json', text: '.txt' }[snippetType]
  const version = `${safe(id, 64).slice(-8)}-${safe(digest, 8)}`
  return { name: `${safe(name, 60)}-${version}${ending}`, content: content.toWellFormed(), snippetType }
}

function readObject(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json)
    return isRecord(value) ? { ...value } : null
  } catch {
    return null
  }
}
