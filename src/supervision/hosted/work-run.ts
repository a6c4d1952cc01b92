// The work of one run of a hosted agent. An ACP prompt is a run and its continuations: a permission ends the run as `waiting`, while the
// program and its request stay open; the continuation hands the answer over and takes what the program says from there on.
//
// Whatever is decided is decided in the store first. So if the program dies, or this process does, the next one begins with what is there:
// an answered permission reaches the program when it asks again, and changes that were approved are written once.

import type { ContentBlock, StopReason } from '@agentclientprotocol/sdk'
import { hasCode, ServerError } from '../../domain/errors.ts'
import { type AnyRecord, type Approval, type HostApproval, isHostApproval } from '../../domain/records/record.ts'
import type { ToolCall } from '../../domain/session/message.ts'
import { stoppedError } from '../../domain/session/session.ts'
import { aboutCall } from '../../domain/supervision/approval-audit.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { LoopEnd } from '../../engine/loop/agent-loop.ts'
import { commitResult } from '../../engine/loop/call-records.ts'
import { StepBroken } from '../../engine/loop/model-step.ts'
import { questionAnswer } from '../../engine/loop/prepare-call.ts'
import type { HostParts, Lane, Pending } from '../../engine/run/run-scope.ts'
import type { Store } from '../../store/store.ts'
import type { JudgeWork } from '../agent-service/judge-work.ts'
import type { ChangeWriter } from '../diffs/change-writer.ts'
import type { TakeStep } from '../sessions/take-step.ts'
import { applyChangeSet, finishChangeSet } from '../worktrees/apply-change-set.ts'
import type { ChangeSet } from '../worktrees/change-set.ts'
import { APPLY, approvedSet, changesApproval, isAutoApproved, newChangesCall } from './ask-changes.ts'
import { type Asking, contentOf, judgePermission, questionApproval, refusalOf } from './ask-permission.ts'
import type { Held } from './held-talks.ts'
import { type HostedCall, hasInput } from './hosted-call.ts'
import { canAllowOnce, type OpenRequest, optionFor } from './open-request.ts'
import { promptBlocks } from './prompt-blocks.ts'
import { hostFailed } from './talk.ts'
import { createTeller, type Teller } from './teller.ts'

