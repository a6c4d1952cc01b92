// A question of a tool that cannot be suspended: the call waits, with its connection, while the run executes. The record is the same
// as any question's. If the process dies, nobody waits for the answer any more, and recovery interrupts the record.

import type { QuestionAnswer, ToolQuestion } from '../../domain/agent/question.ts'
import { sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import { askedRecord } from '../../domain/supervision/approval-audit.ts'
import { logWaits } from '../run/run-log.ts'
import type { AgentParts, Lane, RunScope } from '../run/run-scope.ts'
import { gatedCall, questionAnswer, type RunnableCall } from './prepare-call.ts'

/** The answer may come through another process, so the store is asked. */
const LOOK_EVERY_MS = 250

/** Throws when the signal aborts, or when the question was interrupted. */
export async function holdQuestion(
  scope: RunScope,
  lane: Lane,
  agent: AgentParts,
  prepared: RunnableCall,
  question: ToolQuestion,
  signal: AbortSignal,
): Promise<QuestionAnswer> {
  signal.throwIfAborted()
  const { gate, store, clock, log } = scope
  const held = { ...question, index: 0, effect: prepared.tool.effect, held: true } as const
  const wait = gate.question(gatedCall(scope, lane, agent, prepared), held)
  show(lane, wait, 'pending')
  await lane.pen.commit({ waits: [wait], audit: [askedRecord(wait)] })
  logWaits(log, agent.definition.name, [{ wait, isNew: true, subagentRunId: lane.subagentRunId }])
  for (;;) {
    await sleep(clock, LOOK_EVERY_MS, signal)
    const now = await store.waits.get(wait.id)
    if (now?.wait === 'approval' && now.status !== 'pending') {
      const answer = questionAnswer(now)
      if (answer === null) throw new ServerError('tool_failed', 'The question of this tool was broken off.')
      show(lane, wait, now.status)
      return answer
    }
    if (signal.aborted || now === null) {
      await interrupt(scope, wait)
      signal.throwIfAborted()
      throw new ServerError('tool_failed', 'The question of this tool was broken off.')
    }
  }
}

/** Somebody may have answered just now; then nothing changes. */
async function interrupt({ settle, clock, log }: RunScope, { id }: Approval): Promise<void> {
  try {
    await settle([{ waitId: id, at: clock.now(), by: 'the end of the call', outcome: { type: 'interrupted' } }])
  } catch (error) {
    log.warn('a question that nobody waits for could not be closed; it ends with its run', { approval_id: id, error })
  }
}

/** The run goes on, so its stream has no interrupt. This tells clients that somebody is asked. */
function show({ pen }: Lane, { id, callId, question, expiresAt }: Approval, status: string): void {
  pen.emit({
    type: 'ACTIVITY_SNAPSHOT',
    messageId: `${callId}_${id}`,
    activityType: 'QUESTION',
    content: { approvalId: id, status, message: question?.message, schema: question?.schema, expiresAt },
    timestamp: pen.timestamp(),
  })
}
