// What the parts of a hosted agent’s run share: the run, the program, what was decided, and what the program is still to hear.

import type { AnyRecord, HostApproval } from '../../domain/records/record.ts'
import { aboutCall } from '../../domain/supervision/approval-audit.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { LoopEnd } from '../../engine/loop/agent-loop.ts'
import type { HostParts, Lane, Pending } from '../../engine/run/run-scope.ts'
import type { Store } from '../../store/store.ts'
import type { JudgeWork } from '../agent-service/judge-work.ts'
import type { ChangeWriter } from '../diffs/change-writer.ts'
import type { TakeStep } from '../sessions/take-step.ts'
import type { Asking } from './ask-permission.ts'
import type { Held } from './held-talks.ts'
import type { Teller } from './teller.ts'

export interface WorkDeps extends Asking {
  store: Pick<Store, 'waits' | 'supervised' | 'sessions' | 'messages'>
  takeStep: TakeStep
  judge: JudgeWork
  writer: ChangeWriter
  /** See `createServerPlaces`. */
  serverPaths: readonly string[]
  /** Resolves after so many ms, or when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

export interface Working {
  deps: WorkDeps
  lane: Lane<HostParts>
  held: Held
  teller: Teller
  /** What people have decided, and the program has not heard yet. */
  decided: Decided[]
  /** What the program hears with its next prompt. */
  after: string[]
  /** The nudges that it has heard. */
  nudges: Set<string>
  /** What operators sent and the last prompt says. `isDue`: nothing shows yet that the program has heard it. */
  handed: { isDue: boolean; instructions: readonly string[]; nudge: string | null }
}

export interface Decided {
  approval: HostApproval
  isUsed: boolean
}

/** Its operator lets it begin nothing new. What it asks now is refused; what was decided counts. */
export const isPaused = async ({ deps, held }: Working): Promise<boolean> =>
  (await deps.store.sessions.get(held.session.id))?.supervision?.status === 'paused'

export const pendingOf = (wait: AnyRecord, isNew: boolean): Pending => ({ wait, isNew, subagentRunId: null })

export const placeOf = ({ deps, held }: Working) => ({
  workspaceRoot: held.session.supervision.workspaceRoot,
  serverPaths: deps.serverPaths,
})

export async function keepNotes({ deps, held, after }: Working): Promise<void> {
  const notes = after.splice(0)
  await deps.takeStep(held.session.id, ({ session: { supervision } }) => ({
    supervision: { hosted: { acpSession: supervision.hosted?.acpSession ?? null, notes } },
  }))
}

/** From here on the approval is used, whatever happens. Throws `conflict` if it cannot be any more. */
export async function use({ writer, scope: { run } }: Lane<HostParts>, approval: HostApproval): Promise<void> {
  const at = writer.timestamp()
  await writer.commit({
    consume: [{ waitId: approval.id, digest: approval.digest, at }],
    audit: [trail(approval, run.id, 'call_started', at, { digest: approval.digest })],
  })
}

export const trail = (
  approval: HostApproval,
  run: string,
  kind: 'call_started' | 'call_finished',
  at: number,
  details: AuditRecord['details'],
): AuditRecord => ({
  at,
  kind,
  by: approval.agent,
  ...aboutCall(approval),
  run,
  details: { approval: approval.id, ...details },
})

/** Everything that was said so far is stored before the run waits. */
export async function waitFor(working: Working, pending: Pending[]): Promise<LoopEnd> {
  const { lane, teller, after } = working
  await teller.close()
  if (after.length > 0) await keepNotes(working)
  return { type: 'waiting', pending, agent: lane.agent }
}
