// A call that waits for approval, as the chat shows it. Tolerant, because the server may be newer than this program.

import type { Approval } from '../../../client/client.ts'
import { isRecord } from '../../../domain/is-record.ts'

export interface PendingApproval {
  id: string
  callId: string
  tool: string
  arguments: Approval['arguments']
  risk: string
  /** Who may answer: the owner of the session (with a token), or only an operator. */
  answerableBy: Approval['answerable_by']
  /** The server's text, shown if there is no tool. Of a question: the question, and what its answer may be. */
  message: string
  /** Digest of what is shown. */
  digest: string
  /** JSON Schema of the answer, if the tool of a call asks a question (`message`). Null: it is a call that waits to be allowed. */
  answerSchema: Record<string, unknown> | null
}

/** A person's answer. */
export interface ApprovalAnswer {
  id: string
  /** Digest of what the person was shown. */
  digest: string
  approved: boolean
  /** The result in the tool's place, or the answer to a question. */
  result?: unknown
  reason?: string
  /** Replace the model's arguments. */
  arguments?: Record<string, unknown>
  /** Also approve calls like this one in this session. */
  remember?: boolean
}

/** From an entry of RUN_FINISHED's `interrupts`. Null if it has no id. */
export function fromInterrupt(value: unknown): PendingApproval | null {
  const interrupt = fields(value)
  const facts = fields(fields(interrupt.metadata).quarterdeck)
  return pending({
    ...facts,
    id: interrupt.id,
    callId: interrupt.toolCallId,
    message: interrupt.message,
    answerSchema: interrupt.reason === 'input_required' ? fields(interrupt.responseSchema) : null,
  })
}

/** From an entry of GET /approvals. */
export const fromApproval = (one: Approval): PendingApproval => ({
  id: one.approval_id,
  callId: one.tool_call_id,
  tool: one.tool,
  arguments: one.arguments,
  risk: one.risk,
  answerableBy: one.answerable_by,
  message: one.question === null ? one.title : one.description,
  digest: one.digest,
  answerSchema: one.question?.schema ?? null,
})

function pending(facts: Record<string, unknown>): PendingApproval | null {
  const text = (key: string): string => (typeof facts[key] === 'string' ? facts[key] : '')
  if (text('id') === '') return null
  return {
    id: text('id'),
    callId: text('callId'),
    tool: text('tool'),
    arguments: fields(facts.arguments),
    risk: text('risk'),
    answerableBy: facts.answerableBy === 'owner' ? 'owner' : 'operator',
    message: text('message'),
    digest: text('digest'),
    answerSchema: isRecord(facts.answerSchema) ? fields(facts.answerSchema) : null,
  }
}

export const fields = (value: unknown): Record<string, unknown> => (isRecord(value) ? { ...value } : {})
