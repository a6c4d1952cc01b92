// Writes are data: each command names its session and fence, and the store answers each with a result.

import type { ServerError } from '../../domain/errors.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { AddAudit, ImportAudit } from './audit.ts'
import type { AddFile } from './files.ts'
import type { OutboxCommand } from './outbox.ts'
import type { RunCommand } from './runs.ts'
import type { ImportCommand, SessionCommand } from './sessions.ts'
import type { Supervise } from './supervised.ts'
import type { AddUsage } from './usage.ts'
import type { Answered, WaitCommand } from './waits.ts'

export type Command =
  | RunCommand
  | WaitCommand
  | Supervise
  | SessionCommand
  | ImportCommand
  | AddFile
  | AddAudit
  | ImportAudit
  | AddUsage
  | OutboxCommand

export type Result =
  | {
      ok: true
      /** Seq of the first entry that was appended, 0 if none was. The others follow without a gap. */
      firstSeq: number
      run?: RunRecord
      session?: SessionRecord
      /** `accept_run` only: the run was there already (found by its idempotency key, wire id or answers), so no new one was made. */
      existing?: boolean
      /** One per answer, in order. */
      answered?: readonly Answered[]
      /** The waiting run that this command completed, because an answer came or its client calls were abandoned. */
      completed?: RunRecord | undefined
      /** `purge_sessions` only. */
      count?: number
    }
  | { ok: false; error: ServerError }

export type Done = Extract<Result, { ok: true }>

/** Whether the command belongs to the synced class: it must be on disk before it is acknowledged. */
export function needsSync(command: Command): boolean {
  switch (command.type) {
    case 'append':
      return command.sync || command.consume !== undefined || command.waits !== undefined || command.audit !== undefined
    case 'update_session':
      return command.entries !== undefined
    case 'compact_session':
    case 'renew_lease':
      return false
    default:
      return true
  }
}
