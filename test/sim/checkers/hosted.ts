// Hosted agents: a program does only what somebody allowed, as often as they did; the workspace changes only with a yes, once; what was
// decided reaches a program that asks again; and no program outlives its session.

import { type HostApproval, isHostApproval } from '../../../src/domain/records/record.ts'
import { changeDigest } from '../../../src/supervision/diffs/propose-change.ts'
import { unpackSet } from '../../../src/supervision/worktrees/change-set.ts'
import type { Checker, Evidence } from '../evidence.ts'
import { replay } from '../memory/memory-disk.ts'

export const hosted: Checker = {
  name: 'hosted',
  check(evidence) {
    if (evidence.hosted === null) return []
    const approvals = [...evidence.waits.values()].filter(isHostApproval)
    return [
      ...checkActs(evidence, approvals),
      ...checkWrites(evidence, approvals),
      ...approvals.flatMap((one) => checkApproval(evidence, one, approvals)),
      ...checkInstructions(evidence),
      ...checkPrograms(evidence),
    ]
  },
}

const commandOf = ({ arguments: text }: HostApproval): string => JSON.parse(text).command ?? 'nothing'

/** A yes is good for one act. What it was for is in it, unless the program did not say. */
function checkActs({ hosted: world }: Evidence, approvals: readonly HostApproval[]): string[] {
  const used = approvals.filter(({ kind, status }) => kind === 'permission' && status === 'consumed')
  const keyOf = (sessionId: string, command: string) => `${command} in session ${sessionId}`
  const allowed = Map.groupBy(used, (one) => keyOf(one.sessionId, commandOf(one)))
  const done = Map.groupBy(world?.acts ?? [], ({ sessionId, command }) => keyOf(sessionId, command ?? 'nothing'))
  return [...done].flatMap(([what, acts]) => {
    const times = allowed.get(what)?.length ?? 0
    return acts.length <= times ? [] : [`${what} was done ${acts.length} times and allowed ${times} times`]
  })
}

/** No two texts are alike, so each change can be told from all others. */
function checkWrites({ hosted: world, disk }: Evidence, approvals: readonly HostApproval[]): string[] {
  const { proposals } = replay(disk)
  const allowed = new Set(
    approvals
      .filter(({ kind, status }) => kind === 'changes' && status === 'consumed')
      .flatMap(({ id, digest }) => unpackSet(proposals.get(id) ?? null, digest).changes.map(changeDigest)),
  )
  return [...Map.groupBy(world?.files.writes ?? [], ({ digest }) => digest)].flatMap(([digest, [first, ...again]]) => {
    const what = `"${first?.text}" in ${first?.path}`
    // The policy of the workspace lets this one through.
    const isAllowed = allowed.has(digest) || first?.path.endsWith('/allowed.md') === true
    return [
      ...(again.length > 0 ? [`${what} was written ${again.length + 1} times`] : []),
      ...(isAllowed ? [] : [`${what} was written, and nobody allowed it`]),
    ]
  })
}

function checkApproval({ runs }: Evidence, approval: HostApproval, all: readonly HostApproval[]): string[] {
  const { id, kind, status, continuationRunId, supervised, decidedBy } = approval
  const what = `${kind} ${id}`
  const taker = runs.get(continuationRunId ?? '')
  const isSettled = supervised.appliedAt !== undefined || supervised.notApplied !== undefined
  const again = all.find(
    ({ runId, supervised: { contentKey }, arguments: text }) =>
      runId === taker?.id && contentKey === supervised.contentKey && text !== '{}',
  )
  const isUsed = status === 'consumed' || decidedBy === null
  return [
    ...(status === 'approved' ? [`${what} is approved for ever`] : []),
    ...(kind === 'changes' && status === 'consumed' && taker?.status === 'completed' && !isSettled
      ? [`${what} was used, run ${taker.id} is completed, and nobody knows what became of the files`]
      : []),
    ...(again !== undefined && !isUsed
      ? [`${what} was ${status} by ${decidedBy}, and run ${taker?.id}, which had the answer, asked ${again.id}`]
      : []),
  ]
}

/** What counts as delivered was in a prompt. */
function checkInstructions({ hosted: world, disk }: Evidence): string[] {
  return [...replay(disk).instructions.values()].flatMap(({ kind, text, deliveredAt, sessionId }) =>
    deliveredAt === null || world?.rooms.get(sessionId ?? '')?.prompts.some((prompt) => prompt.includes(`: ${text}`))
      ? []
      : [`${kind} ${text} is delivered, and no program was told`],
  )
}

function checkPrograms({ hosted: world, sessions }: Evidence): string[] {
  return [...(world?.rooms ?? [])].flatMap(([id, { running }]) =>
    running > 0 && sessions.get(id)?.supervision?.status === 'terminated'
      ? [`the program of session ${id} outlived it`]
      : [],
  )
}
