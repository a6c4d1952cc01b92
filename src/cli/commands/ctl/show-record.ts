// Records as lines for a terminal. Everything that an agent wrote passes `exactText` or `exactValue`, so that it cannot move the
// cursor, fake a line or hide a character.

import { shownPath } from '../../../domain/lookalike.ts'
import { NOBODY_WAITS } from '../../../domain/records/record.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { shownArguments } from '../../../supervision/approvals/shown-arguments.ts'
import { shownDiff } from '../../../supervision/diffs/show-change.ts'
import { localTime, localZone } from '../../terminal/local-time.ts'
import type { Style } from '../../terminal/style.ts'
import { exactText, exactValue, terminalLine } from '../../terminal/terminal-text.ts'
import type { ShownApproval, ShownRecord } from './records.ts'

const LONGEST_LINE = 1_000

/** One line for lists. */
export function titleOf(item: ShownRecord): string {
  switch (item.kind) {
    case 'approval': {
      const { change, title, arguments: input } = item.record
      const call =
        Object.keys(input).length === 0 ? title : `${title} (${shownArguments(input).replaceAll('\n', ', ')})`
      return terminalLine(change ? `${shownPath(change.file_path)}: ${title}` : call, LONGEST_LINE)
    }
    case 'prompt':
      return terminalLine(item.record.prompt_text, LONGEST_LINE)
    case 'wait':
      return terminalLine(item.record.message || 'waits for an instruction', LONGEST_LINE)
    case 'alert':
      return terminalLine(
        `silent for ${item.record.idle_seconds} s after ${item.record.last_tool ?? 'nothing'}`,
        LONGEST_LINE,
      )
    default:
      return unreachable(item)
  }
}

/** Who asks: an agent of the server by its name, one elsewhere by the program that it runs in. */
export const agentOf = ({ record }: ShownRecord): string =>
  terminalLine(record.host || ('agent' in record && typeof record.agent === 'string' ? record.agent : ''), 40)

export const folderOf = ({ record }: ShownRecord): string => exactValue(record.workspace_root ?? '')

/** What is asked, in a word. */
export function kindOf(item: ShownRecord): string {
  return item.kind === 'approval' ? terminalLine(item.record.kind, 20) : item.kind
}

export const riskOf = (item: ShownRecord): string => (item.kind === 'approval' ? item.record.risk : '')

/** Whether the whole text must have been on the screen before a yes. */
export const mustBeSeen = ({ risk }: Pick<ShownApproval, 'risk'>): boolean => risk !== 'low'

/** The whole record, nothing left out. */
export function recordLines(item: ShownRecord, style: Style): string[] {
  const head = [
    `${style.bold(kindOf(item))}  ${item.id}`,
    fact('session', item.record.session_id),
    fact('agent', agentOf(item)),
    fact('folder', folderOf(item)),
    fact('asked', `${localTime(item.record.created_at)} (${localZone()})`),
    item.record.nobody_waits_since ? style.yellow(NOBODY_WAITS) : null,
  ]
  return [...head, ...bodyOf(item, style)].filter((line) => line !== null)
}

function bodyOf(item: ShownRecord, style: Style): (string | null)[] {
  switch (item.kind) {
    case 'approval':
      return approvalLines(item.record, style)
    case 'prompt': {
      const { prompt_type, elapsed_seconds, actions_taken, prompt_text, status, decision, instruction } = item.record
      return [
        fact('type', prompt_type),
        fact('working', elapsed_seconds === null || elapsed_seconds === undefined ? null : `${elapsed_seconds} s`),
        fact('actions', actions_taken?.toString()),
        fact('status', status),
        fact('answer', decision),
        fact('text', instruction),
        '',
        ...prose(prompt_text),
      ]
    }
    case 'wait':
      return [
        fact('status', item.record.status),
        fact('answer', item.record.instruction),
        '',
        ...prose(item.record.message ?? ''),
      ]
    case 'alert': {
      const { status, idle_seconds, nudge_count, nudged_by, last_tool, progress_snapshot } = item.record
      return [
        fact('status', status),
        fact('silent for', `${idle_seconds} s, after ${last_tool ?? 'no call'}`),
        fact('nudges', `${nudge_count}${nudged_by ? `, the last through ${nudged_by}` : ''}`),
        '',
        'The agent may sit in a dialog of its own, or be done.',
        ...(progress_snapshot ?? []).map(
          ({ label, status }) => `  ${status === 'done' ? '[x]' : '[ ]'} ${terminalLine(label, 200)}`,
        ),
      ]
    }
    default:
      return unreachable(item)
  }
}

