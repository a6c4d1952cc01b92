// What an approval asks, in words: what would be done, what speaks against it, and what is behind it.

import { UNCONFINED } from '../../../domain/agent/agent.ts'
import type { Approval, ChangeSummary } from '../../../domain/records/record.ts'
import { shownPath } from '../../../domain/text/lookalike.ts'
import { maskEntries } from '../../../domain/text/secret-name.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import type { ToolEffect } from '../../../hosts/host.ts'
import { toolEffect } from '../../../hosts/tool-effect.ts'
import { canonicalJson } from '../../../json/digest.ts'
import { questionForm } from '../../approvals/question-form.ts'
import { shownArguments } from '../../approvals/shown-arguments.ts'
import { callWarnings } from '../../approvals/shown-call.ts'
import { offered } from '../../remember/offered.ts'
import type { BodyPart, KindView, RecordFact, RecordScene } from '../record-view.ts'
import { fact, objectIn, oneLine, prose } from '../record-words.ts'
import { approvalActions } from './approval-actions.ts'
import { diffParts, editedWords, fateFacts, filesText } from './changes.ts'
import { interrupted, isPerson, type KindWords, type Verdict } from './kind-words.ts'

const CHANGES: Readonly<Record<ChangeSummary['kind'], { title: string; asks: string }>> = {
  create: { title: 'Create', asks: 'asks to create a file' },
  modify: { title: 'Change', asks: 'asks to change a file' },
  delete: { title: 'Delete', asks: 'asks to delete a file' },
}

/** A person's yes or no to one concrete action. */
export const approval: KindWords<Approval> = {
  view,
  body: bodyOf,
  actions: approvalActions,
  verdict: approvalVerdict,
  endedAlone: ({ status, decidedBy }) => status === 'expired' || (status === 'interrupted' && decidedBy === 'restart'),
}

function view(approval: Approval, scene: RecordScene): KindView {
  const { risk, riskWhy = null, supervised } = approval
  const change = supervised?.change ?? null
  return {
    ...subjectOf(approval, change),
    risk: { level: risk, why: change?.protectedBecause ?? riskWhy },
    warnings: warningsOf(approval, scene),
    facts: factsOf(approval),
    remember: offered(approval),
  }
}

const SUBJECTS: Readonly<Record<Approval['kind'], Pick<KindView, 'label' | 'mark' | 'asks'>>> = {
  tool_call: { label: 'Tool call', mark: 'call', asks: 'asks to call a tool' },
  question: { label: 'Question of a tool', mark: 'question', asks: 'has a question from one of its tools' },
  permission: { label: 'Tool of a host', mark: 'tool', asks: 'asks to use a tool of its host' },
  diff: { label: 'Change of a file', mark: 'change', asks: 'asks to change a file' },
  changes: { label: 'Changes of files', mark: 'change', asks: 'asks to change files' },
  policy: { label: 'Policy', mark: 'policy', asks: 'has a policy that nobody has accepted' },
}

type Subject = Pick<KindView, 'label' | 'mark' | 'asks' | 'title' | 'gist' | 'brief'>

function subjectOf(approval: Approval, change: ChangeSummary | null): Subject {
  if (change !== null) return changeSubject(approval, change)
  const { kind, tool, title, description, question } = approval
  const words = SUBJECTS[kind]
  switch (kind) {
    case 'tool_call':
      return { ...words, title: tool, gist: argumentsIn(approval), brief: `Tool ${tool}` }
    case 'question':
      return { ...words, title: `${tool} asks`, gist: oneLine(question?.message ?? description), brief: `Tool ${tool}` }
    case 'permission': {
      // The title of a command or a path says all of it.
      const gist = title.startsWith('Call ') ? argumentsIn(approval) : ''
      return { ...words, title: oneLine(title), gist, brief: `Tool ${tool}` }
    }
    case 'diff':
      return { ...words, title: oneLine(title), gist: '', brief: 'Change of a file' }
    case 'changes':
      return { ...words, title: oneLine(title), gist: '', brief: 'Changes of files' }
    case 'policy':
      return { ...words, title: oneLine(title), gist: '', brief: 'New policy of a workspace' }
    default:
      return unreachable(kind)
  }
}

