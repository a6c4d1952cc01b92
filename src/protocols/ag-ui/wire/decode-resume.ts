// Decodes `resume` of a RunAgentInput into decisions. Pure. Only `true` approves.

import type { Decision } from '../../../domain/decision.ts'
import { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { isLonger } from '../../shared/request/message-limits.ts'
import { dropNulls } from './lenient-input.ts'

interface ResumeEntry {
  interruptId: string
  status: 'resolved' | 'cancelled'
  payload?: unknown
}

export type Answer = Decision & { waitId: string }

const MAX_REASON = 2_000
const MAX_ANSWERS = 200

export function decodeResume(entries: readonly ResumeEntry[]): Answer[] {
  if (entries.length > MAX_ANSWERS) throw invalid('/resume', `A request answers at most ${MAX_ANSWERS} interrupts.`)
  return entries.map((entry, index) => ({
    waitId: entry.interruptId,
    ...decisionIn(entry, `/resume/${index}/payload`),
  }))
}

function decisionIn({ status, payload }: ResumeEntry, pointer: string): Decision {
  const said = isRecord(payload) ? dropNulls(payload) : {}
  const reason = typeof said.reason === 'string' ? { reason: said.reason } : {}
  if (isLonger(reason.reason ?? '', MAX_REASON)) {
    throw invalid(`${pointer}/reason`, `A reason has at most ${MAX_REASON.toLocaleString('en')} characters.`)
  }
  const digest = typeof said.digest === 'string' ? { digest: said.digest } : {}
  if (status === 'cancelled') return { decision: 'reject', ...reason, ...digest }
  const approved = typeof payload === 'boolean' ? payload : said.approved
  if (approved === false) return { decision: 'reject', ...reason, ...digest }
  if (approved !== true) {
    throw invalid(pointer, 'Answer with {"approved": true} or {"approved": false, "reason": "…"}.')
  }
  if (said.editedArgs === undefined) return { decision: 'approve', ...reason, ...digest }
  if (!isRecord(said.editedArgs)) throw invalid(`${pointer}/editedArgs`, 'Edited arguments are an object.')
  return { decision: 'approve', ...reason, ...digest, arguments: said.editedArgs }
}

const invalid = (pointer: string, detail: string): ServerError =>
  new ServerError('invalid_request', 'The body is not a valid RunAgentInput.', { problems: [{ pointer, detail }] })
