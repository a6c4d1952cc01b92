// AG-UI events, reduced to what a terminal shows. Tolerant, because the server may be newer than this program.

import type { Approval } from '../../../client/client.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { type ShownSource, SOURCES, sourceLines } from '../../../domain/session/source.ts'

export type ChatEvent =
  | { type: 'started'; runId: string }
  /** A sub-agent starts. Its later events name its `id` in `by`. */
  | { type: 'subagent'; id: string; name: string }
  | Said<{ type: 'text'; messageId: string; delta: string }>
  | Said<{ type: 'reasoning'; delta: string }>
  | Said<{ type: 'tool_call'; id: string; name: string }>
  | { type: 'tool_args'; id: string; delta: string }
  | Said<{ type: 'tool_result'; id: string; content: string }>
  | { type: 'progress'; text: string }
  /** What the message before it cites, one line each. */
  | { type: 'sources'; lines: string[] }
  /** The person's yes is one of several that are needed. */
  | { type: 'counted'; yeses: number; needed: number }
  | RunEnd

export type RunEnd =
  | { type: 'finished'; outcome: 'success' | 'cancelled' }
  | { type: 'finished'; outcome: 'interrupt'; approvals: PendingApproval[] }
  /** The run waits for tools that run at the client. */
  | { type: 'finished'; outcome: 'client_tools'; callIds: string[] }
  | { type: 'failed'; code: string; message: string }

/** `by`: the sub-agent that says it; the agent itself without it. */
type Said<Event> = Event & { by?: string }

/** Null for an event that a terminal does not show. */
export function decodeChatEvent(value: unknown): ChatEvent | null {
  const event = fields(value)
  const text = (key: string): string => textIn(event, key)
  const by = text('subagentRunId') === '' ? {} : { by: text('subagentRunId') }
  switch (event.type) {
    case 'RUN_STARTED':
      return { type: 'started', runId: text('runId') }
    case 'SUBAGENT_STARTED':
      return { type: 'subagent', id: text('subagentRunId'), name: text('name') }
    case 'TEXT_MESSAGE_CONTENT':
      return { type: 'text', messageId: text('messageId'), delta: text('delta'), ...by }
    case 'REASONING_MESSAGE_CONTENT':
      return { type: 'reasoning', delta: text('delta'), ...by }
    case 'TOOL_CALL_START':
      return { type: 'tool_call', id: text('toolCallId'), name: text('toolCallName'), ...by }
    case 'TOOL_CALL_ARGS':
      return { type: 'tool_args', id: text('toolCallId'), delta: text('delta') }
    case 'TOOL_CALL_RESULT':
      return { type: 'tool_result', id: text('toolCallId'), content: text('content'), ...by }
    case 'ACTIVITY_SNAPSHOT':
      return activity(event.activityType, fields(event.content))
    case 'RUN_FINISHED':
      return finished(fields(event.outcome))
    case 'RUN_ERROR':
      return { type: 'failed', code: text('code'), message: text('message') }
    default:
      return null
  }
}

function activity(type: unknown, content: Record<string, unknown>): ChatEvent | null {
  if (type === 'PROGRESS') return { type: 'progress', text: progressText(content) }
  if (type !== SOURCES) return null
  const sources = list(content.sources).map((one) => fields(one) as Partial<ShownSource>)
  return { type: 'sources', lines: sourceLines(sources, list(content.not_found)) }
}

export const endsRun = (event: ChatEvent): event is RunEnd => event.type === 'finished' || event.type === 'failed'

function finished(outcome: Record<string, unknown>): RunEnd {
  if (outcome.type === 'cancelled') return { type: 'finished', outcome: 'cancelled' }
  if (outcome.type === 'interrupt') {
    const approvals = list(outcome.interrupts).flatMap((one) => fromInterrupt(one) ?? [])
    return { type: 'finished', outcome: 'interrupt', approvals }
  }
  const callIds = list(outcome.pendingToolCallIds).filter((id) => typeof id === 'string')
  return callIds.length === 0
    ? { type: 'finished', outcome: 'success' }
    : { type: 'finished', outcome: 'client_tools', callIds }
}

/** `roll_dice 2/10 rolling` */
function progressText(content: Record<string, unknown>): string {
  const { done, total } = content
  const count = typeof total === 'number' ? `${done}/${total}` : `${done}`
  const parts = [textIn(content, 'tool'), typeof done === 'number' ? count : '', textIn(content, 'message')]
  return parts.filter((part) => part !== '').join(' ')
}

function textIn(event: Record<string, unknown>, key: string): string {
  const value = event[key]
  return typeof value === 'string' ? value : ''
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** A call that waits for approval. */
export interface PendingApproval extends Pick<Approval, 'tool' | 'arguments' | 'digest'> {
  id: string
  callId: string
  risk: string
  /** Who may answer: the owner of the session (with a token), or only an operator. */
  answerableBy: Approval['answerable_by']
  /** The server's text, shown if there is no tool. Of a question: the question, and what its answer may be. */
  message: string
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
function fromInterrupt(value: unknown): PendingApproval | null {
  const interrupt = fields(value)
  const facts = fields(fields(interrupt.metadata).quarterdeck)
  const id = textIn(interrupt, 'id')
  if (id === '') return null
  return {
    id,
    callId: textIn(interrupt, 'toolCallId'),
    tool: textIn(facts, 'tool'),
    arguments: fields(facts.arguments),
    risk: textIn(facts, 'risk'),
    answerableBy: facts.answerableBy === 'owner' ? 'owner' : 'operator',
    message: textIn(interrupt, 'message'),
    digest: textIn(facts, 'digest'),
    answerSchema: interrupt.reason === 'input_required' ? fields(interrupt.responseSchema) : null,
  }
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

export const fields = (value: unknown): Record<string, unknown> => (isRecord(value) ? { ...value } : {})
