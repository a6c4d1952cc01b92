// The work of one run of a hosted agent. An ACP prompt is a run and its continuations: a permission ends the run as `waiting`, while the
// program and its request stay open; the continuation hands the answer over and takes what the program says from there on.
//
// Whatever is decided is decided in the store first. So if the program dies, or this process does, the next one begins with what is there:
// an answered permission reaches the program when it asks again, and changes that were approved are written once.

import type { ContentBlock, SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import { ServerError } from '../../domain/errors.ts'
import { type AnyRecord, isHostApproval } from '../../domain/records/record.ts'
import { stoppedError } from '../../domain/session/session.ts'
import type { LoopEnd } from '../../engine/loop/agent-loop.ts'
import { StepBroken } from '../../engine/loop/model-step.ts'
import type { HostParts, Lane, Pending } from '../../engine/run/run-scope.ts'
import { activityEvent } from '../sessions/session-events.ts'
import { askAbout, handOver } from './answer-request.ts'
import { refusalOf } from './ask-permission.ts'
import { chooseAsAsked, hostProps } from './choose-as-asked.ts'
import type { Held } from './held-talks.ts'
import { hasInput } from './hosted-call.ts'
import type { OpenRequest } from './open-request.ts'
import { promptBlocks } from './prompt-blocks.ts'
import type { Said } from './said.ts'
import { finishWith, forgetAnswered, leftOpen, proposeChanges, settleChanges } from './settle-changes.ts'
import { hostFailed } from './talk.ts'
import { createTeller, type Teller } from './teller.ts'
import { type Decided, isPaused, keepNotes, pendingOf, type WorkDeps, type Working, waitFor } from './working.ts'

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
    nudges: new Set(),
    handed: { isDue: false, instructions: [], nudge: null },
  }
  let isLookedUp = false
  try {
    await forgetAnswered(shared)
    isLookedUp = true
    try {
      await chooseAsAsked(shared)
    } finally {
      // With what was just chosen, which not every program tells.
      teller.tellChoices()
    }
    const left = await handOver(shared)
    if (left.length > 0) return await waitFor(shared, left)
    let settled = await settleChanges(shared)
    // A program that writes through us asked in the middle of a prompt, maybe for several files, and goes on with it.
    while (settled !== null && !held.place.isPrivateCopy) settled = await settleChanges(shared)
    if (!talk.isPrompting) await closeForgotten(shared)
    if (settled === 'asked again') return await askChanges(shared)
    if (settled === 'done' && !hasMore(shared) && !talk.isPrompting) return answered(teller, 'end_turn')
    return await converse(shared)
  } catch (error) {
    // Nobody listens to it any more.
    await talk.cancel().catch(() => {})
    if (error instanceof StepBroken) throw error
    const cause = signal.aborted || !talk.isGone ? error : await held.whyGone(error)
    if (isLookedUp) await teller.closeCalls('The agent’s program said no more of it.').catch(() => {})
    throw new StepBroken(cause, teller.broken(), null)
  } finally {
    held.lastUsed()
    await writer.flush().catch(() => {})
  }
}

/** The decisions that this run continues with. One that a run does not use is void with its end, so older ones are not among them. */
async function decisionsOf({ store }: WorkDeps, { scope: { run } }: Lane<HostParts>): Promise<Decided[]> {
  const waits = await store.waits.list({ continuationRunId: run.id, wait: 'approval', limit: MOST_DECIDED })
  return waits
    .filter(isHostApproval)
    .filter(({ status }) => status !== 'pending')
    .map((approval) => ({ approval, isUsed: false }))
}

/** More than a program may ask at once. */
const MOST_DECIDED = 1_000

