import { present } from '../../domain/present.ts'
import type { OpenLimits } from '../../domain/session/open-limits.ts'
import { newSupervision, type Supervision } from '../../domain/supervision/supervision.ts'
import type { SessionLog } from '../../log/session-log.ts'
import { logStep } from './step-log.ts'
import { about, isSupervisedSession, type SessionParts, type SupervisedSession } from './take-step.ts'

interface OpenDeps extends Pick<SessionParts, 'clock' | 'ids' | 'logger'> {
  log: Pick<SessionLog, 'commit'>
  maxOpen: OpenLimits
  /** See `Supervision.place`. */
  place: string | null
}

/** Opens a new session of an agent elsewhere. Throws `limit` when too many are open. */
export type OpenSession = (
  owner: string,
  values: Partial<Supervision> & Pick<Supervision, 'workspaceRoot' | 'host' | 'tokenId'>,
  /** By default a new one. */
  id?: string,
  /** `unlisted`: lists do not show it. `agent`: the name of an agent of ours; left out: that of its host. */
  how?: { unlisted: boolean; agent?: string },
) => Promise<SupervisedSession>

export function createOpenSession({ log, clock, ids, logger, maxOpen, place }: OpenDeps): OpenSession {
  return async (owner, values, id = ids.uuid(), how = { unlisted: false }) => {
    const at = clock.now()
    const supervision: Supervision = present({
      ...newSupervision,
      place: place ?? undefined,
      ...values,
      updatedAt: at,
    })
    const session: SupervisedSession = {
      id,
      owner,
      agent: how.agent ?? supervision.host,
      activeAgent: null,
      status: 'active',
      createdAt: at,
      lastActivity: at,
      terminatedAt: null,
      lastTool: null,
      metadata: {},
      alias: null,
      messageCount: 0,
      state: undefined,
      unlisted: how.unlisted,
      supervision,
    }
    const audit = [about(session, at, owner, { what: 'opened', workspace: supervision.workspaceRoot })]
    const done = await log.commit({
      type: 'supervise',
      sessionId: session.id,
      now: at,
      create: session,
      maxOpen,
      audit,
    })
    const opened = isSupervisedSession(done.session) ? done.session : session
    logStep(logger, null, opened, { audit })
    return opened
  }
}
