// A call that waits for a person's yes or no, as the chat shows it. Tolerant: the server may be newer than this program.

import { isRecord } from '../../../domain/is-record.ts'

export interface PendingApproval {
  id: string
  callId: string
  tool: string
  arguments: Record<string, unknown>
  risk: string
  /** Whose answer counts: that of whoever talks with a token, or an operator's alone. */
  answerableBy: 'owner' | 'operator'
  /** The server's own words, for what has no tool. */
  message: string
  /** Of what is shown; empty: the server gave none. */
  digest: string
}

/** A person's answer. */
export interface ApprovalAnswer {
  id: string
  /** Of what the person was shown; empty: the server gave none. */
  digest: string
  approved: boolean
  reason?: string
  /** They replace the model's. */
  arguments?: Record<string, unknown>
  /** A yes for calls like this one, in this session. */
  remember?: boolean
}

/** An entry of RUN_FINISHED's `interrupts`; null when it has no id to answer to. */
export function fromInterrupt(value: unknown): PendingApproval | null {
  const interrupt = fields(value)
  const facts = fields(fields(interrupt.metadata).quarterdeck)
  return pending({ ...facts, id: interrupt.id, callId: interrupt.toolCallId, message: interrupt.message })
}

/** An entry of GET /approvals. */
export function fromApproval(value: unknown): PendingApproval | null {
  const view = fields(value)
  return pending({
    ...view,
    id: view.approval_id,
    callId: view.tool_call_id,
    answerableBy: view.answerable_by,
    message: view.title,
  })
}

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
  }
}

export const fields = (value: unknown): Record<string, unknown> => (isRecord(value) ? { ...value } : {})