export interface WorkDeps extends Asking {
  store: Pick<Store, 'waits' | 'supervised' | 'sessions'>
  takeStep: TakeStep
  judge: JudgeWork
  writer: ChangeWriter
  /** See `createServerPlaces`. */
  serverPaths: readonly string[]
  /** Resolves after so many ms, or when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

/** How long what belongs to a permission may come after it. */
const LATE_MS = 50
/** Follow-up prompts of one run: steering, reasons, nudges. Whoever sends more begins a new message. */
const MOST_PROMPTS = 20

export async function workRun(deps: WorkDeps, lane: Lane<HostParts>, held: Held): Promise<LoopEnd> {
  const { scope, writer } = lane
  const { signal } = scope
  const { talk } = held
  const teller = createTeller({
    lane,
    talk,
    words: held.words,
    outputOf: (id) => held.terminals?.text(id) ?? `[terminal ${id}]`,
    onProgress: held.onProgress,
  })
  const decided = await decisionsOf(deps, lane)
  const shared: Working = {
    deps,
    lane,
    held,
    teller,
    decided,
    after: [...(held.session.supervision.hosted?.notes ?? [])],
  }
  try {
    teller.tellChoices()
    await chooseAsAsked(shared)
    const left = await handOver(shared)
    if (left.length > 0) return await waitFor(shared, left)
    const settled = await settleChanges(shared)
    if (settled === 'asked again') return await askChanges(shared)
    if (settled === 'done' && !hasMore(shared) && !talk.isPrompting) return answered(teller, 'end_turn')
    return await converse(shared)
  } catch (error) {
    // Nobody listens to it any more.
    await talk.cancel().catch(() => {})
    if (error instanceof StepBroken) throw error
    const cause = signal.aborted || !talk.isGone ? error : await held.whyGone(error)
    await teller.closeCalls('The agent’s program said no more of it.').catch(() => {})
    throw new StepBroken(cause, teller.broken(), null)
  } finally {
    held.lastUsed()
    await writer.flush().catch(() => {})
  }
}

interface Working {
  deps: WorkDeps
  lane: Lane<HostParts>
  held: Held
  teller: Teller
  /** What people have decided, and the program has not heard yet. */
  decided: Decided[]
  /** What the program hears with its next prompt. */
  after: string[]
}

interface Decided {
  approval: HostApproval
  isUsed: boolean
}

/** The decisions that this run continues with. One that a run does not use is void with its end, so older ones are not among them. */
async function decisionsOf({ store }: WorkDeps, { scope: { run } }: Lane<HostParts>): Promise<Decided[]> {
  const waits = await store.waits.list({ sessionId: run.sessionId, wait: 'approval', limit: LOOK_BACK })
  return waits
    .filter(isHostApproval)
    .filter(({ continuationRunId, status }) => continuationRunId === run.id && status !== 'pending')
    .map((approval) => ({ approval, isUsed: false }))
}

const LOOK_BACK = 200

/** Modes, commands and options that the client has chosen for this run. */
async function chooseAsAsked({ lane, held: { talk, words } }: Working): Promise<void> {
  const { forwardedProps } = lane.scope.run.input
  const chosen = hostProps(forwardedProps)
  refuseBold(chosen, words)
  if (chosen.mode !== null && chosen.mode !== talk.modes?.currentModeId) {
    if (talk.modes?.availableModes.some(({ id }) => id === chosen.mode) !== true) {
      throw new ServerError('invalid_request', `The agent has no mode ${JSON.stringify(chosen.mode)}.`)
    }
    await talk.setMode(chosen.mode)
  }
  for (const [id, value] of Object.entries(chosen.config)) await talk.setConfig(id, value)
}

/** A client may not choose that nobody is asked. */
function refuseBold({ mode, config }: HostProps, { bold }: Held['words']): void {
  const option = Object.entries(config).find(([id, value]) => bold.options[id] === value)
  const what =
    mode !== null && bold.modes.includes(mode)
      ? `In the mode ${mode}`
      : option === undefined
        ? null
        : `With ${option.join(' ')}`
  if (what === null) return
  throw new ServerError(
    'forbidden',
    `${what}, the agent acts without asking, so it cannot be chosen here. Choose another one.`,
  )
}

interface HostProps {
  mode: string | null
  command: string | null
  config: Record<string, string | boolean>
}

/** `forwardedProps.host`: what does not fit is ignored, as AG-UI's other unknown properties are. */
export function hostProps(forwardedProps: unknown): HostProps {
  const host = at(forwardedProps, 'host')
  const [mode, command, config] = [at(host, 'mode'), at(host, 'command'), at(host, 'config')]
  const options = typeof config === 'object' && config !== null ? Object.entries(config) : []
  return {
    mode: typeof mode === 'string' ? mode : null,
    command: typeof command === 'string' && command !== '' ? command.replace(/^\/+/, '') : null,
    config: Object.fromEntries(options.filter(([, value]) => typeof value === 'string' || typeof value === 'boolean')),
  }
}

const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined

/** Hands the answers to the requests that are open since an earlier run. Returns what nobody has answered yet. */
async function handOver(working: Working): Promise<Pending[]> {
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

const pendingOf = (wait: AnyRecord, isNew: boolean): Pending => ({ wait, isNew, subagentRunId: null })

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
  try {
    await use(lane, approval)
  } catch (error) {
    // It was taken back, or used by another process, a moment ago.
    if (!hasCode(error, 'conflict')) throw error
    return deny(working, request, 'It is not allowed any more.')
  }
  if (request.kind === 'write') return writeApproved(working, request, approval)
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
  { after }: Working,
  request: OpenRequest,
  why: string,
  approval: Approval | null = null,
): Promise<void> {
  if (request.kind === 'permission') request.answer(optionFor(request.options, false))
  else if (request.kind === 'question') request.answer({ action: 'cancel' })
  else request.answer(why)
  if (request.kind !== 'permission' || approval?.status !== 'rejected' || !approval.reason) return
  after.push(`Your operator refused your call of ${approval.tool}: ${approval.title}. Their reason: ${approval.reason}`)
}

/** From here on the approval is used, whatever happens. Throws `conflict` if it cannot be any more. */
async function use({ writer, scope: { run } }: Lane<HostParts>, approval: HostApproval): Promise<void> {
  const at = writer.timestamp()
  await writer.commit({
    consume: [{ waitId: approval.id, digest: approval.digest, at }],
    audit: [trail(approval, run.id, 'call_started', at, { digest: approval.digest })],
  })
}

const trail = (
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

/** Talks to the program until it has nothing more to say, or somebody has to answer. */
async function converse(working: Working): Promise<LoopEnd> {
  const { held, lane } = working
  const { talk } = held
  const isNew = newMessages(lane).length > 0
  if (isNew && (await isPaused(working))) throw stoppedError('paused')
  if (talk.isPrompting && isNew) {
    await talk.cancel()
    if (talk.isGone) throw hostFailed('It did not stop for the new message, so it was ended. Send a message to go on.')
  }
  if (!talk.isPrompting) await begin(working)
  for (let prompts = 1; ; prompts += 1) {
    const end = await listen(working)
    if (end.type === 'pending') return waitFor(working, end.pending)
    await working.teller.closeCalls('The agent’s program does not say how it ended.')
    const isLast = prompts >= MOST_PROMPTS || !GOES_ON.has(end.reason) || (await isPaused(working))
    const more = isLast ? [] : await followUps(working)
    if (isLast && working.after.length > 0) await keepNotes(working)
    if (more.length > 0) {
      await working.teller.close()
      talk.prompt([{ type: 'text', text: more.join('\n\n') }])
      continue
    }
    const changed = await held.changes()
    if (changed !== null) {
      const asked = await proposeChanges(working, changed)
      if (asked !== null) return asked
    }
    return answered(working.teller, end.reason)
  }
}

/** A program that was not cancelled by us and says so has ended its turn because of a no. */
const GOES_ON: ReadonlySet<StopReason> = new Set(['end_turn', 'cancelled'])

/** Its operator lets it begin nothing new. What it asks now is refused; what was decided counts. */
const isPaused = async ({ deps, held }: Working): Promise<boolean> =>
  (await deps.store.sessions.get(held.session.id))?.supervision?.status === 'paused'

async function refusePaused(working: Working, request: OpenRequest): Promise<null> {
  if (!working.after.includes(WAS_PAUSED)) working.after.push(WAS_PAUSED)
  await deny(working, request, WAS_PAUSED)
  return null
}

const WAS_PAUSED =
  'Your operator had paused this session, so what you asked for then was refused. Ask again for what you still need.'

const newMessages = ({ scope: { run } }: Lane<HostParts>): readonly { role: string }[] =>
  run.input.messages.filter(({ role }) => role === 'user')

const hasMore = ({ lane, after }: Working): boolean => newMessages(lane).length > 0 || after.length > 0

/** The first prompt of a run: what people said since the program last heard, or that it was interrupted. */
async function begin(working: Working): Promise<void> {
  const { lane, held, deps, after } = working
  const { forwardedProps, regenerateAfter } = lane.scope.run.input
  const first: string[] = [...(await held.storySoFar()), ...after.splice(0), ...(await takeInstructions(working))]
  // A program cannot be taken back to an earlier point of its conversation, so it is told.
  if (regenerateAfter !== undefined) first.push(TAKEN_BACK)
  const { command } = hostProps(forwardedProps)
  const blocks = await promptBlocks(lane, held.talk.capabilities.promptCapabilities ?? {}, {
    chosen: command,
    known: held.words.commands,
  })
  if (blocks.length === 0 && first.length === 0) first.push(INTERRUPTED)
  const notes: ContentBlock[] = first.length === 0 ? [] : [{ type: 'text', text: first.join('\n\n') }]
  await held.refresh()
  await deps.takeStep(held.session.id, ({ session: { supervision } }) =>
    supervision.hosted?.notes === undefined
      ? {}
      : { supervision: { hosted: { acpSession: supervision.hosted.acpSession } } },
  )
  // A command has to stand at the beginning.
  held.talk.prompt(command === null ? [...notes, ...blocks] : [...blocks, ...notes])
}

const TAKEN_BACK =
  'This conversation goes back to an earlier point. What was said after that counts no longer, but files are as you left them. It goes on with this message:'

const INTERRUPTED =
  'You were interrupted while you worked on the last message. Look at what is done, and go on from there. Ask again for what was not allowed yet.'

/** What operators have sent meanwhile. It counts as delivered once the program has it. */
async function takeInstructions({ deps, held }: Working): Promise<string[]> {
  const { id, owner, supervision } = held.session
  const [steering, tasks] = await Promise.all([
    deps.store.supervised.instructions({ sessionId: id, isWaiting: true, limit: MOST_INSTRUCTIONS }),
    deps.store.supervised.instructions({
      kind: 'task',
      workspace: { owner, root: supervision.workspaceRoot },
      isWaiting: true,
      limit: MOST_INSTRUCTIONS,
    }),
  ])
  const found = [...tasks, ...steering.filter((one) => tasks.every((task) => task.id !== one.id))]
  if (found.length > 0) await deps.takeStep(id, () => ({ deliver: found.map((one) => one.id) }))
  return found.map(
    ({ kind, text, source }) => `${kind === 'task' ? 'A task' : 'A message'} from your operator (${source}): ${text}`,
  )
}

const MOST_INSTRUCTIONS = 100

async function followUps(working: Working): Promise<string[]> {
  return [...working.after.splice(0), ...(await takeInstructions(working))]
}

type Heard = { type: 'pending'; pending: Pending[] } | { type: 'stopped'; reason: StopReason }

/** Takes what the program says until its prompt ends, or until it asks something that only a person can answer. */
async function listen(working: Working): Promise<Heard> {
  const { held, lane, teller, deps } = working
  const { signal } = lane.scope
  const { talk } = held
  const pending: Pending[] = []
  for (;;) {
    // Everything that came with a question belongs before it.
    const said = pending.length === 0 ? await heardOrNudged(working) : talk.nextNow()
    if (said === null) {
      if (pending.some(({ wait }) => isStillAsked(talk.requests, wait))) return { type: 'pending', pending }
      pending.length = 0
      continue
    }
    switch (said.type) {
      case 'update':
        await teller.take(said.update)
        if (!talk.hasMore) await teller.flush()
        break
      case 'request': {
        if (said.request.kind === 'permission' && !hasInput(said.request.call.said)) await deps.pause(LATE_MS, signal)
        const approval = await askAbout(working, said.request)
        if (approval !== null) {
          said.request.approvalId = approval.id
          pending.push(pendingOf(approval, true))
        }
        break
      }
      case 'stopped':
        return { type: 'stopped', reason: said.reason }
      case 'failed':
        throw said.error
    }
  }
}

const isStillAsked = (requests: readonly OpenRequest[], wait: AnyRecord): boolean =>
  requests.some(({ approvalId }) => approvalId === wait.id)

/** A nudge of the stall watch stops a program that has hung, and asks it again. */
async function heardOrNudged({ held, lane }: Working) {
  const { signal } = lane.scope
  for (;;) {
    const nudge = held.takeNudge()
    if (nudge !== null) {
      await held.talk.cancel()
      held.talk.prompt([{ type: 'text', text: nudge }])
    }
    const said = await held.next(signal)
    if (said !== null) return said
  }
}

/** Null: it is answered. */
async function askAbout(working: Working, request: OpenRequest): Promise<HostApproval | null> {
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
  const shown = teller.show(call)
  if (request.kind === 'permission' && !canAllowOnce(request.options)) {
    await deny(working, request, '')
    return null
  }
  const before = answeredBefore(decided, contentOf(shown))
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
  const { command: program, args = [], cwd } = command
  const call = held.talk.call(`terminal ${held.newId()}`)
  const line = [program, ...args].map(shellWord).join(' ')
  call.said = {
    ...call.said,
    kind: 'execute',
    rawInput: { command: args.length === 0 ? program : line, ...(cwd == null ? {} : { cwd }) },
  }
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
  if (await isAutoApproved(deps, held.session, set)) {
    await applyNow(working, set, null)
    request.answer(null)
    return null
  }
  const before = answeredBefore(decided, set.digest)
  if (before !== null) {
    await answerWith(working, request, before)
    return null
  }
  const callId = showChanges(working, set)
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
    await applyNow(working, set, approval)
    request.answer(null)
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    await noteApplied(working, approval, error.message)
    request.answer(error.message)
  }
}

const placeOf = ({ deps, held }: Working) => ({
  workspaceRoot: held.session.supervision.workspaceRoot,
  serverPaths: deps.serverPaths,
})

/** The change stands in the transcript as a call of the agent, so that every door can show it. Returns the id of the call. */
function showChanges({ deps, teller, held }: Working, { changes }: ChangeSet): string {
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

/** Asks about all that the agent has changed, or writes it where a policy says so. Null: it is written. */
async function proposeChanges(working: Working, set: ChangeSet): Promise<LoopEnd | null> {
  const { deps, lane, held } = working
  if (set.changes.length === 0) return null
  const callId = showChanges(working, set)
  if (!(await isPaused(working)) && (await isAutoApproved(deps, held.session, set))) {
    const applied = await applyNow(working, set, null)
    await finishChanges(working, callId, applied)
    return null
  }
  const approval = await changesApproval(deps, held.session, held.place, lane.scope.run.id, callId, set)
  return waitFor(working, [pendingOf(approval, true)])
}

async function askChanges(working: Working): Promise<LoopEnd> {
  const set = await working.held.changes()
  const asked = set === null ? null : await proposeChanges(working, set)
  return asked ?? answered(working.teller, 'end_turn')
}

/** What became of changes that a person has decided about. Null: nothing was decided. */
async function settleChanges(working: Working): Promise<'done' | 'asked again' | null> {
  const { decided, held, after, deps } = working
  const one = decided.find(({ approval, isUsed }) => !isUsed && approval.kind === 'changes')
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

async function keepNotes({ deps, held, after }: Working): Promise<void> {
  const notes = after.splice(0)
  await deps.takeStep(held.session.id, ({ session: { supervision } }) => ({
    supervision: { hosted: { acpSession: supervision.hosted?.acpSession ?? null, notes } },
  }))
}

interface AppliedNow {
  files: readonly string[]
  conflicts: readonly string[]
  warnings: readonly string[]
}

/** Writes a set once. `approval`: it is used up before the first file; null: a policy let it through. */
async function applyNow(working: Working, set: ChangeSet, approval: HostApproval | null): Promise<AppliedNow> {
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

async function noteApplied(
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

async function finishChanges(
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

/** The result of a call that an earlier run may have shown. */
async function finishWith(
  { lane, held, teller }: Working,
  callId: string,
  outcome: { content: string; isError: boolean },
): Promise<void> {
  const open = [...held.talk.calls.values()].find(({ id }) => id === callId)
  if (open !== undefined) return teller.finish(open, outcome)
  await teller.close()
  const call: ToolCall = { id: callId, type: 'function', function: { name: APPLY, arguments: '{}' } }
  await commitResult(lane, call, outcome, { durationMs: 0 })
}

/** Everything that was said so far is stored before the run waits. */
async function waitFor({ lane, teller }: Working, pending: Pending[]): Promise<LoopEnd> {
  await teller.close()
  return { type: 'waiting', pending, agent: lane.agent }
}

function answered(teller: Teller, reason: StopReason): LoopEnd {
  switch (reason) {
    case 'end_turn':
    case 'cancelled':
      return { type: 'answered', answer: teller.answer('stop') }
    case 'max_tokens':
      return { type: 'answered', answer: teller.answer('length') }
    case 'refusal':
      throw new ServerError('model_refused', 'The agent’s model declined to answer.')
    case 'max_turn_requests':
      throw new ServerError(
        'host_limit',
        'The agent’s program has reached its own limit of requests to its model. Send a message to go on.',
      )
    default:
      throw hostFailed(`It ended its prompt for a reason that is not of this protocol: ${JSON.stringify(reason)}.`)
  }
}
