// What became of an approval.

import type { Approval } from '../../../domain/records/record.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import type { RecordFact } from '../record-view.ts'
import { fact } from '../record-words.ts'
import { interrupted, isPerson, type Verdict } from './kind-words.ts'

/** Enough to compare with what `sha256sum` prints. */
const HASH_CHARS = 16

export function approvalVerdict(approval: Approval): Verdict | null {
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
