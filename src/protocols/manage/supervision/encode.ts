import { isoTime } from '../../../domain/clock.ts'
import { type Alert, nobodyWaitsSince, type Prompt, type Standby } from '../../../domain/records/record.ts'
import { wireStatus } from '../../../domain/records/record-kinds.ts'
import type { Checkpoint, Instruction } from '../../../domain/supervision.ts'
import type { Divergence, WorkspaceChange } from '../../../supervision/checkpoints/compare-workspace.ts'
import type { FileDiff } from '../../../supervision/checkpoints/file-diff.ts'
import type { WorkspaceEntry } from '../../../supervision/checkpoints/read-entry.ts'
import type { CheckpointChanges, CheckpointFileDiff, Checkpoint as WireCheckpoint } from './checkpoint-schema.ts'
import type * as wire from './schema.ts'

const time = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

const recordView = (record: Prompt | Standby | Alert) => ({
  session_id: record.sessionId,
  owner: record.owner,
  host: record.supervised.host,
  created_at: isoTime(record.createdAt),
  decided_at: time(record.decidedAt),
  decided_by: record.decidedBy,
  decided_channel: record.decidedVia,
  nobody_waits_since: time(nobodyWaitsSince(record)),
  message_refs: record.messageRefs,
})

export const promptView = (prompt: Prompt): Omit<wire.Prompt, 'view'> => ({
  prompt_id: prompt.id,
  ...recordView(prompt),
  status: prompt.status,
  prompt_text: prompt.promptText,
  prompt_type: prompt.promptType,
  elapsed_seconds: prompt.elapsedSeconds,
  actions_taken: prompt.actionsTaken,
  expires_at: time(prompt.expiresAt),
  decision: prompt.decision,
  instruction: prompt.instruction,
  reason: prompt.reason,
})

export const standbyView = (wait: Standby): Omit<wire.Standby, 'view'> => ({
  wait_id: wait.id,
  ...recordView(wait),
  status: wireStatus('standby', wait.status),
  message: wait.message,
  timeout_seconds: wait.timeoutSeconds,
  expires_at: time(wait.expiresAt),
  instruction: wait.instruction,
})

export const alertView = (alert: Alert): Omit<wire.Alert, 'view'> => ({
  alert_id: alert.id,
  ...recordView(alert),
  status: alert.status,
  last_tool: alert.lastTool,
  last_activity_at: isoTime(alert.lastActivityAt),
  idle_seconds: alert.idleSeconds,
  nudge_count: alert.nudgeCount,
  nudge_message: alert.nudgeMessage,
  last_nudge_at: time(alert.lastNudgeAt),
  nudged_by: alert.nudgedBy,
  progress_snapshot: alert.progressSnapshot,
})

export const instructionView = (one: Instruction): wire.Instruction => ({
  id: one.id,
  kind: one.kind,
  session_id: one.sessionId,
  text: one.text,
  source: one.source,
  created_at: isoTime(one.createdAt),
  delivered_at: time(one.deliveredAt),
})

export const checkpointView = (one: Checkpoint): WireCheckpoint => ({
  checkpoint_id: one.id,
  session_id: one.sessionId,
  owner: one.owner,
  label: one.label,
  workspace_root: one.workspaceRoot,
  files: one.files,
  bytes: one.bytes,
  has_contents: one.hasContents,
  session_state: {
    status: one.sessionState.status,
    mode: one.sessionState.mode,
    title: one.sessionState.title,
    last_tool: one.sessionState.lastTool,
  },
  progress_snapshot: one.progressSnapshot,
  created_at: isoTime(one.createdAt),
})

const bytesOf = (entry: WorkspaceEntry | null): number | null => (entry?.type === 'file' ? entry.bytes : null)

/** At most `shown` files. The counts are of all. */
export function changesView(
  { id }: Checkpoint,
  { modified, deleted, added, unknown }: Divergence,
  shown: number,
): CheckpointChanges {
  const view = (change: 'modified' | 'deleted' | 'added') => (one: WorkspaceChange) => ({
    path: one.path,
    change,
    bytes_then: bytesOf(one.checkpoint),
    bytes_now: bytesOf(one.present),
  })
  const files = [...modified.map(view('modified')), ...deleted.map(view('deleted')), ...added.map(view('added'))]
  return {
    checkpoint_id: id,
    counts: {
      modified: modified.length,
      deleted: deleted.length,
      added: added.length,
      unknown: unknown.length,
    },
    files: files.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, shown),
    unknown: unknown.slice(0, shown),
  }
}

export const fileDiffView = (one: FileDiff): CheckpointFileDiff => ({
  path: one.path,
  change: one.change,
  diff: one.diff,
  shown_diff: one.shownDiff,
  added_lines: one.addedLines,
  removed_lines: one.removedLines,
  why_not: one.whyNot,
})
