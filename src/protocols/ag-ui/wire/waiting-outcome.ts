import type { RunEventOf } from '../../../domain/event.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import { interruptOf } from '../../../engine/run/run-end.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'

export type Outcome = NonNullable<RunEventOf<'RUN_FINISHED'>['outcome']>

const MOST = 100

/** What a session waits for, as the end of a run: a client that comes back must be able to show and answer it. */
export async function waitingOutcome(
  { engine, approvals }: { engine: Pick<Engine, 'waits'>; approvals: Pick<Approvals, 'list'> },
  { id, owner }: SessionRecord,
): Promise<Outcome> {
  const query = { by: { user: owner, role: 'anyone' }, sessionId: id, status: 'pending', limit: MOST } as const
  const pending = await approvals.list(query)
  if (pending.length > 0) {
    // As their run listed them: the oldest first.
    return { type: 'interrupt', interrupts: pending.toReversed().map((approval) => interruptOf(approval, null)) }
  }
  const calls = await engine.waits.openClientCalls(id)
  if (calls.length === 0) return { type: 'success' }
  return { type: 'success', pendingToolCallIds: calls.map(({ callId }) => callId).toReversed() }
}
