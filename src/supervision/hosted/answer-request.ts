// What becomes of the requests of a hosted agent’s program: answered at once, asked of a person, and handed over when they have answered.

import { hasCode, ServerError } from '../../domain/errors.ts'
import { type Approval, type HostApproval, isHostApproval } from '../../domain/records/record.ts'
import { questionAnswer } from '../../engine/loop/prepare-call.ts'
import type { Pending } from '../../engine/run/run-scope.ts'
import type { ChangeSet } from '../worktrees/change-set.ts'
import { approvedSet, changesApproval, isAutoApproved } from './ask-changes.ts'
import { contentOf, judgePermission, questionApproval, refusalOf, saysNothing } from './ask-permission.ts'
import type { Held } from './held-talks.ts'
import type { HostedCall } from './hosted-call.ts'
import { mergeCall } from './hosted-call.ts'
import { canAllowOnce, type OpenRequest, optionFor } from './open-request.ts'
import { applyNow, finishChanges, finishWith, noteApplied, showChanges } from './settle-changes.ts'
import { type Decided, isPaused, pendingOf, placeOf, use, type Working } from './working.ts'

/** Hands the answers to the requests that are open since an earlier run. Returns what nobody has answered yet. */
export async function handOver(working: Working): Promise<Pending[]> {
  const { deps, held, lane } = working
  const left: Pending[] = []
  for (const request of [...held.talk.requests]) {
    if (request.approvalId === null) continue
    const wait = await deps.store.waits.get(request.approvalId)
    if (wait !== null && isHostApproval(wait) && wait.status !== 'pending') await answerWith(working, request, wait)
    else if (wait !== null && isHostApproval(wait) && wait.runId === lane.scope.run.id)
      left.push(pendingOf(wait, false))
    // What it waited for has ended with its run.
    else await deny(working, request, 'It was broken off before anybody answered.')
  }
  return left
}

/** The program hears what was decided. A yes is used up on disk before. */
async function answerWith(working: Working, request: OpenRequest, approval: HostApproval): Promise<void> {
  const { lane, decided } = working
  for (const one of decided) if (one.approval.id === approval.id) one.isUsed = true
  if (request.kind === 'question') {
    const answer = questionAnswer(approval)
    if (answer?.type === 'answered') return request.answer({ action: 'accept', content: answer.value as never })
    return request.answer({ action: approval.status === 'rejected' ? 'decline' : 'cancel' })
  }
  if (approval.status !== 'approved') return deny(working, request, refusalOf(approval), approval)
  // Used up right before the file is written.
  if (request.kind === 'write') return writeApproved(working, request, approval)
  try {
    await use(lane, approval)
  } catch (error) {
    // It was taken back, or used by another process, a moment ago.
    if (!hasCode(error, 'conflict')) throw error
    return deny(working, request, 'It is not allowed any more.')
  }
  await allow(working, request)
  if (request.kind === 'permission') request.call.approvalId = approval.id
}

async function allow({ teller }: Working, request: OpenRequest): Promise<void> {
  if (request.kind === 'permission') request.answer(optionFor(request.options, true))
  else if (request.kind === 'terminal') request.answer(null)
  await teller.flush()
}

/** The protocol carries no reason with a no, so the program hears it with the next prompt. */
async function deny(
  working: Working,
  request: OpenRequest,
  why: string,
  approval: Approval | null = null,
): Promise<void> {
  if (request.kind === 'permission') request.answer(optionFor(request.options, false))
  else if (request.kind === 'question') request.answer({ action: 'cancel' })
  else request.answer(why)
  if (request.kind === 'write' && approval !== null) {
    await finishWith(working, approval.callId, { content: why, isError: true })
  }
  if (request.kind !== 'permission' || approval?.status !== 'rejected' || !approval.reason) return
  working.after.push(
    `Your operator refused your call of ${approval.tool}: ${approval.title}. Their reason: ${approval.reason}`,
  )
}

async function refusePaused(working: Working, request: OpenRequest): Promise<null> {
  if (!working.after.includes(WAS_PAUSED)) working.after.push(WAS_PAUSED)
  await deny(working, request, WAS_PAUSED)
  return null
}

