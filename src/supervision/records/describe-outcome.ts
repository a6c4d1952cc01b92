// How a record ended: who decided what, when and where, or why nobody did.

import type { Alert, Approval, PersonRecord, Prompt, Standby } from '../../domain/records/record.ts'
import { unreachable } from '../../domain/unreachable.ts'
import type { RecordFact, RecordOutcome, RecordScene } from './record-view.ts'
import { fact, timeOf } from './record-words.ts'

type Verdict = Pick<RecordOutcome, 'word' | 'tone'> & Partial<Pick<RecordOutcome, 'more' | 'words' | 'facts'>>

/** Enough to compare with what `sha256sum` prints. */
const HASH_CHARS = 16

/** Null: it still wants something of a person. */
export function outcomeOf(record: PersonRecord, scene: Pick<RecordScene, 'status'>): RecordOutcome | null {
  const verdict = verdictOf(record, scene)
  if (verdict === null) return null
  const { decidedBy, decidedAt, decidedVia } = record
  const isByPerson = isPerson(decidedBy)
  return {
    word: verdict.word,
    tone: verdict.tone,
    by: isByPerson ? decidedBy : decidedBy === 'policy' ? 'the workspace’s policy' : null,
    at: timeOf(decidedAt),
    via: isByPerson && decidedVia !== null ? wayOf(decidedVia) : null,
    reason: reasonOf(record),
    more: verdict.more ?? '',
    words: verdict.words ?? null,
    facts: verdict.facts ?? [],
  }
}

/** It is over and no person has ended it: the time did, a restart, or the agent itself. Somebody may still think that it waits. */
export function endedAlone({ wait, status, decidedBy }: PersonRecord): boolean {
  if (isPerson(decidedBy) || decidedBy === 'policy') return false
  switch (wait) {
    case 'approval':
      return status === 'expired' || (status === 'interrupted' && decidedBy === 'restart')
    case 'prompt':
      return status === 'decided'
    case 'standby':
      return status === 'timeout'
    case 'alert':
      return status === 'self_recovered'
    default:
      return unreachable(wait)
  }
}

function verdictOf(record: PersonRecord, scene: Pick<RecordScene, 'status'>): Verdict | null {
  switch (record.wait) {
    case 'approval':
      return approvalVerdict(record)
    case 'prompt':
      return promptVerdict(record)
    case 'standby':
      return standbyVerdict(record)
    case 'alert':
      return alertVerdict(record, scene)
    default:
      return unreachable(record)
  }
}

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

const interrupted: Verdict = {
  word: 'Interrupted',
  tone: 'warn',
  more: 'It ended before anybody answered. Nothing was decided.',
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
  return kind === 'diff'
    ? { more: [...edited, ...force, ...notWritten(approval)].join(' '), facts: written(approval) }
    : { more: [...edited, ...force].join(' '), facts: used }
}

function notWritten({ status, supervised }: Approval): string[] {
  if (supervised?.notApplied !== undefined) return [`Not written: ${supervised.notApplied}`]
  if (typeof supervised?.appliedAt === 'number') return []
  if (status === 'consumed') return ['It is being written.']
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

const DECISIONS = {
  continue: { word: 'Continue', tone: 'good' },
  refine: { word: 'Refine', tone: 'good' },
  stop: { word: 'Stop', tone: 'warn' },
} as const

function promptVerdict({ status, decision, decidedBy, instruction }: Prompt): Verdict | null {
  if (status === 'pending') return null
  if (status === 'interrupted' || decision === null) return interrupted
  const goesOn = decision === 'continue' ? 'so it goes on by itself' : 'so the agent was told to stop'
  return {
    ...DECISIONS[decision],
    ...(isPerson(decidedBy) ? {} : { more: `Nobody answered in time, ${goesOn}.` }),
    words: instruction === null ? null : { title: 'Instruction', text: instruction },
  }
}

function standbyVerdict({ status, instruction }: Standby): Verdict | null {
  switch (status) {
    case 'pending':
      return null
    case 'interrupted':
      return interrupted
    case 'timeout':
      return { word: 'Timed out', tone: 'neutral', more: 'Nobody answered in time, and the agent knows.' }
    case 'resumed':
      if (instruction === 'stop') return DECISIONS.stop
      return {
        word: 'Resumed',
        tone: 'good',
        words: instruction === null ? null : { title: 'Instruction', text: instruction },
      }
    default:
      return unreachable(status)
  }
}

function alertVerdict({ status, nudgeCount, decidedBy }: Alert, scene: Pick<RecordScene, 'status'>): Verdict | null {
  if (status === 'self_recovered') {
    return { word: recoveredWord(nudgeCount), tone: 'good', more: 'The agent reports again.' }
  }
  if (status !== 'dismissed') return null
  // Stopping the agent ends its alert in the same step.
  if (scene.status === 'terminated') return { word: 'Closed', tone: 'neutral', more: 'The session is terminated.' }
  return isPerson(decidedBy)
    ? { word: 'Dismissed', tone: 'neutral' }
    : { word: 'Closed', tone: 'neutral', more: 'The agent’s window is closed.' }
}

/** An agent that was nudged has not come back by itself. */
const recoveredWord = (nudgeCount: number): string =>
  nudgeCount === 0 ? 'Recovered by itself' : `Recovered after ${nudgeCount === 1 ? 'a nudge' : `${nudgeCount} nudges`}`

/** What stands in `decidedBy` when no person decided. */
const NOBODY: readonly (string | null)[] = [null, 'timeout', 'policy', 'restart']
const isPerson = (by: string | null): by is string => !NOBODY.includes(by)

const WAYS: Readonly<Record<string, string>> = {
  slack: 'in Slack',
  http: 'over HTTP',
  ctl: 'at a terminal',
  console: 'in the console',
  'ag-ui': 'in the chat',
}

/** A channel with several rooms names the room after a colon. */
const wayOf = (via: string): string => WAYS[via.split(':', 1)[0] ?? ''] ?? `through ${via}`

/** A prompt that nobody answered has the reason `timeout`, which `more` says in words. */
const reasonOf = ({ reason, decidedBy }: PersonRecord): string | null =>
  reason === '' || (decidedBy === 'timeout' && reason === 'timeout') ? null : reason
