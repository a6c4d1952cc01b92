import type { SessionNow } from '../sessions/take-step.ts'

/** What every new record of an agent elsewhere begins with. */
export const newRecord = ({ session: { id: sessionId, owner, agent, supervision }, at }: SessionNow, id: string) => ({
  id,
  status: 'pending' as const,
  sessionId,
  owner,
  agent,
  createdAt: at,
  runId: supervision.openRun ?? supervision.lastRun ?? sessionId,
  lane: null,
  continuationRunId: null,
  messageRefs: {},
  decidedAt: null,
  decidedBy: null,
  decidedVia: null,
  reason: null,
})
