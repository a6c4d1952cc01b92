// A call that waits for approval, as the chat shows it. Tolerant, because the server may be newer than this program.

import { isRecord } from '../../../domain/is-record.ts'

export interface PendingApproval {
  id: string
  callId: string
  tool: string
  arguments: Record<string, unknown>
  risk: string
  /** Who may answer: the owner of the session (with a token), or only an operator. */
  answerableBy: 'owner' | 'operator'
  /** The server's text, shown if there is no tool. */
  message: string
  /** Digest of what is shown. */
  digest: string
}

/** A person's answer. */
export interface ApprovalAnswer {
  id: string
  /** Digest of what the person was shown. */
  digest: string
  approved: boolean
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
  return pending({ ...facts, id: interrupt.id, callId: interrupt.toolCallId, message: interrupt.message })
}

/** From an entry of GET /approvals. Null if it has no id. */
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