const WAS_PAUSED =
  'Your operator had paused this session, so what you asked for then was refused. Ask again for what you still need.'

/** Null: it is answered. */
export async function askAbout(working: Working, request: OpenRequest): Promise<HostApproval | null> {
  const { deps, lane, held, teller, decided } = working
  const { run } = lane.scope
  if (request.kind === 'question') {
    const approval = questionApproval(deps, held.session, held.place, run.id, request)
    const before = answeredBefore(decided, approval.supervised?.contentKey ?? '')
    if (before === null) return (await isPaused(working)) ? refusePaused(working, request) : (approval as HostApproval)
    await answerWith(working, request, before)
    return null
  }
  if (request.kind === 'write') {
    return (await isPaused(working)) ? refusePaused(working, request) : askWrite(working, request)
  }
  const call = request.kind === 'permission' ? request.call : commandCall(held, request)
  // What is told of the call meanwhile is not what it asks for.
  if (request.kind === 'permission') mergeCall(call, request.asked)
  const shown = teller.show(call)
  if (request.kind === 'permission' && !canAllowOnce(request.options)) {
    await deny(working, request, '')
    return null
  }
  // A call that does not say what it does may be another one each time.
  const before = saysNothing(shown) ? null : answeredBefore(decided, contentOf(shown))
  if (before !== null) {
    await answerWith(working, request, before)
    return null
  }
  if (await isPaused(working)) return refusePaused(working, request)
  const verdict = await judgePermission(deps, held.session, held.place, run.id, shown)
  if (verdict.verdict === 'allow') await allow(working, request)
  else if (verdict.verdict === 'refuse') await deny(working, request, verdict.why)
  else return verdict.approval
  return null
}

/** The program was started anew, and asks again what was decided meanwhile. A yes that is used up may have been acted on: it is asked anew. */
function answeredBefore(decided: readonly Decided[], contentKey: string): HostApproval | null {
  const found = decided.find(
    ({ approval: { status, supervised }, isUsed }) =>
      !isUsed && status !== 'consumed' && supervised.contentKey === contentKey,
  )
  return found?.approval ?? null
}

/** A command that we are asked to run is a call like any other. */
function commandCall(held: Held, { command }: Extract<OpenRequest, { kind: 'terminal' }>): HostedCall {
  const { command: program, args = [], env = [], cwd } = command
  const call = held.talk.call(`terminal ${held.newId()}`)
  const words = [program, ...args].map(shellWord)
  // A variable such as LD_PRELOAD makes another command of it.
  const variables = env.map(({ name, value }) => `${name}=${shellWord(value)}`)
  const line = [...variables, ...words].join(' ')
  call.said = { ...call.said, kind: 'execute', rawInput: { command: line, ...(cwd == null ? {} : { cwd }) } }
  return call
}

const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** `fs/write_text_file`: one change, made by the server from the file as it is. */
async function askWrite(
  working: Working,
  request: Extract<OpenRequest, { kind: 'write' }>,
): Promise<HostApproval | null> {
  const { deps, held, lane, decided } = working
  let set: ChangeSet | null
  try {
    set = await held.proposeWrite(request.file)
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    request.answer(error.message)
    return null
  }
  if (set === null) {
    request.answer(null)
    return null
  }
  const before = answeredBefore(decided, set.digest)
  if (before !== null) {
    await answerWith(working, request, before)
    return null
  }
  const callId = showChanges(working, set)
  if (await isAutoApproved(deps, held.session, set)) {
    await finishChanges(working, callId, await applyNow(working, set, null))
    request.answer(null)
    return null
  }
  return changesApproval(deps, held.session, held.place, lane.scope.run.id, callId, set)
}

async function writeApproved(
  working: Working,
  request: Extract<OpenRequest, { kind: 'write' }>,
  approval: HostApproval,
): Promise<void> {
  const { deps } = working
  try {
    const { set } = await approvedSet(deps.store, approval, placeOf(working))
    await finishChanges(working, approval.callId, await applyNow(working, set, approval))
    request.answer(null)
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    await noteApplied(working, approval, error.message)
    await finishWith(working, approval.callId, { content: error.message, isError: true })
    request.answer(error.message)
  }
}
