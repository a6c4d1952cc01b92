// A person's answer to a record of any kind, from any surface. Who may answer, whether it is still open, and what comes of it is for the
// part that keeps the record.

import { ServerError } from '../../domain/errors.ts'
import type { PersonRecord, RecordOf } from '../../domain/records/record.ts'
import type { ActionName, PersonKind } from '../../domain/records/record-kinds.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { Prompts } from '../prompts/create-prompts.ts'
import type { Stalls } from '../stalls/stalls.ts'

export interface GivenAnswer {
  action: ActionName
  /** What the action takes: an instruction, the words of a nudge, a reason. */
  text?: string | undefined
  /** Why, if the action takes another text too. */
  reason?: string | undefined
  /** More about a decision on an approval: what was shown, what replaces it, what is remembered. */
  decision?: Omit<Decision, 'decision' | 'reason'>
}

/** What was answered, as it is now. `run` goes on after an approval of our own agent. */
interface Answered<R extends PersonRecord> {
  record: R
  run: RunRecord | null
}

interface AnswerDeps {
  approvals: Pick<Approvals, 'decide'>
  prompts: Pick<Prompts, 'decide' | 'resume'>
  stalls: Pick<Stalls, 'nudge' | 'dismiss' | 'stop'>
}

type Answer<R extends PersonRecord> = (
  by: Caller,
  id: string,
  given: GivenAnswer,
  correlationId?: string,
) => Promise<Answered<R>>

/** By kind. Throws what the part throws that keeps the record, and `invalid_request` for an action that the kind does not have. */
export type AnswerRecord = { [Kind in PersonKind]: Answer<RecordOf<Kind>> }

export function createAnswerRecord({ approvals, prompts, stalls }: AnswerDeps): AnswerRecord {
  return {
    approval: createAnswerApproval(approvals),

    async prompt(by, id, { action, text, reason }) {
      if (action !== 'continue' && action !== 'refine' && action !== 'stop') throw noSuchAction('prompt', action)
      const [instruction, why] = action === 'stop' ? [undefined, reason ?? text] : [text, reason]
      return { record: await prompts.decide(by, id, { decision: action, instruction, reason: why }), run: null }
    },

    async standby(by, id, { action, text }) {
      if (action !== 'resume' && action !== 'stop') throw noSuchAction('wait', action)
      const instruction = action === 'stop' ? 'stop' : (text ?? null)
      return { record: await prompts.resume(by, id, { instruction }), run: null }
    },

    async alert(by, id, { action, text }) {
      if (action === 'nudge') return { record: await stalls.nudge(by, id, text), run: null }
      if (action === 'dismiss') return { record: await stalls.dismiss(by, id), run: null }
      if (action === 'stop') return { record: await stalls.stop(by, id), run: null }
      throw noSuchAction('alert', action)
    },
  }
}

export const createAnswerApproval =
  (approvals: AnswerDeps['approvals']): AnswerRecord['approval'] =>
  async (by, id, { action, text, decision }, correlationId) => {
    const verdict = VERDICTS[action]
    if (verdict === undefined) throw noSuchAction('approval', action)
    const given = { ...decision, decision: verdict, reason: text }
    const { approval, run } = await approvals.decide(by, id, given, correlationId)
    return { record: approval, run }
  }

const VERDICTS: Partial<Record<ActionName, Decision['decision']>> = {
  approve: 'approve',
  edit: 'approve',
  reject: 'reject',
  answer: 'respond',
}

const noSuchAction = (kind: string, action: string): ServerError =>
  new ServerError('invalid_request', `${JSON.stringify(action)} is not an answer to this ${kind}.`)
