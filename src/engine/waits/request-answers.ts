// The answers that a request brings: decisions, and results of client calls among its messages.

import { ServerError } from '../../domain/errors.ts'
import { hasExpired } from '../../domain/records/record.ts'
import type { NewMessage } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { EngineParts } from '../create-engine.ts'
import type { Decided } from '../gate.ts'
import { refusal } from '../loop/prepare-call.ts'
import type { StartRequest } from '../ports/runs.ts'
import type { Waits } from '../ports/waits.ts'
import { type Continuation, continuationOf, isUserMessage } from './continuation.ts'
import { MOST_WAITS, type SyncedWaits } from './synced-waits.ts'

export interface RequestAnswersDeps extends Pick<EngineParts, 'store' | 'ids' | 'gate' | 'agents'> {
  syncedWaits: SyncedWaits
  waits: Pick<Waits, 'now' | 'expire'>
}

/** Null: the request answers nothing. */
export async function answersOf(
  deps: RequestAnswersDeps,
  request: StartRequest,
  session: SessionRecord,
): Promise<Continuation | null> {
  const { store, syncedWaits, ids, agents, waits } = deps
  const { messages } = request.input
  const results = messages.filter((message) => message.role === 'tool')
  if (results.length === 0 && (request.decisions?.answers ?? []).length === 0) return null
  const at = waits.now()
  const talks = messages.some(isUserMessage)
  const decided = await decisionsOf(deps, request, session.id, talks, at)
  // Answered calls too: whoever sends a result again is shown what came of it.
  const calls =
    results.length === 0
      ? []
      : await syncedWaits.list({ sessionId: session.id, wait: 'client_call', limit: MOST_WAITS })
  const answered = results.flatMap(({ toolCallId }) => calls.find((call) => call.callId === toolCallId) ?? [])
  if (answered.length === 0 && decided.length === 0) return null
  if (talks) await refuseWhilePending(syncedWaits, session.id, decided)
  const parentId = decided[0]?.approval.runId ?? answered[0]?.runId
  const parent = parentId === undefined ? null : await store.runs.get(parentId)
  const isEdit = request.input.regenerateAfter !== undefined
  const rejected = talks && !isEdit ? decided.flatMap((one) => rejectedResult(one, ids.uuid())) : []
  return continuationOf(
    parent,
    { ...request.input, messages: [...rejected, ...messages] },
    { prepared: decided, results: answered, at },
    agents,
  )
}

async function decisionsOf(
  { gate, waits }: RequestAnswersDeps,
  request: StartRequest,
  sessionId: string,
  talks: boolean,
  at: number,
): Promise<Decided[]> {
  const { by = { user: request.owner, role: 'anyone' as const }, answers = [] } = request.decisions ?? {}
  // An approved call runs before the model answers a new message, so both cannot be one step.
  if (talks && answers.some(({ decision }) => decision !== 'reject')) {
    throw new ServerError(
      'invalid_request',
      'A new message can come with a refusal, not with an approval or an answer. Answer first, then send the message.',
    )
  }
  if (answers.length === 0) return []
  const decided = await gate.decide({ by, sessionId, decisions: answers, at })
  for (const { approval } of decided) {
    if (approval.status === 'pending' && hasExpired(approval, at)) await waits.expire(approval)
  }
  return decided
}

/** A new message would cancel a pending approval, so it waits until someone has answered all of them. */
async function refuseWhilePending(
  syncedWaits: SyncedWaits,
  sessionId: string,
  decided: readonly Decided[],
): Promise<void> {
  const pending = await syncedWaits.list({ sessionId, wait: 'approval', status: 'pending', limit: MOST_WAITS })
  const unanswered = pending.find(({ id }) => decided.every(({ answer }) => answer.waitId !== id))
  if (unanswered === undefined) return
  throw new ServerError(
    'approval_pending',
    'The session waits for a decision. Send this again when it has been made.',
    {
      details: { run_id: unanswered.runId },
    },
  )
}

/**
 * The result of a call that was rejected together with a new message. The run that follows answers the new message and does not
 * come back to the call.
 */
function rejectedResult({ approval, answer }: Decided, id: string): NewMessage[] {
  if (approval.status !== 'pending' || answer.outcome.type !== 'rejected') return []
  const content = refusal({ kind: approval.kind, status: 'rejected', reason: answer.outcome.reason })
  const lane = approval.lane ?? undefined
  const metadata = { quarterdeck: { status: 'error' } }
  return [{ id, role: 'tool', content, toolCallId: approval.callId, error: content, metadata, lane }]
}
