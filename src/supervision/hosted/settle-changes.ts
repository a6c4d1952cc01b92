// The changes of a hosted agent: shown, asked about as one approval, and written once when a person or a policy has said yes.

import { hasCode, ServerError } from '../../domain/errors.ts'
import { type HostApproval, isHostApproval } from '../../domain/records/record.ts'
import type { StoredMessage, ToolCall } from '../../domain/session/message.ts'
import type { LoopEnd } from '../../engine/loop/agent-loop.ts'
import { commitResult, openCalls } from '../../engine/loop/call-records.ts'
import { applyChangeSet, finishChangeSet } from '../worktrees/apply-change-set.ts'
import type { ChangeSet } from '../worktrees/change-set.ts'
import { APPLY, approvedSet, changesApproval, isAutoApproved, newChangesCall } from './ask-changes.ts'
import { refusalOf } from './ask-permission.ts'
import { isPaused, keepNotes, pendingOf, placeOf, trail, use, type Working, waitFor } from './working.ts'

/** What became of changes that a person has decided about. Null: nothing was decided. */
export async function settleChanges(working: Working): Promise<'done' | 'asked again' | null> {
  const { decided, held, after, deps } = working
  // A program that writes through us hears a no when it asks for the same file again.
  const one = decided.find(
    ({ approval: { kind, status }, isUsed }) =>
      !isUsed && kind === 'changes' && (held.place.isPrivateCopy || status === 'approved' || status === 'consumed'),
  )
  if (one === undefined) return null
  one.isUsed = true
  const { approval } = one
  const { status, reason, supervised } = approval
  if (status === 'consumed' && (typeof supervised.appliedAt === 'number' || supervised.notApplied !== undefined)) {
    // Another process wrote it, and ended before it could say so.
    const content = supervised.notApplied ?? 'Written.'
    await finishWith(working, approval.callId, { content, isError: supervised.notApplied !== undefined })
    return 'done'
  }
  if (status !== 'approved' && status !== 'consumed') {
    await finishWith(working, approval.callId, { content: refusalOf(approval), isError: true })
    if (status === 'rejected' && reason !== null && reason !== '') {
      after.push(
        `Your operator did not accept your changes. Their reason: ${reason}\nYour working copy is as you left it: change it so that it fits.`,
      )
    }
    return 'done'
  }
  try {
    const { set, choices } = await approvedSet(deps.store, approval, placeOf(working))
    const applied = await applyNow(working, set, approval)
    if (choices.discard.length > 0) await held.discard(choices.discard)
    await finishChanges(working, approval.callId, applied)
    if (Object.keys(choices.edit).length > 0) {
      after.push(
        `Your operator changed your text before it was written, in: ${Object.keys(choices.edit).join(', ')}. Your working copy has the new text.`,
      )
      // The agent hears of it with the next message: what it was asked for is done.
      await keepNotes(working)
    }
    return 'done'
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    await finishWith(working, approval.callId, { content: error.message, isError: true })
    // Somebody changed a file meanwhile: what the agent did is compared with it anew.
    return hasCode(error, 'patch_conflict', 'invalid_diff') ? 'asked again' : 'done'
  }
}

/** Asks about all that the agent has changed, or writes it where a policy says so. Null: it is written. */
export async function proposeChanges(working: Working, set: ChangeSet): Promise<LoopEnd | null> {
  const { deps, lane, held, decided } = working
  // The agent has left what a person has just refused as it is: nobody is asked the same twice in a row.
  const isRefused = decided.some(
    ({ approval: { status, supervised } }) => status === 'rejected' && supervised.contentKey === set.digest,
  )
  if (set.changes.length === 0 || isRefused) return null
  const callId = showChanges(working, set)
  if (!(await isPaused(working)) && (await isAutoApproved(deps, held.session, set))) {
    const applied = await applyNow(working, set, null)
    await finishChanges(working, callId, applied)
    return null
  }
  // What it said stands before what it asks.
  await working.teller.close()
  const approval = await changesApproval(deps, held.session, held.place, lane.scope.run.id, callId, set)
  return waitFor(working, [pendingOf(approval, true)])
}

/** The change stands in the transcript as a call of the agent, so that every door can show it. Returns the id of the call. */
export function showChanges({ deps, teller, held }: Working, { changes }: ChangeSet): string {
  const call = held.talk.call(newChangesCall(deps.ids))
  const files = changes.map(({ path, kind, addedLines, removedLines }) => ({
    path,
    kind,
    added: addedLines,
    removed: removedLines,
  }))
  call.own = { tool: APPLY, input: { files } }
  return teller.show(call).id
}