/** One line, of a text with one argument a line. A list has no space for warnings, so it says that there are some. */
const argumentsIn = (approval: Approval): string =>
  oneLine(`${callWarnings(approval).length === 0 ? '' : 'Look closely. '}${argumentLines(approval).join(', ')}`)

/** Warnings stand before them in the description, and by themselves in a view. */
function argumentLines(approval: Approval): string[] {
  const warnings = callWarnings(approval)
  const lines = approval.description.split('\n')
  const first = lines.findIndex((line) => !warnings.includes(line))
  return first === -1 ? [] : lines.slice(first)
}

/** What the agent calls its change stands behind the file, in the place of what others say. */
function changeSubject(
  { kind, title }: Approval,
  { kind: does, path, addedLines, removedLines }: ChangeSummary,
): Subject {
  return {
    label: SUBJECTS[kind === 'permission' ? kind : 'diff'].label,
    mark: 'change',
    asks: CHANGES[does].asks,
    title: `${CHANGES[does].title} ${shownPath(path)} +${addedLines} −${removedLines}`,
    // The title of a host's call is made by the server, from the same path.
    gist: kind === 'permission' ? '' : oneLine(title),
    brief: `Change of a file: +${addedLines} −${removedLines} lines`,
  }
}

const EFFECTS: Readonly<Record<ToolEffect, string>> = {
  host: 'Changes only what the agent’s program shows or plans',
  reads: 'Reads files',
  searches: 'Searches files',
  writes: 'Writes a file',
  runs: 'Runs a shell command',
  reaches: 'Reaches the network',
  unknown: 'May do anything: Quarterdeck does not know this tool',
}

/** What the tool does: in its own words, or what is known of a host's tool. Null: nobody says. */
export function toolWords(approval: Approval): string | null {
  const { kind, tool, toolSays = null, supervised } = approval
  if (supervised === undefined || kind === 'policy') return toolSays
  if (kind === 'changes') return 'Writes to the workspace what the agent has changed in its own copy, once'
  return EFFECTS[kind === 'diff' ? 'writes' : toolEffect(supervised.host, tool, objectIn(approval.arguments))]
}

/** What speaks against it. Why it is a risk stands beside the risk. */
function warningsOf(approval: Approval, { diff }: RecordScene): string[] {
  const { kind, supervised, editedArguments, status } = approval
  const isEdited = (supervised?.isEdited === true || editedArguments !== null) && status === 'pending'
  return [
    ...callWarnings(approval),
    ...(supervised?.unconfined === true ? [`The agent’s program is ${UNCONFINED}.`] : []),
    ...(isEdited ? ['An operator has changed what the agent asked for. You decide about the edited version.'] : []),
    ...((kind === 'diff' || kind === 'changes') && diff === null
      ? ['The diff is gone. Reject it, and let the agent ask again.']
      : []),
  ]
}

function factsOf({ quorum = 1, decisions = [], status, digest, beforeHash, afterHash }: Approval): RecordFact[] {
  const names = decisions.map(({ by }) => by).join(', ')
  const more = status === 'pending' ? '. The first no closes it' : ''
  return [
    ...(quorum < 2
      ? []
      : [fact('Yeses', `${decisions.length} of ${quorum}${names === '' ? '' : `: ${names}`}${more}`)]),
    fact('Digest', digest, { minor: true }),
    ...(beforeHash === null ? [] : [fact('File before', beforeHash, { minor: true })]),
    ...(afterHash === null ? [] : [fact('File after', afterHash, { minor: true })]),
  ]
}

function bodyOf(approval: Approval, { diff, files }: RecordScene): BodyPart[] {
  const { kind, title, action, description, preview, question } = approval
  switch (kind) {
    case 'question':
      return [
        ...prose('In the tool’s words', 'tool', question?.message ?? description),
        ...prose('How to answer', 'server', questionForm(question?.schema ?? {}).join('\n')),
      ]
    case 'tool_call':
    case 'permission':
      return [
        // The title of a host's call says what will happen. The title of our own tool is only its name.
        ...prose('What it does', 'server', action),
        ...callParts(approval),
        ...prose('Preview by the tool', 'tool', preview),
        ...diffPart(diff),
      ]
    case 'changes':
      return [
        ...prose('The files', 'server', filesText(approval)),
        ...(files === undefined ? diffPart(diff) : diffParts(files)),
      ]
    case 'policy':
      return [...prose('The policy', 'server', description), ...diffPart(diff)]
    case 'diff':
      return [
        ...diffPart(diff),
        ...prose('In the agent’s words', 'agent', [title, description].filter((words) => words !== '').join('\n')),
      ]
    default:
      return unreachable(kind)
  }
}

