import { isoTime } from '../../../domain/clock.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Supervision } from '../../../domain/supervision/supervision.ts'
import { sameFields } from '../same-fields.ts'
import type * as wire from './schema.ts'
import { SupervisionSchema } from './schema.ts'

const sameOfSupervision = sameFields<Supervision, typeof SupervisionSchema.shape>(SupervisionSchema.shape)
export function supervisionView(session: SessionRecord & { supervision: Supervision }): wire.Supervision {
  const { supervision } = session
  return {
    ...sameOfSupervision(supervision),
    session_id: session.id,
    owner_user_id: session.owner,
    created_at: isoTime(session.createdAt),
    stall_paused: supervision.stallPaused || supervision.turnEnded === true,
    stalls_enabled: supervision.stallsOff !== true,
    progress_snapshot: supervision.progressSnapshot,
    pid: supervision.spawned?.pid ?? null,
    crash: supervision.crash ?? null,
  }
}
