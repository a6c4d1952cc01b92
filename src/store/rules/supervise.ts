// The state machine of supervised sessions and of the records that belong to them.

import { ServerError, sessionNotFound } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import { answeredRecord } from '../../domain/records/answered-record.ts'
import {
  type AnyRecord,
  isAsked,
  isHostApproval,
  isSupervised,
  isWaiting,
  recordMayBecome,
  type SupervisedRecord,
} from '../../domain/records/record.ts'
import { type OpenLimits, refuseOneMore } from '../../domain/session/open-limits.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import {
  type Instruction,
  isOpen,
  MOST_PERMISSIONS,
  MOST_PROMPTS,
  MOST_STEERING,
  MOST_TASKS,
  mayBecome,
  type Supervision,
} from '../../domain/supervision/supervision.ts'
import type { RecordChange, Supervise } from '../ports/supervised.ts'
import { conflict, taken } from './find-rows.ts'
import { ask, type Change, type Decision, type Rule } from './rows.ts'
import { appendTo, grantGone, stopRuns } from './run-rules.ts'
import { grantsOf, interruptWait } from './wait-change.ts'

export function* supervise(command: Supervise): Rule<Decision> {
  const before = command.create === undefined ? yield* findSupervised(command) : yield* newSession(command.create)
  const session = changed(before, command)
  const isNew = command.create !== undefined
  if (command.maxOpen !== undefined) yield* refuseBeyond(isNew ? null : before, session, command.maxOpen)
  const changes: Change[] = isNew
    ? [{ write: 'insert_session', session }]
    : [{ write: 'update_supervision', before, session }]
  const pending = yield* ask('pendingRecords', command.sessionId)
  const settled = yield* settle(changes, command)
  yield* remember(changes, command)
  const stays = pending.filter(({ id }) => !settled.has(id))
  const ends = hasEnded(before, session)
  if (ends || session.owner !== before.owner) changes.push({ write: 'end_session_grants', sessionId: session.id })
  if (ends) for (const wait of stays) changes.push(update(wait, interruptWait(wait, command.now)))
  else if (command.owner !== undefined)
    for (const wait of stays) changes.push(update(wait, { ...wait, owner: session.owner }))
  const { hosted, status } = session.supervision ?? {}
  if (ends && hosted !== undefined && status === 'terminated') yield* stopRuns(changes, session.id, command.now)
  if (command.ask?.some((wait) => !isOfWorkspace(wait))) refuseAfterEnd(session)
  yield* askFor(changes, command, stays)
  for (const proposal of command.proposals ?? [])
    changes.push({ write: 'put_proposal', sessionId: session.id, proposal })
  yield* instruct(changes, command, session)
  for (const checkpoint of command.checkpoints ?? []) changes.push({ write: 'insert_checkpoint', checkpoint })
  if (command.pin !== undefined) changes.push({ write: 'put_pin', pin: command.pin })
  const { entries = [], runId, audit = [] } = command
  if (runId === undefined && entries.some(({ kind }) => kind === 'event')) {
    throw new Error('Events of a supervised session need a run.')
  }
  const firstSeq = yield* appendTo(changes, { sessionId: session.id, id: runId ?? null }, entries)
  if (audit.length > 0) changes.push({ write: 'add_audit', records: audit })
  return { result: { ok: true, firstSeq, session }, changes }
}

function* newSession(session: SessionRecord): Rule<SessionRecord> {
  if (session.supervision === undefined) throw new Error('A supervised session needs its supervision.')
  if ((yield* ask('session', session.id)) !== null) throw taken('session', session.id)
  return session
}

/** Throws `limit` if the session would become one more of its owner's open ones and there are too many. */
function* refuseBeyond(before: SessionRecord | null, session: SessionRecord, most: OpenLimits): Rule<void> {
  const { owner, supervision } = session
  const counts = supervision !== undefined && isOpen(supervision)
  const counted = before?.supervision !== undefined && isOpen(before.supervision)
  if (!counts || (counted && before.owner === owner)) return
  refuseOneMore(owner, yield* ask('openSupervised'), counted ? { ...most, total: null } : most)
}

