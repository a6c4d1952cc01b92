// All that a hosted agent has changed by the end of its prompt, as one approval: bound to the bytes before and after, shown file by file,
// and written once.

import { basename } from 'node:path'
import { type Risk, risks } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { HostApproval } from '../../domain/records/record.ts'
import { shownPath } from '../../domain/text/lookalike.ts'
import type { Store } from '../../store/store.ts'
import { newApproval } from '../agent-service/asked-records.ts'
import type { JudgeWork } from '../agent-service/judge-work.ts'
import { summaryOf } from '../diffs/propose-change.ts'
import type { SupervisedSession, TakeStep } from '../sessions/take-step.ts'
import { type ChangeChoices, noChoices, readChoices } from '../worktrees/change-choices.ts'
import { type ChangeSet, changeSetOf, editedSet, packSet, unpackSet } from '../worktrees/change-set.ts'
import { type Asking, ofRun, type Place } from './ask-permission.ts'

/** The name under which the change is in the transcript. */
export const APPLY = 'apply_changes'

/** Null: a policy lets every file through. */
export async function changesApproval(
  asking: Asking & { judge: JudgeWork; takeStep: TakeStep },
  session: SupervisedSession,
  place: Place,
  runId: string,
  callId: string,
  set: ChangeSet,
): Promise<HostApproval> {
  const { ids, clock, approvalMs, quorum, takeStep } = asking
  const { changes, left } = set
  const risk = changes.reduce<Risk>(
    (most, one) => (risks.indexOf(one.risk) > risks.indexOf(most) ? one.risk : most),
    'low',
  )
  const protectedOnes = changes.filter((one) => one.protectedBecause !== null)
  const at = clock.now()
  const approval = ofRun(
    newApproval(
      { session, waiting: [], at },
      ids.uuid(),
      {
        kind: 'changes',
        tool: APPLY,
        callId,
        title: titleOf(set, session.supervision.workspaceRoot),
        description: descriptionOf(set),
        action: null,
        risk,
        ...(protectedOnes.length === 0 ? {} : { riskWhy: `changes ${count(protectedOnes.length, 'protected file')}` }),
        digest: set.digest,
        arguments: JSON.stringify(noChoices),
        contentKey: set.digest,
        expiresAt: at + approvalMs,
        change: null,
        beforeHash: null,
        afterHash: null,
      },
      quorum,
    ),
    runId,
    session,
    place,
  )
  const { supervised } = approval
  // Before the run waits for it, so that whoever looks at the approval finds what it is about.
  await takeStep(session.id, () => ({
    proposals: [{ approvalId: approval.id, ...packSet(set) }],
  }))
  return {
    ...approval,
    supervised: {
      ...supervised,
      changes: changes.map((one) => ({ ...summaryOf(one), risk: one.risk, isBinary: one.isBinary })),
      ...(left.length === 0 ? {} : { left: [...left] }),
    },
  }
}

/** Whether a policy of the workspace lets every file of the set through. */
export async function isAutoApproved(
  { judge }: { judge: JudgeWork },
  session: SupervisedSession,
  { changes }: ChangeSet,
): Promise<boolean> {
  for (const { path, risk } of changes) {
    if (risk === 'critical') return false
    const request = { toolName: APPLY, filePath: path, command: null, riskLevel: risk, guarded: null }
    if (!(await judge(session, request)).autoApproved) return false
  }
  return true
}

/** What was approved, after what the person chose. Throws `invalid_diff` if the bytes are not there, or not those of the approval. */
export async function approvedSet(
  store: Pick<Store, 'supervised'>,
  approval: HostApproval,
  at: SetPlace,
): Promise<{ set: ChangeSet; choices: ChangeChoices }> {
  const choices = approval.editedArguments === null ? noChoices : readChoices(JSON.parse(approval.editedArguments))
  const set = await chosenSet(store, approval, choices, at)
  if (set.digest !== approval.digest) {
    throw new ServerError('invalid_diff', 'The files have changed since these changes were edited. Look at them again.')
  }
  return { set, choices }
}

export interface SetPlace {
  workspaceRoot: string
  /** See `createServerPlaces`. */
  serverPaths: readonly string[]
}

/** What remains of the changes after these choices. Throws `invalid_request` for choices that do not fit. */
export async function chosenSet(
  store: Pick<Store, 'supervised'>,
  { id, supervised: { contentKey } }: HostApproval,
  { leave, discard, edit }: ChangeChoices,
  at: SetPlace,
): Promise<ChangeSet> {
  const set = unpackSet(await store.supervised.proposal(id), contentKey)
  const out = [...leave, ...discard]
  if (out.length === 0 && Object.keys(edit).length === 0) return set
  // Throwing everything away is a decision too.
  if (discard.length > 0 && set.changes.every(({ path }) => out.includes(path))) return changeSetOf([], set.left)
  return (await editedSet(set, { leave: out, edits: edit }, at)).set
}

function titleOf({ changes }: ChangeSet, workspaceRoot: string): string {
  const [first] = changes
  const added = changes.reduce((sum, one) => sum + one.addedLines, 0)
  const removed = changes.reduce((sum, one) => sum + one.removedLines, 0)
  const what =
    changes.length === 1 && first !== undefined
      ? `${VERBS[first.kind]} ${shownPath(first.path)}`
      : `Write ${count(changes.length, 'file')} to ${shownPath(basename(workspaceRoot))}`
  return `${what} +${added} −${removed}`
}

const VERBS = { create: 'Create', modify: 'Change', delete: 'Delete' } as const

function descriptionOf({ changes, left }: ChangeSet): string {
  const lines = changes.map(
    ({ path, kind, addedLines, removedLines, warnings, protectedBecause }) =>
      `${VERBS[kind]} ${shownPath(path)} +${addedLines} −${removedLines}${[...warnings, ...(protectedBecause === null ? [] : [protectedBecause])].map((one) => ` — ${one}`).join('')}`,
  )
  const others = left.map(({ path, why }) => `Not among them: ${shownPath(path)}: ${why}`)
  return [...lines, ...others].join('\n')
}

const count = (n: number, thing: string): string => `${n} ${thing}${n === 1 ? '' : 's'}`

export const newChangesCall = (ids: Ids): string => `call_${ids.uuid()}`
