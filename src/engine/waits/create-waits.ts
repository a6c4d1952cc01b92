// Answers from outside the conversation, results of client tools, and waits that expire. An answer is one command that also takes
// the run it starts. The first to find its wait pending wins, in the store.

import { type Clock, createSteadyTime } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { type AnyRecord, type ClientCall, hasExpired, type WaitAnswer } from '../../domain/records/record.ts'
import type { NewMessage } from '../../domain/session/run.ts'
import { decisionRecord } from '../../domain/supervision/approval-audit.ts'
import type { AcceptRun } from '../accept-run.ts'
import type { EngineParts } from '../create-engine.ts'
import type { PreparedAnswer } from '../gate.ts'
import type { AcceptedRun } from '../ports/runs.ts'
import type { Waits } from '../ports/waits.ts'
import type { AgentParts } from '../run/run-scope.ts'
import type { Runner } from '../run/runner.ts'
import { type Answers, continuationOf } from './continuation.ts'
import { MOST_WAITS, type SyncedWaits } from './synced-waits.ts'

interface WaitsDeps extends Pick<EngineParts, 'store' | 'log' | 'clock' | 'ids' | 'agents'>, Pick<Runner, 'startNext'> {
  syncedWaits: SyncedWaits
  accept: AcceptRun
}

export function createWaits(deps: WaitsDeps): Waits {
  const { store, syncedWaits, log, ids, agents, accept } = deps
  const now = createAnswerTime(deps.clock, agents)

  async function continueAfter(
    wait: AnyRecord,
    answers: Answers,
    messages: NewMessage[],
    correlationId: string | undefined,
  ): Promise<AcceptedRun | null> {
    const parent = await store.runs.get(wait.runId)
    const session = await store.sessions.get(wait.sessionId)
    if (parent === null || session === null) return null
    const { owner, agent } = parent
    // The session took the first run's state when that run began, and tools may have changed it since.
    const { state: _taken, ...input } = parent.input
    const next = continuationOf(parent, { ...input, messages }, answers, agents)
    const request = { owner, agent, session: { existing: session }, input: next.input, correlationId }
    return accept({ ...request, origin: 'answer' }, next)
  }

  const answer = (wait: AnyRecord, prepared: PreparedAnswer, correlationId?: string): Promise<AcceptedRun | null> =>
    continueAfter(wait, { prepared: [prepared], results: [], at: prepared.answer.at }, [], correlationId)

  async function expire(wait: AnyRecord): Promise<void> {
    const at = now()
    const expired: WaitAnswer = { waitId: wait.id, at, by: 'timeout', outcome: { type: 'expired' } }
    if (wait.wait === 'client_call' && wait.onExpiry === 'complete') {
      await log.commit({ type: 'settle_waits', answers: [expired], now: at })
      await deps.startNext(wait.sessionId)
      return
    }
    const audit = wait.wait === 'approval' ? decisionRecord(wait, 'timeout', 'expired', at) : null
    await answer(wait, { answer: expired, grant: null, audit })
  }

  async function clientCall(owner: string, id: string): Promise<ClientCall> {
    const wait = await syncedWaits.get(id)
    if (wait?.wait === 'client_call' && wait.owner === owner) return wait
    throw new ServerError('tool_call_not_found', `There is no tool execution ${JSON.stringify(id)}.`)
  }

  return {
    now,
    answer,
    expire,
    clientCall,
    openClientCalls: (sessionId) =>
      syncedWaits.list({ sessionId, wait: 'client_call', status: 'pending', limit: MOST_WAITS }),

    async answerClientCall(owner, id, result, correlationId) {
      const call = await clientCall(owner, id)
      const at = now()
      if (call.status === 'pending' && hasExpired(call, at)) await expire(call)
      else if (call.status === 'pending') {
        const message = { id: ids.uuid(), toolCallId: call.callId, ...resultMessage(result) }
        const answers = { prepared: [], results: [call], at }
        const accepted = await continueAfter(call, answers, [message], correlationId)
        if (accepted?.answered?.[0]?.applied === true) return accepted.run
      }
      const { status } = await clientCall(owner, id)
      if (status === 'answered') {
        throw new ServerError('tool_call_answered', 'The result of this call has been received already.')
      }
      throw new ServerError(
        'tool_call_expired',
        'It is too late for the result of this call: the agent went on without it.',
      )
    },
  }
}

function resultMessage({ content, isError, durationMs }: Parameters<Waits['answerClientCall']>[2]) {
  const status = isError ? 'error' : 'success'
  return {
    role: 'tool' as const,
    content,
    metadata: { quarterdeck: { status, durationMs } },
    error: isError ? content : undefined,
  }
}

/** A wall clock that jumps ahead must not make an approval expire early. */
function createAnswerTime(clock: Clock, agents: ReadonlyMap<string, AgentParts>): () => number {
  const longestSeconds = Math.max(...[...agents.values()].map(({ definition }) => definition.approval.expiresSeconds))
  const steadyTime = createSteadyTime(clock, 1_000 * longestSeconds)
  return () => {
    const steady = steadyTime()
    // Steady time is exact to the second only. Without a jump the wall clock is more precise.
    return clock.now() - steady < 2_000 ? clock.now() : steady
  }
}