/** Talks to the program until it has nothing more to say, or somebody has to answer. */
async function converse(working: Working): Promise<LoopEnd> {
  const { held, lane } = working
  const { talk } = held
  const isNew = newMessages(lane).length > 0
  if (isNew && (await isPaused(working))) throw stoppedError('paused')
  if (talk.isPrompting && isNew) {
    await breakOff(working)
    if (talk.isGone) throw hostFailed('It did not stop for the new message, so it was ended. Send a message to go on.')
  }
  if (!talk.isPrompting && !(await begin(working))) return answered(working.teller, 'end_turn')
  for (let prompts = 1; ; prompts += 1) {
    const end = await listen(working)
    if (end.type === 'pending') return waitFor(working, end.pending)
    await working.teller.closeCalls('The agent’s program does not say how it ended.')
    const isLast = prompts >= MOST_PROMPTS || !GOES_ON.has(end.reason) || (await isPaused(working))
    const more = isLast ? [] : await followUps(working)
    if (isLast && working.after.length > 0) await keepNotes(working)
    if (more.length > 0) {
      await working.teller.close()
      prompt(working, [{ type: 'text', text: more.join('\n\n') }])
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

const newMessages = ({ scope: { run } }: Lane<HostParts>): readonly { role: string }[] =>
  run.input.messages.filter(({ role }) => role === 'user')

const hasMore = ({ lane, after }: Working): boolean => newMessages(lane).length > 0 || after.length > 0

/**
 * The first prompt of a run: what people said since the program last heard, or that it was interrupted. False: there is nothing to say, as
 * an earlier run has told what this one was to tell.
 */
async function begin(working: Working): Promise<boolean> {
  const { lane, held, after } = working
  const { origin, input } = lane.scope.run
  const first: string[] = [...(await held.storySoFar()), ...after.splice(0), ...(await takeInstructions(working))]
  // A program cannot be taken back to an earlier point of its conversation, so it is told.
  if (input.regenerateAfter !== undefined) first.push(TAKEN_BACK)
  const { command } = hostProps(input.forwardedProps)
  const blocks = await promptBlocks(lane, held.talk.capabilities.promptCapabilities ?? {}, {
    chosen: command,
    known: held.words.commands,
  })
  if (blocks.length === 0 && first.length === 0) {
    if (origin === 'background' && input.messages.length === 0 && input.regenerateAfter === undefined) return false
    first.push(INTERRUPTED)
  }
  const notes: ContentBlock[] = first.length === 0 ? [] : [{ type: 'text', text: first.join('\n\n') }]
  await held.refresh()
  // A command has to stand at the beginning.
  prompt(working, command === null ? [...notes, ...blocks] : [...blocks, ...notes])
  return true
}

/** Calls of a program that has ended: this one asks again. */
async function closeForgotten(working: Working): Promise<void> {
  for (const call of await leftOpen(working)) {
    const approval = working.decided.find((one) => one.approval.callId === call.id)?.approval
    const isRefused = approval?.status === 'rejected' || approval?.status === 'expired'
    const content = isRefused ? refusalOf(approval) : 'The agent’s program ended before it said what came of this.'
    await finishWith(working, call.id, { content, isError: true })
  }
}

/** The program stops, and hears something else next. */
async function breakOff({ held, teller }: Working): Promise<void> {
  await held.talk.cancel()
  await teller.closeCalls('It was broken off, and the agent’s program does not say how far it came.')
}

function prompt({ held, handed }: Working, blocks: readonly ContentBlock[]): void {
  handed.isDue = true
  held.talk.prompt(blocks)
}

/** It does something, so it has heard its prompt, with what operators sent and the notes that were kept for it. Until then all that is told again. */
async function noteHeard({ deps, held, handed }: Working): Promise<void> {
  handed.isDue = false
  const { instructions, nudge } = handed
  await deps.takeStep(held.session.id, ({ session: { supervision: now } }) => ({
    deliver: instructions,
    supervision: {
      ...(nudge === null || now.openNudge !== nudge ? {} : { openNudge: null }),
      ...(now.hosted?.notes === undefined ? {} : { hosted: { acpSession: now.hosted.acpSession } }),
    },
  }))
}

const TAKEN_BACK =
  'This conversation goes back to an earlier point. What was said after that counts no longer, but files are as you left them. It goes on with this message:'

const INTERRUPTED =
  'You were interrupted while you worked on the last message. Look at what is done, and go on from there. Ask again for what was not allowed yet.'

/** What operators have sent meanwhile. It counts as delivered once the program has it, and the log shows it. */
async function takeInstructions({ deps, held, lane: { writer }, nudges, handed }: Working): Promise<string[]> {
  const { id, owner, supervision } = held.session
  const [now, steering, tasks] = await Promise.all([
    deps.store.sessions.get(id),
    deps.store.supervised.instructions({ sessionId: id, isWaiting: true, limit: MOST_INSTRUCTIONS }),
    deps.store.supervised.instructions({
      kind: 'task',
      workspace: { owner, root: supervision.workspaceRoot },
      isWaiting: true,
      limit: MOST_INSTRUCTIONS,
    }),
  ])
  const found = [...tasks, ...steering.filter((one) => tasks.every((task) => task.id !== one.id))]
  const nudge = now?.supervision?.openNudge ?? null
  Object.assign(handed, { instructions: found.map((one) => one.id), nudge })
  for (const { id: instruction, kind, text, source } of found) {
    writer.emit(activityEvent(instruction, kind, { text, by: source }, writer.timestamp()))
  }
  return [
    ...found.map(
      ({ kind, text, source }) => `${kind === 'task' ? 'A task' : 'A message'} from your operator (${source}): ${text}`,
    ),
    // One that woke it up has been said.
    ...(nudge === null || nudges.has(nudge) ? [] : [nudge]),
  ]
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
    if (working.handed.isDue && isWork(said)) await noteHeard(working)
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

/** What a program can choose from and where it stands it may tell at any time. */
const isWork = (said: Said): boolean =>
  said.type === 'update' ? WORK.has(said.update.sessionUpdate) : said.type !== 'failed'

const WORK: ReadonlySet<SessionUpdate['sessionUpdate']> = new Set([
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
])

const isStillAsked = (requests: readonly OpenRequest[], wait: AnyRecord): boolean =>
  requests.some(({ approvalId }) => approvalId === wait.id)

/** A nudge of the stall watch stops a program that has hung, and asks it again. */
async function heardOrNudged(working: Working) {
  const { deps, held, lane, nudges } = working
  const { signal } = lane.scope
  for (;;) {
    const nudge = held.takeNudge()
    if (nudge !== null) {
      nudges.add(nudge)
      lane.writer.emit(activityEvent(deps.ids.uuid(), 'nudge', { message: nudge }, lane.writer.timestamp()))
      await breakOff(working)
      held.talk.prompt([{ type: 'text', text: nudge }])
    }
    const said = await held.next(signal)
    if (said !== null) return said
  }
}

async function askChanges(working: Working): Promise<LoopEnd> {
  const set = await working.held.changes()
  const asked = set === null ? null : await proposeChanges(working, set)
  return asked ?? answered(working.teller, 'end_turn')
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
