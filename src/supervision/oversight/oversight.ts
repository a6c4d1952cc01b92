// Operators may read and cancel sessions and runs that they do not own. The audit trail says who did.

import type { Clock } from '../../domain/clock.ts'
import { hasCode, runNotFound, ServerError } from '../../domain/errors.ts'
import { parseUuid } from '../../domain/ids.ts'
import { isFinished, type RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { Engine } from '../../engine/engine.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Store } from '../../store/store.ts'
import { createAuditOnce } from './audit-trail.ts'

/** Who looks, and whose sessions are their own. */
export interface Viewer {
  by: Caller
  owner: string
}

export interface Oversight {
  /**
   * The session that a viewer may read: one of their own, by id or alias, or, for an operator, anybody's, by id. An operator who
   * reads somebody else's session is put on record first, once an hour for each session. Throws like `Sessions.get`.
   */
  session(viewer: Viewer, reference: string): Promise<SessionRecord>
  /** The same for somebody else's session; null when the viewer may read none of this id. */
  foreignSession(viewer: Viewer, reference: string): Promise<SessionRecord | null>
  /** The same for a run: one of the viewer's own, by our id or their client's, or anybody's by our id. Throws `run_not_found`. */
  run(viewer: Viewer, reference: string): Promise<RunRecord>
  /** Asks a run that `run` gave to stop. Puts an operator on record who stops somebody else's. A finished run stays as it is. */
  cancel(viewer: Viewer, run: RunRecord): Promise<RunRecord>
  /** Puts an operator on record who lists, or changes, what belongs to this owner, or to all (`*`). Throws `forbidden` for anybody else. */
  listing(viewer: Viewer, owner: string): Promise<void>
}

interface OversightDeps {
  engine: Pick<Engine, 'sessions' | 'runs'>
  store: Pick<Store, 'sessions' | 'runs'>
  log: Pick<SessionLog, 'commit' | 'synced'>
  clock: Pick<Clock, 'now'>
}

const HOUR_MS = 60 * 60 * 1000

export function createOversight({ engine, store, log, clock }: OversightDeps): Oversight {
  const auditOnce = createAuditOnce(log)

  /** Once an hour for each operator and subject. */
  async function recordOnce(
    by: Caller,
    kind: Extract<AuditRecord['kind'], 'operator_read' | 'operator_list' | 'operator_cancel'>,
    subject: Pick<AuditRecord, 'session' | 'run' | 'agent'>,
    details: AuditRecord['details'],
  ): Promise<void> {
    const at = clock.now()
    const what = kind === 'operator_read' ? { session: subject.session } : { ...subject, ...details }
    const key = JSON.stringify([by.user, kind, what, Math.floor(at / HOUR_MS)])
    await auditOnce(key, { at, kind, by: by.user, ...subject, tool: '', call: null, details })
  }

  const recordRead = ({ by }: Viewer, { id, owner, agent }: Pick<SessionRecord, 'id' | 'owner' | 'agent'>) =>
    recordOnce(by, 'operator_read', { session: id, run: null, agent }, { owner })

  async function foreignSession(viewer: Viewer, reference: string): Promise<SessionRecord | null> {
    const id = viewer.by.role === 'operator' ? parseUuid(reference) : null
    const session = id === null ? null : await store.sessions.get(id)
    if (session === null || session.owner === viewer.owner || session.status === 'terminated') return null
    await recordRead(viewer, session)
    return session
  }

  return {
    foreignSession,

    async session(viewer, reference) {
      return (await foreignSession(viewer, reference)) ?? engine.sessions.get(viewer.owner, reference)
    },

    async run(viewer, reference) {
      const own = await engine.runs.get(viewer.owner, reference).catch((error: unknown) => {
        if (hasCode(error, 'run_not_found')) return null
        throw error
      })
      if (own !== null) return own
      const id = viewer.by.role === 'operator' ? parseUuid(reference) : null
      const run = id === null ? null : await store.runs.get(id)
      if (run === null) throw runNotFound(reference)
      await recordRead(viewer, { ...run, id: run.sessionId })
      if (isFinished(run.status)) await log.synced(run.sessionId)
      return run
    },

    async cancel({ by, owner }, run) {
      if (run.owner === owner) return engine.runs.cancel(run, owner)
      if (!isFinished(run.status)) {
        const subject = { session: run.sessionId, run: run.id, agent: run.agent }
        await recordOnce(by, 'operator_cancel', subject, { owner: run.owner })
      }
      return engine.runs.cancel(run, by.user)
    },

    async listing({ by }, owner) {
      if (by.role !== 'operator') {
        throw new ServerError('forbidden', 'Only an operator may see what belongs to others. Leave owner out.')
      }
      await recordOnce(by, 'operator_list', { session: null, run: null, agent: '' }, { owner })
    },
  }
}