function approvalLines(approval: ShownApproval, style: Style): (string | null)[] {
  const { change, risk, status, decided_by, decided_at, reason } = approval
  const painted = risk === 'low' ? risk : style.red(risk)
  return [
    `${'risk'.padEnd(11)}${painted}`,
    fact(
      'status',
      decided_by ? `${status} by ${decided_by} at ${decided_at ? localTime(decided_at) : 'an unknown time'}` : status,
    ),
    fact('yeses', yesesOf(approval)),
    fact('reason', reason),
    fact('expires', approval.expires_at ? localTime(approval.expires_at) : null),
    fact('digest', approval.digest),
    approval.edited ? style.yellow('An operator has edited this.') : null,
    '',
    style.dim('In the words of the agent:'),
    ...prose(approval.title).map((line) => `  ${line}`),
    ...(approval.description === '' ? [] : prose(approval.description).map((line) => `  ${line}`)),
    '',
    ...(change ? changeLines(change, style) : callLines(approval)),
    ...diffLines(approval, style),
  ]
}

/** Null: one yes is enough. */
export function yesesOf({ quorum, decisions }: Pick<ShownApproval, 'quorum' | 'decisions'>): string | null {
  if (quorum < 2) return null
  const names = decisions.map(({ by }) => exactValue(by)).join(', ')
  return `${decisions.length} of ${quorum}${names === '' ? '' : ` (${names})`}`
}

function changeLines(change: NonNullable<ShownApproval['change']>, style: Style): string[] {
  const what = change.kind === 'delete' ? style.red('deletes') : change.kind === 'create' ? 'creates' : 'changes'
  const { added_lines, removed_lines, warnings, protected_because, has_hidden_text } = change
  return [
    `It ${what} ${exactText(shownPath(change.file_path))} (+${added_lines} -${removed_lines})`,
    ...(protected_because ? [style.red(`Protected: ${terminalLine(protected_because, LONGEST_LINE)}`)] : []),
    ...(has_hidden_text ? [style.red('It hides characters. They are written out below, as <U+202E>.')] : []),
    ...warnings.map((warning) => style.yellow(`Warning: ${terminalLine(warning, LONGEST_LINE)}`)),
  ]
}

const callLines = ({ approval_id, kind, tool, arguments: input, action, preview }: ShownApproval): string[] => {
  if (kind === 'policy') return []
  if (kind === 'question') return [`To answer: ctl answer ${terminalLine(approval_id, 64)}`]
  const rows = Object.entries(input).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `  ${exactValue(name)}: ${exactValue(text)}`
  })
  // The server has made them visible.
  const more = [action, preview].flatMap((text) => (text ? ['', ...prose(text)] : []))
  return [`It calls ${exactValue(tool)}`, ...rows, ...more]
}

/** The whole diff, with every hidden character written out. */
function diffLines({ change, diff }: ShownApproval, style: Style): string[] {
  if (diff === null || diff === undefined || diff === '') return []
  const lines = shownDiff({ path: change?.file_path ?? '', diff }).text.split('\n')
  return ['', ...lines.map((line) => paintDiff(line, style))]
}

export function paintDiff(line: string, style: Style): string {
  const safe = exactText(line)
  if (safe.startsWith('+')) return style.green(safe)
  if (safe.startsWith('-')) return style.red(safe)
  return safe.startsWith('@@') ? style.cyan(safe) : safe
}

const fact = (name: string, value: string | null | undefined): string | null =>
  value === null || value === undefined || value === ''
    ? null
    : `${name.padEnd(11)}${terminalLine(value, LONGEST_LINE)}`

const prose = (text: string): string[] => exactText(text).split('\n')
