import { isoTime } from '../../../domain/clock.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Supervision } from '../../../domain/supervision/supervision.ts'
import type * as wire from './schema.ts'

export function supervisionView(session: SessionRecord & { supervision: Supervision }): wire.Supervision {
  const { supervision } = session
  return {
    session_id: session.id,
    owner_user_id: session.owner,
    workspace_root: supervision.workspaceRoot,
    status: supervision.status,
    host: supervision.host,
    mode: supervision.mode,
    title: supervision.title,
    prompt: supervision.prompt,
    channel_id: supervision.channelId,
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(supervision.updatedAt),
    terminated_at: supervision.terminatedAt === null ? null : isoTime(supervision.terminatedAt),
    last_tool: supervision.lastTool,
    nudge_count: supervision.nudgeCount,
    stall_paused: supervision.stallPaused || supervision.turnEnded === true,
    stalls_enabled: supervision.stallsOff !== true,
    progress_snapshot: supervision.progressSnapshot,
    restored_from: supervision.restoredFrom,
    pid: supervision.spawned?.pid ?? null,
    crash: supervision.crash ?? null,
  }
}
