// How a record ended: who decided what, when and where, or why nobody did.

import type { Alert, Approval, PersonRecord, Prompt, Standby } from '../../../domain/records/record.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { bold, code, emoji, type Inline, line, quote, type RichPart, time } from './blocks.ts'
import type { CardSession } from './card.ts'
import { notifiedName, shownName, shownNote, shownProse } from './shown-text.ts'

export interface Outcome {
  lines: RichPart[]
  /** For the notification, already escaped. */
  notified: string
}

interface Verdict {
  mark: string
  /** What was decided, in our own words. */
  word: string
  /** What that means, if it needs saying. */
  more?: (Inline | string)[]
  /** What the person wrote. */
  text?: { label: string; text: string } | null
}

const MOST_TEXT = 1_000
/** Enough to compare with what `sha256sum` prints. */
const HASH_CHARS = 16

/** Null: it still wants something of a person. */
export function outcomeOf(wait: PersonRecord, session: Pick<CardSession, 'status'>): Outcome | null {
  const verdict = verdictOf(wait, session)
  if (verdict === null) return null
  const { mark, word, more = [], text = null } = verdict
  const reason = reasonOf(wait)
  return {
    lines: [
      line(emoji(mark), ' ', bold(word), ...byWhom(wait)),
      ...(more.length === 0 ? [] : [line(...more)]),
      ...(reason === null ? [] : [line(bold('Reason:')), quote(shownProse(reason, MOST_TEXT).text)]),
      ...(text === null || text.text === ''
        ? []
        : [line(bold(text.label)), quote(shownProse(text.text, MOST_TEXT).text)]),
    ],
    notified: `${word}${isPerson(wait.decidedBy) ? ` by ${notifiedName(wait.decidedBy)}` : ''}`,
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

function verdictOf(wait: PersonRecord, session: Pick<CardSession, 'status'>): Verdict | null {
  switch (wait.wait) {
    case 'approval':
      return approvalVerdict(wait)
    case 'prompt':
      return promptVerdict(wait)
    case 'standby':
      return instructionVerdict(wait)
    case 'alert':
      return alertVerdict(wait, session)
    default:
      return unreachable(wait)
  }
}

function approvalVerdict(wait: Approval): Verdict | null {
  switch (wait.status) {
    case 'pending':
      return null
    case 'approved':
    case 'consumed':
      return { mark: 'white_check_mark', word: 'Approved', more: fateOf(wait) }
    case 'rejected':
      return { mark: 'x', word: 'Rejected' }
    case 'answered':
      return { mark: 'speech_balloon', word: 'Answered', text: { label: 'Answer:', text: wait.response ?? '' } }
    case 'expired':
      return {
        mark: 'hourglass',
        word: 'Expired',
        more: ['Nobody answered in time, so it counts as refused. It was not a person’s no.'],
      }
    case 'interrupted':
      // Somebody approved it, and nothing came of it. The reason says why.
      return isPerson(wait.decidedBy)
        ? { mark: 'octagonal_sign', word: 'Approved', more: ['Interrupted: the call did not run.'] }
        : interrupted()
    default:
      return unreachable(wait.status)
  }
}

const interrupted = (): Verdict => ({
  mark: 'octagonal_sign',
  word: 'Interrupted',
  more: ['It ended before anybody answered. Nothing was decided.'],
})

/** What has become of something that was approved. */
function fateOf({ kind, status, consumedAt, afterHash, supervised, editedArguments }: Approval): (Inline | string)[] {
  const edited = supervised?.isEdited === true || editedArguments !== null ? ['As an operator edited it. '] : []
  const force = supervised?.mayForce === true ? ['It may overwrite the file even if that has changed. '] : []
  return [...edited, ...force, ...used()]

  function used(): (Inline | string)[] {
    if (kind !== 'diff') return status !== 'consumed' || consumedAt === null ? [] : ['Used ', time(consumedAt), '.']
    if (supervised?.notApplied !== undefined) return ['Not written: ', shownNote(supervised.notApplied, MOST_TEXT)]
    if (typeof supervised?.appliedAt === 'number') return written(supervised.appliedAt)
    if (status === 'consumed') return ['It is being written.']
    if (supervised?.refused === undefined) return ['The agent has not written it yet.']
    return ['Not written yet: ', shownNote(supervised.refused, MOST_TEXT)]
  }

  function written(at: number): (Inline | string)[] {
    if (supervised?.change?.kind === 'delete') return ['Deleted ', time(at), '.']
    const sha = afterHash === null ? [] : [' · SHA-256 ', code(afterHash.slice(0, HASH_CHARS))]
    return [bold('Written'), ' ', time(at), ...sha]
  }
}

function promptVerdict({ status, decision, decidedBy, instruction }: Prompt): Verdict | null {
  if (status === 'pending') return null
  if (status === 'interrupted' || decision === null) return interrupted()
  const marks = { continue: 'arrow_forward', refine: 'pencil2', stop: 'octagonal_sign' }
  const words = { continue: 'Continue', refine: 'Refine', stop: 'Stop' }
  const goesOn = decision === 'continue' ? 'so it goes on by itself' : 'so the agent was told to stop'
  return {
    mark: marks[decision],
    word: words[decision],
    ...(isPerson(decidedBy) ? {} : { more: [`Nobody answered in time, ${goesOn}.`] }),
    text: instruction === null ? null : { label: 'Instruction:', text: instruction },
  }
}

function instructionVerdict({ status, instruction }: Standby): Verdict | null {
  switch (status) {
    case 'pending':
      return null
    case 'interrupted':
      return interrupted()
    case 'timeout':
      return { mark: 'hourglass', word: 'Timed out', more: ['Nobody answered in time, and the agent knows.'] }
    case 'resumed':
      if (instruction === null) return { mark: 'arrow_forward', word: 'Resumed' }
      return instruction === 'stop'
        ? { mark: 'octagonal_sign', word: 'Stop' }
        : { mark: 'arrow_forward', word: 'Resumed', text: { label: 'Instruction:', text: instruction } }
    default:
      return unreachable(status)
  }
}

function alertVerdict({ status, nudgeCount, decidedBy }: Alert, session: Pick<CardSession, 'status'>): Verdict | null {
  if (status === 'self_recovered') {
    return { mark: 'white_check_mark', word: recoveredWord(nudgeCount), more: ['The agent reports again.'] }
  }
  if (status !== 'dismissed') return null
  // Stopping the agent ends its alert in the same step.
  if (session.status === 'terminated') {
    return { mark: 'octagonal_sign', word: 'Closed', more: ['The session is terminated.'] }
  }
  return isPerson(decidedBy)
    ? { mark: 'no_bell', word: 'Dismissed' }
    : { mark: 'no_bell', word: 'Closed', more: ['The agent’s window is closed.'] }
}

/** An agent that was nudged has not come back by itself. */
const recoveredWord = (nudgeCount: number): string =>
  nudgeCount === 0 ? 'Recovered by itself' : `Recovered after ${nudgeCount === 1 ? 'a nudge' : `${nudgeCount} nudges`}`

/** What stands in `decidedBy` when no person decided. */
const NOBODY: readonly (string | null)[] = [null, 'timeout', 'policy', 'restart']
const isPerson = (by: string | null): by is string => !NOBODY.includes(by)

function byWhom({ decidedBy, decidedAt, decidedVia }: PersonRecord): (Inline | string)[] {
  const by =
    decidedBy === 'policy'
      ? [' by the workspace’s policy']
      : isPerson(decidedBy)
        ? [' by ', bold(shownName(decidedBy))]
        : []
  const at = decidedAt === null ? [] : [' · ', time(decidedAt)]
  const via =
    isPerson(decidedBy) && decidedVia !== null ? [` · ${WAYS[decidedVia] ?? `through ${shownName(decidedVia)}`}`] : []
  return [...by, ...at, ...via]
}

const WAYS: Readonly<Record<string, string>> = {
  slack: 'in Slack',
  http: 'over HTTP',
  ctl: 'at a terminal',
  console: 'in the console',
}

/** A prompt that nobody answered has the reason `timeout`, which the card says in its own words. */
const reasonOf = ({ reason, decidedBy }: PersonRecord): string | null =>
  reason === null || reason === '' || (decidedBy === 'timeout' && reason === 'timeout') ? null : reason