function* findSupervised({ sessionId, version }: Supervise): Rule<SessionRecord> {
  const session = yield* ask('session', sessionId)
  if (session?.supervision === undefined || session.status === 'terminated') throw sessionNotFound(sessionId)
  if (session.supervision.version !== version) {
    throw conflict(`Session ${sessionId} has changed meanwhile. Read it again, then try again.`)
  }
  return session
}

function changed(before: SessionRecord, { supervision: patch = {}, create, owner, now }: Supervise): SessionRecord {
  const { supervision: old } = before
  if (old === undefined) throw new Error('The session has no supervision.')
  const { status = old.status } = patch
  if (status !== old.status && !mayBecome(old.status, status)) {
    throw new ServerError('conflict', `A session that is ${old.status} cannot become ${status}.`, {
      details: { status: old.status },
    })
  }
  const ends = status === 'terminated' || status === 'interrupted'
  const terminatedAt = status === old.status ? old.terminatedAt : ends ? now : null
  // Nobody but its operator wakes a paused session, and a call wakes an interrupted one.
  const held = status === 'interrupted' && (old.status === 'paused' || old.held === true)
  const { held: _, ...rest } = old
  const supervision: Supervision = {
    ...rest,
    ...patch,
    ...present({ held: held || undefined }),
    terminatedAt,
    version: create === undefined ? old.version + 1 : 1,
  }
  return {
    ...before,
    owner: owner ?? before.owner,
    lastActivity: Math.max(before.lastActivity, now),
    lastTool: supervision.lastTool,
    supervision,
  }
}

const hasEnded = (before: SessionRecord, { supervision }: SessionRecord): boolean =>
  supervision !== undefined &&
  before.supervision?.status !== supervision.status &&
  (supervision.status === 'terminated' || supervision.status === 'interrupted')

/** No agent asks it, so it needs none that works. */
const isOfWorkspace = (wait: SupervisedRecord): boolean =>
  (wait.wait === 'approval' && wait.kind === 'policy') || (wait.wait === 'alert' && wait.signIn !== undefined)

/** The agent may be about to ask at the moment when its session ends. */
function refuseAfterEnd({ id, supervision }: SessionRecord): void {
  if (supervision?.status !== 'terminated' && supervision?.status !== 'interrupted') return
  throw new ServerError('session_ended', `Session ${id} has ended. Begin a new one.`, { details: { session_id: id } })
}

const update = (before: AnyRecord, wait: AnyRecord): Change => ({ write: 'update_wait', before, wait })

/** Adds the changed records. Returns the ids of those that do not wait any more. */
function* settle(changes: Change[], { sessionId, settle: asked = [] }: Supervise): Rule<Set<string>> {
  const settled = new Set<string>()
  for (const { id, patch, answer } of asked) {
    const before = yield* ask('wait', id)
    const isOfRun = before !== null && isHostApproval(before) && before.supervised.run === true
    if (before === null || !(isSupervised(before) || isHostApproval(before)) || before.sessionId !== sessionId) {
      throw new ServerError('record_not_found', `This session has no record ${JSON.stringify(id)}.`)
    }
    const refused = (why: string) =>
      new ServerError('conflict', `${id} ${why}`, { details: { id, status: before.status } })
    const patched = withPatch(before, patch)
    // A run waits for it, so an answer comes with the run that continues.
    if (isOfRun && (answer !== undefined || patched.status !== before.status)) {
      throw refused('waits in a run of ours: answer it, and the run continues.')
    }
    const wait = answer === undefined ? patched : answeredRecord(patched, answer, null)
    if (wait === null) throw refused(`is ${before.status} and cannot take this answer.`)
    if (answer === undefined && needsAnswer(before, wait.status)) {
      throw refused(`can become ${wait.status} only with an answer.`)
    }
    if (wait.status !== before.status && !recordMayBecome(before, wait.status)) {
      throw refused(`is ${before.status}, so it cannot become ${wait.status}.`)
    }
    changes.push(update(before, wait))
    if (!isWaiting(wait)) settled.add(id)
  }
  return settled
}

