import type { Clock } from '../../domain/clock.ts'
import type { Logger } from '../../domain/logger.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { HostWork } from '../ports/host-work.ts'

interface LeftRunsDeps {
  /** By name. */
  agents: ReadonlyMap<string, unknown>
  hostWork: Pick<HostWork, 'isHeldElsewhere'>
  clock: Pick<Clock, 'mono'>
  logger: Logger
  isOnlyProcess: boolean
}

/** A server that has the agent looks every two seconds. One that is being replaced needs a while to come back. */
const LEFT_MS = 10 * 60_000

/**
 * Says whether a run is for another process to take, because this one does not have its agent: while servers are replaced, their agent
 * files differ. If no other process takes it for ten minutes, none has the agent, and the run may end here with that error.
 */
export function createLeftRuns({
  agents,
  hostWork,
  clock,
  logger,
  isOnlyProcess,
}: LeftRunsDeps): (run: Pick<RunRecord, 'id' | 'sessionId' | 'agent' | 'cancelRequested'>) => boolean {
  /** When each was seen first. Runs are seen in order, and so are forgotten the oldest first. */
  const since = new Map<string, number>()
  const told = new Set<string>()

  return ({ id, sessionId, agent, cancelRequested }) => {
    if (!isOnlyProcess && hostWork.isHeldElsewhere(sessionId)) return true
    // To end a run, nobody needs its agent.
    if (isOnlyProcess || agents.has(agent) || cancelRequested) return false
    const now = clock.mono()
    for (const [old, at] of since) {
      if (now - at < 2 * LEFT_MS) break
      since.delete(old)
    }
    const seenAt = since.get(id) ?? now
    since.set(id, seenAt)
    if (!told.has(agent)) {
      told.add(agent)
      logger.warn(
        'runs of this agent are left to other servers, because this one does not have it: give all servers the same agent files',
        { agent, run_id: id },
      )
    }
    return now - seenAt < LEFT_MS
  }
}