interface AppliedNow {
  files: readonly string[]
  conflicts: readonly string[]
  warnings: readonly string[]
}

/** Writes a set once. `approval`: it is used up before the first file; null: a policy let it through. */
export async function applyNow(working: Working, set: ChangeSet, approval: HostApproval | null): Promise<AppliedNow> {
  const { deps, lane, held } = working
  const request = { workspaceRoot: held.session.supervision.workspaceRoot, changes: set.changes }
  const beforeFirst = () =>
    approval === null || approval.status === 'consumed' ? Promise.resolve() : use(lane, approval)
  const isBegun = approval?.status === 'consumed'
  const applied = isBegun
    ? await finishChangeSet(request, deps.writer)
    : await applyChangeSet(request, { writer: deps.writer, beforeFirst }).catch(async (error: unknown) => {
        if (!(error instanceof ServerError) || error.details.consumed !== true) throw error
        return finishChangeSet(request, deps.writer)
      })
  const { conflicts, warnings } = applied
  const files = applied.files_written.map(({ path }) => path)
  const written = set.changes.filter(({ path }) => files.includes(path))
  await held.settled(written)
  if (approval !== null) {
    const why = conflicts.length === 0 ? null : `Changed meanwhile: ${conflicts.join(', ')}.`
    await noteApplied(working, approval, why, conflicts)
  }
  return { files, conflicts, warnings }
}

export async function noteApplied(
  { deps, lane }: Working,
  approval: HostApproval,
  why: string | null,
  conflicts?: readonly string[],
): Promise<void> {
  await deps.takeStep(approval.sessionId, async ({ at }) => {
    const now = await deps.store.waits.get(approval.id)
    if (now === null || !isHostApproval(now)) return {}
    const failed =
      why === null ? {} : { notApplied: why, ...(conflicts === undefined ? {} : { conflicts: [...conflicts] }) }
    const patch = { appliedAt: at, ...failed }
    const status = why === null ? 'applied' : 'failed'
    return {
      settle: [{ id: approval.id, patch: { supervised: { ...now.supervised, ...patch } } }],
      audit: [trail(approval, lane.scope.run.id, 'call_finished', at, { status, ...(why === null ? {} : { why }) })],
    }
  })
}

export async function finishChanges(
  working: Working,
  callId: string,
  { files, conflicts, warnings }: AppliedNow,
): Promise<void> {
  const lines = [
    files.length === 0 ? 'Nothing was written.' : `Written: ${files.join(', ')}`,
    ...(conflicts.length === 0 ? [] : [`Not written, because somebody changed it meanwhile: ${conflicts.join(', ')}`]),
    ...warnings,
  ]
  await finishWith(working, callId, { content: lines.join('\n'), isError: conflicts.length > 0 })
}

/** The result of a call that an earlier run may have shown, and an earlier program made. */
export async function finishWith(
  working: Working,
  callId: string,
  outcome: { content: string; isError: boolean },
): Promise<void> {
  const { lane, held, teller } = working
  const known = [...held.talk.calls.values()].find(({ id, isOver }) => id === callId && !isOver)
  if (known !== undefined) return teller.finish(known, outcome)
  await teller.close()
  // A process that ended in the middle of this may have told it, or may not.
  const call = (await leftOpen(working)).find(({ id }) => id === callId)
  if (call !== undefined) await commitResult(lane, call, outcome, { durationMs: 0 })
}

/** The calls of the last answer without a result, oldest first. */
export const leftOpen = async (working: Working): Promise<ToolCall[]> => openCalls(await newest(working)).calls

/** Another process may have ended the run that a call was made in, and told what became of it. */
export async function forgetAnswered(working: Working): Promise<void> {
  const open = [...working.held.talk.calls.values()].filter(({ id, isOver }) => id !== null && !isOver)
  if (open.length === 0) return
  const answered = new Set((await newest(working)).map(({ toolCallId }) => toolCallId))
  for (const call of open) if (answered.has(call.id ?? '')) call.isOver = true
}

const newest = ({ deps, lane }: Working): Promise<StoredMessage[]> =>
  deps.store.messages.page(lane.scope.run.sessionId, LOOK_BACK)

/** More than a program leaves open. */
const LOOK_BACK = 100
