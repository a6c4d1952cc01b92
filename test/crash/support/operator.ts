// An operator at the HTTP door, and what can be seen of a run that waits for one.

import { type Frame, isTerminal, record } from './sse-recorder.ts'

export const OPERATOR_TOKEN = 'an-operator-token-for-the-crash-tests'
export const operatorEnv = { QUARTERDECK_OPERATOR_TOKEN: OPERATOR_TOKEN }

const headers = { Authorization: `Bearer ${OPERATOR_TOKEN}` }

export interface ShownApproval {
  approval_id: string
  status: string
  tool: string
  tool_call_id: string
  arguments: Record<string, unknown>
  run_id: string
  session_id: string
  continuation_run_id: string | null
  decided_by: string | null
}

export interface Answer {
  /** Null: no answer came. */
  status: number | null
  body: Record<string, unknown>
}

export async function decide(url: string, id: string, decision: 'approve' | 'reject'): Promise<Answer> {
  const { status, body, complete } = await record({
    url: `${url}/approvals/${id}`,
    method: 'POST',
    headers,
    body: { decision, reason: `${decision}, for a test` },
  }).done
  return complete ? { status, body: JSON.parse(body || '{}') } : { status: null, body: {} }
}

/** Answers a question of a tool. */
export async function respond(url: string, id: string, result: unknown): Promise<number | null> {
  const body = { decision: 'respond', result }
  return (await record({ url: `${url}/approvals/${id}`, method: 'POST', headers, body }).done).status
}

export async function approvals(url: string): Promise<ShownApproval[]> {
  const { body } = await record({ url: `${url}/approvals?status=all&limit=100`, headers }).done
  return JSON.parse(body).approvals
}

export async function approval(url: string, id: string): Promise<ShownApproval> {
  const { body } = await record({ url: `${url}/approvals/${id}`, headers }).done
  return JSON.parse(body)
}

/** The events of a run, to its end. */
export async function eventsOf(url: string, runId: string): Promise<Frame[]> {
  const { frames, status, body } = await record({ url: `${url}/runs/${runId}/events` }).done
  if (status !== 200) throw new Error(`the events of run ${runId}: ${status} ${body}`)
  return frames
}

/** How a run ended on the wire: an outcome, or the code and the message of its error. */
export function endOf(frames: readonly Frame[]): { outcome?: string; code?: string; message?: string } {
  const last = frames.findLast(isTerminal)
  if (last === undefined) return {}
  const { outcome, code, message } = JSON.parse(last.data)
  return outcome === undefined ? { code, message } : { outcome: outcome.type }
}