/** What this step remembers, goes by and forgets. A grant comes with the answer that gave it, or not at all. */
function* remember(changes: Change[], { grant, uses = [], forget = [] }: Supervise): Rule<void> {
  for (const id of uses) if (!(yield* ask('hasGrant', id))) throw grantGone(id)
  if (grant !== undefined) {
    const settled = changes.flatMap((change) => (change.write === 'update_wait' ? [change.wait] : []))
    if (grantsOf(settled, [grant]).length === 0)
      throw conflict(`The answer to ${grant.approvalId} decides nothing yet.`)
    changes.push({ write: 'put_grant', grant })
  }
  for (const id of forget) changes.push({ write: 'remove_grant', id })
}

/** Only an answer decides an approval: it says who decided, and a quorum is counted. */
const needsAnswer = ({ wait, status }: SupervisedRecord, next: SupervisedRecord['status']): boolean =>
  wait === 'approval' && status === 'pending' && (next === 'approved' || next === 'rejected')

/** A record keeps its id, its session, and the messages that announced it. */
function withPatch(before: SupervisedRecord, patch: RecordChange['patch']): SupervisedRecord {
  const { wait, id, sessionId, owner, messageRefs, createdAt } = before
  return { ...before, ...patch, wait, id, sessionId, owner, messageRefs, createdAt } as SupervisedRecord
}

function* askFor(changes: Change[], command: Supervise, pending: readonly SupervisedRecord[]): Rule<void> {
  const open = [...pending]
  for (const wait of command.ask ?? []) {
    if ((yield* ask('wait', wait.id)) !== null) throw taken('record', wait.id)
    // A policy may have decided already. Then nobody is asked, and nothing is in the way.
    if (isWaiting(wait)) {
      refuseRival(open, wait)
      open.push(wait)
    }
    changes.push({ write: 'insert_wait', wait })
  }
}

function refuseRival(open: readonly SupervisedRecord[], wait: SupervisedRecord): void {
  const rival = open.find((one) => excludes(one, wait))
  if (rival !== undefined) {
    throw wait.wait === 'approval'
      ? new ServerError(
          'approval_pending',
          `This session already waits for the approval ${rival.id}. Wait for its answer, then ask again.`,
          { details: { request_id: rival.id } },
        )
      : conflict(`This session already has the ${wait.wait} ${rival.id}.`)
  }
  const permissions = open.filter((one) => one.wait === 'approval' && one.kind === 'permission')
  if (wait.wait === 'approval' && wait.kind === 'permission' && permissions.length >= MOST_PERMISSIONS) {
    throw new ServerError('limit', `${MOST_PERMISSIONS} questions of this session wait already. Wait for an answer.`)
  }
  if (isPrompt(wait) && open.filter(isPrompt).length >= MOST_PROMPTS) {
    throw new ServerError('limit', `${MOST_PROMPTS} prompts of this session wait already. Wait for an answer.`)
  }
}

/** What an agent asks in its own words. */
const isPrompt = (record: SupervisedRecord): boolean => isAsked(record) && record.wait !== 'approval'

/** A session has one open `diff`, and one open record of each kind that the server raises by itself. */
const excludes = (one: SupervisedRecord, other: SupervisedRecord): boolean =>
  one.wait === other.wait &&
  (!isAsked(one) ||
    (one.wait === 'approval' && other.wait === 'approval' && one.kind === 'diff' && other.kind === 'diff'))

function* instruct(changes: Change[], command: Supervise, session: SessionRecord): Rule<void> {
  const { instructions = [], deliver = [], now } = command
  for (const kind of ['steering', 'task'] as const) {
    const added = instructions.filter((one) => one.kind === kind)
    const [first] = added
    if (first === undefined) continue
    const most = kind === 'steering' ? MOST_STEERING : MOST_TASKS
    if ((yield* ask('waitingInstructions', first)).length + added.length > most) {
      const what = kind === 'steering' ? 'messages wait for this agent' : 'tasks wait in this workspace'
      throw new ServerError('limit', `${most} ${what} already. They are handed over when the agent calls next.`)
    }
    for (const instruction of added) changes.push({ write: 'insert_instruction', instruction })
  }
  for (const id of deliver) {
    const instruction: Instruction | null = yield* ask('instruction', id)
    if (instruction === null || instruction.deliveredAt !== null) continue
    const taken = { ...instruction, sessionId: session.id, deliveredAt: now }
    changes.push({ write: 'update_instruction', instruction: taken })
  }
}
