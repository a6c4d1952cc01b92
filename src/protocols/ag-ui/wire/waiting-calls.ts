// Shows a call that waits for approval to a client that comes back. Some clients bind an interrupt only to a message that came as
// events, and ignore a message of the snapshot. So this message is sent as events, as it was the first time.

import { present } from '../../../domain/present.ts'
import type { RunEvent, RunEventOf } from '../../../domain/session/event.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import { interruptOf } from '../../../engine/run/run-end.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'

type Snapshot = RunEventOf<'MESSAGES_SNAPSHOT'>
type Message = Snapshot['messages'][number]

/**
 * The snapshot up to the message whose call waits, then that message and its results as events. Messages that have no events, or that
 * events would double, stay in the snapshot: a client appends to reasoning that it knows.
 */
export function withWaitingCalls(snapshot: Snapshot, outcome: Outcome): RunEvent[] {
  const waiting = new Set(outcome.type === 'interrupt' ? outcome.interrupts.map(({ toolCallId }) => toolCallId) : [])
  const first = snapshot.messages.findIndex(
    (message) => message.role === 'assistant' && message.toolCalls?.some(({ id }) => waiting.has(id)),
  )
  if (first < 0) return [snapshot]
  const kept: Message[] = []
  const told: RunEvent[] = []
  for (const [index, message] of snapshot.messages.entries()) {
    const events = index < first ? null : eventsOf(message, snapshot.timestamp)
    if (events === null) kept.push(message)
    else told.push(...events)
  }
  return [{ ...snapshot, messages: kept }, ...told]
}

function eventsOf(message: Message, timestamp: number | undefined): RunEvent[] | null {
  const shared = present({ subagentRunId: message.subagentRunId, timestamp })
  const metadata = present({ metadata: message.metadata })
  const { id: messageId } = message
  switch (message.role) {
    case 'assistant': {
      const { content = '', toolCalls = [] } = message
      const text: RunEvent[] = [
        { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...metadata, ...shared },
        { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: content, ...shared },
        { type: 'TEXT_MESSAGE_END', messageId, ...shared },
      ]
      return [...(content === '' ? [] : text), ...toolCalls.flatMap((call) => callEvents(call, messageId, shared))]
    }
    case 'tool': {
      const { toolCallId, content } = message
      return [{ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool', ...metadata, ...shared }]
    }
    case 'activity': {
      const { activityType, content } = message
      return [{ type: 'ACTIVITY_SNAPSHOT', messageId, activityType, content, ...metadata, ...shared }]
    }
    default:
      return null
  }
}

type Call = NonNullable<Extract<Message, { role: 'assistant' }>['toolCalls']>[number]

function callEvents(
  call: Call,
  parentMessageId: string,
  shared: { subagentRunId?: string; timestamp?: number },
): RunEvent[] {
  const { id: toolCallId, encryptedValue } = call
  const { name: toolCallName, arguments: delta } = call.function
  const args: RunEvent[] = delta === '' ? [] : [{ type: 'TOOL_CALL_ARGS', toolCallId, delta, ...shared }]
  const proof: RunEvent[] =
    encryptedValue === undefined
      ? []
      : [{ type: 'REASONING_ENCRYPTED_VALUE', subtype: 'tool-call', entityId: toolCallId, encryptedValue, ...shared }]
  return [
    { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId, ...shared },
    ...args,
    { type: 'TOOL_CALL_END', toolCallId, ...shared },
    ...proof,
  ]
}

export type Outcome = NonNullable<RunEventOf<'RUN_FINISHED'>['outcome']>

const MOST = 100

/** What a session waits for, as the outcome of a run, so that a client that comes back can show and answer it. */
export async function waitingOutcome(
  { engine, approvals }: { engine: Pick<Engine, 'waits'>; approvals: Pick<Approvals, 'list'> },
  { id, owner }: SessionRecord,
): Promise<Outcome> {
  const query = { by: { user: owner, role: 'anyone' }, sessionId: id, status: 'pending', limit: MOST } as const
  const pending = await approvals.list(query)
  if (pending.length > 0) {
    // Oldest first, as their run listed them.
    return { type: 'interrupt', interrupts: pending.toReversed().map((approval) => interruptOf(approval, null)) }
  }
  const calls = await engine.waits.openClientCalls(id)
  if (calls.length === 0) return { type: 'success' }
  return { type: 'success', pendingToolCallIds: calls.map(({ callId }) => callId).toReversed() }
}