const diffPart = (diff: string | null | undefined): BodyPart[] =>
  diff === null || diff === undefined || diff === '' ? [] : [{ type: 'diff', title: 'What changes', text: diff }]

/** The call as the agent wrote it, and then what an operator put in its place: whoever else has to say yes must see it. */
function callParts(approval: Approval): BodyPart[] {
  const { tool, arguments: written, editedArguments } = approval
  const asked: BodyPart = {
    type: 'arguments',
    title: `Arguments of ${tool}`,
    text: argumentLines(approval).join('\n'),
    whole: maskEntries(objectIn(written)),
  }
  const edited = editedArguments === null ? null : objectIn(editedArguments)
  // A question that was asked again is about them, so it shows them already.
  if (edited === null || canonicalJson(edited) === canonicalJson(objectIn(written))) return [asked]
  return [
    asked,
    {
      type: 'arguments',
      title: 'The edited arguments, which run',
      text: shownArguments(edited),
      whole: maskEntries(edited),
    },
  ]
}

/** Enough to compare with what `sha256sum` prints. */
const HASH_CHARS = 16

function approvalVerdict(approval: Approval): Verdict | null {
  switch (approval.status) {
    case 'pending':
      return null
    case 'approved':
    case 'consumed':
      return { word: 'Approved', tone: 'good', ...fateOf(approval) }
    case 'rejected':
      return { word: 'Rejected', tone: 'bad' }
    case 'answered':
      return { word: 'Answered', tone: 'good', words: { title: 'Answer', text: answerOf(approval) } }
    case 'expired':
      return {
        word: 'Expired',
        tone: 'neutral',
        more: 'Nobody answered in time, so it counts as refused. It was not a person’s no.',
      }
    case 'interrupted':
      // Somebody approved it, and nothing came of it. The reason says why.
      return isPerson(approval.decidedBy)
        ? { word: 'Approved', tone: 'warn', more: 'Interrupted: the call did not run.' }
        : interrupted
    default:
      return unreachable(approval.status)
  }
}

/** A text as it is, and everything else as JSON. */
function answerOf({ kind, response = '' }: Approval): string {
  if (kind !== 'question' || response === '') return response
  const value: unknown = JSON.parse(response)
  return typeof value === 'string' ? value : response
}

/** What has become of something that was approved. */
function fateOf(approval: Approval): Pick<Verdict, 'more' | 'facts'> {
  const { kind, status, consumedAt, supervised, editedArguments } = approval
  const edited = supervised?.isEdited === true || editedArguments !== null ? ['As an operator edited it.'] : []
  const force = supervised?.mayForce === true ? ['It may overwrite the file even if that has changed.'] : []
  const used = status === 'consumed' && consumedAt !== null ? [fact('Used', '', { at: consumedAt })] : []
  if (kind === 'changes')
    return { more: [...editedWords(approval), ...notWritten(approval)].join(' '), facts: fateFacts(approval) }
  return kind === 'diff'
    ? { more: [...edited, ...force, ...notWritten(approval)].join(' '), facts: written(approval) }
    : { more: [...edited, ...force].join(' '), facts: used }
}

function notWritten({ kind, status, supervised }: Approval): string[] {
  if (supervised?.notApplied !== undefined) return [`Not written: ${supervised.notApplied}`]
  if (typeof supervised?.appliedAt === 'number') return []
  if (status === 'consumed') return ['It is being written.']
  if (kind === 'changes') return ['Nothing is written yet.']
  return [
    supervised?.refused === undefined ? 'The agent has not written it yet.' : `Not written yet: ${supervised.refused}`,
  ]
}

function written({ supervised, afterHash }: Approval): RecordFact[] {
  if (typeof supervised?.appliedAt !== 'number' || supervised.notApplied !== undefined) return []
  const at = { at: supervised.appliedAt }
  if (supervised.change?.kind === 'delete') return [fact('Deleted', '', at)]
  return [fact('Written', afterHash === null ? '' : `SHA-256 ${afterHash.slice(0, HASH_CHARS)}`, at)]
}
