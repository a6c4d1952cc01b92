// Sessions of agents elsewhere, step by step as they were written: records change only as their states allow, nothing changes after its
// end, the limits hold, and the log shows exactly what waits.

import { isSupervised, isWaiting, type SupervisedRecord } from '../../../src/domain/records/record.ts'
import type { RunEvent } from '../../../src/domain/session/event.ts'
import type { SessionRecord } from '../../../src/domain/session/session.ts'
import type { Supervision } from '../../../src/domain/supervision/supervision.ts'
import type { Supervise } from '../../../src/store/ports/supervised.ts'
import type { ElsewhereWorld } from '../elsewhere/world.ts'
import type { Checker } from '../evidence.ts'
import { applyCommand } from '../memory/apply-command.ts'
import type { MemoryDisk } from '../memory/memory-disk.ts'
import { createMemoryState, type MemoryState, reopenState } from '../memory/memory-state.ts'

export const elsewhereRecords: Checker = {
  name: 'elsewhere-records',
  check({ disk, elsewhere }) {
    if (elsewhere === null) return []
    const problems: string[] = []
    walk(disk, (step) => {
      for (const check of [checkStates, checkSession, checkPending, checkLimits, checkShown, checkStall]) {
        for (const problem of check(step, elsewhere)) problems.push(`session ${step.command.sessionId}: ${problem}`)
      }
    })
    return [...problems, ...checkContinues(disk)]
  },
}

/** One step of one session, with what it changed. */
interface Step {
  command: Supervise
  state: MemoryState
  before: Moment
  after: Moment
}

interface Moment {
  session: (SessionRecord & { supervision: Supervision }) | null
  waits: ReadonlyMap<string, SupervisedRecord>
}

/** Writes everything again, and shows each step of a supervised session that the store took. */
function walk(disk: MemoryDisk, look: (step: Step) => void): void {
  const state = createMemoryState()
  for (const batch of disk.batches) {
    state.batches += 1
    if (batch === 'opened') reopenState(state)
    for (const command of batch === 'opened' ? [] : batch) {
      if (command.type !== 'supervise') applyCommand(state, command)
      else {
        const before = momentOf(state, command.sessionId)
        if (applyCommand(state, command).ok) look({ command, state, before, after: momentOf(state, command.sessionId) })
      }
    }
  }
}

function momentOf(state: MemoryState, sessionId: string): Moment {
  const record = state.sessions.get(sessionId)?.record
  const waits = [...state.waits.values()].filter((wait) => wait.sessionId === sessionId).filter(isSupervised)
  return {
    session: record?.supervision === undefined ? null : { ...record, supervision: record.supervision },
    waits: new Map(waits.map((wait) => [wait.id, wait])),
  }
}

// Not read from the table of record kinds: it is what the table is checked against.
const allowed: Readonly<Record<SupervisedRecord['wait'], readonly string[]>> = {
  approval: [
    'pending approved',
    'approved consumed',
    'pending rejected',
    'pending expired',
    'pending interrupted',
    'approved interrupted',
  ],
  prompt: ['pending decided', 'pending interrupted'],
  standby: ['pending resumed', 'pending timeout', 'pending interrupted'],
  alert: [
    ...['pending nudged', 'pending self_recovered', 'pending escalated', 'pending dismissed'],
    ...[
      'nudged self_recovered',
      'nudged escalated',
      'nudged dismissed',
      'escalated self_recovered',
      'escalated dismissed',
    ],
  ],
}

/** What was answered, and by whom. It stands for ever. */
const answerOf = (wait: SupervisedRecord): string =>
  JSON.stringify([
    ...[wait.decidedAt, wait.decidedBy, wait.decidedVia, wait.reason],
    ...('instruction' in wait ? [wait.instruction] : []),
    ...(wait.wait === 'prompt' ? [wait.decision] : []),
    ...(wait.wait === 'approval' ? [wait.digest, wait.editedArguments, wait.supervised.mayForce] : []),
  ])

function checkStates({ before, after }: Step): string[] {
  return [...after.waits.values()].flatMap((wait) => {
    const old = before.waits.get(wait.id)
    const what = `${wait.wait} ${wait.id}`
    if (old === undefined) return []
    const isMove = old.status !== wait.status
    if (isMove && !allowed[wait.wait].includes(`${old.status} ${wait.status}`))
      return [`${what} went from ${old.status} to ${wait.status}`]
    if (wait.wait === 'alert' || isWaiting(old)) return []
    return answerOf(old) === answerOf(wait)
      ? []
      : [`the answer of ${what} changed from ${answerOf(old)} to ${answerOf(wait)}`]
  })
}

const nextStatus: Readonly<Record<string, readonly string[]>> = {
  created: ['active', 'terminated', 'interrupted'],
  active: ['paused', 'terminated', 'interrupted'],
  paused: ['active', 'terminated', 'interrupted'],
  interrupted: ['active', 'terminated'],
}

function checkSession({ before: { session: old }, after: { session, waits } }: Step): string[] {
  if (session === null) return ['it is gone']
  const { status, version, workspaceRoot, terminatedAt, updatedAt } = session.supervision
  const problems: string[] = []
  const isOver = status === 'terminated' || status === 'interrupted'
  if (isOver !== (terminatedAt !== null)) problems.push(`it is ${status}, and was terminated at ${terminatedAt}`)
  const left = [...waits.values()].filter(isWaiting)
  if (isOver && left.length > 0) problems.push(`it is ${status}, and ${left.map(({ id }) => id)} still wait`)
  if (old === null) return problems
  const { supervision: was } = old
  if (status !== was.status && !nextStatus[was.status]?.includes(status))
    problems.push(`it went from ${was.status} to ${status}`)
  if (version !== was.version + 1) problems.push(`its version went from ${was.version} to ${version}`)
  if (workspaceRoot !== was.workspaceRoot) problems.push('its workspace changed')
  if (updatedAt < was.updatedAt) problems.push(`its last activity went back by ${was.updatedAt - updatedAt} ms`)
  return problems
}

function checkPending({ after: { waits } }: Step): string[] {
  const open = [...waits.values()].filter(isWaiting)
  const diffs = open.filter((wait) => wait.wait === 'approval' && wait.kind === 'diff')
  const permissions = open.filter((wait) => wait.wait === 'approval' && wait.kind === 'permission')
  const alerts = open.filter(({ wait }) => wait === 'alert')
  const contents = open.flatMap((wait) => ('contentKey' in wait.supervised ? [wait.supervised.contentKey] : []))
  return [
    ...(diffs.length > 1 ? [`${diffs.length} changes wait`] : []),
    ...(permissions.length > 16 ? [`${permissions.length} permissions wait`] : []),
    ...(alerts.length > 1 ? [`${alerts.length} alerts are active`] : []),
    ...(new Set(contents).size < contents.length ? ['the same question waits twice'] : []),
  ]
}

function checkLimits({ state, after: { session } }: Step, { maxOpen }: ElsewhereWorld): string[] {
  const open = [...state.sessions.values()].flatMap(({ record: { supervision } }) =>
    supervision !== undefined && ['created', 'active', 'paused'].includes(supervision.status) ? [supervision] : [],
  )
  const connections = open.flatMap(({ connectionId, tokenId }) =>
    connectionId === null ? [] : [`${tokenId} ${connectionId}`],
  )
  const steering = [...state.instructions.values()].filter(
    ({ kind, sessionId, deliveredAt }) => kind === 'steering' && sessionId === session?.id && deliveredAt === null,
  )
  return [
    ...(open.length > maxOpen ? [`${open.length} sessions are open, and ${maxOpen} are allowed`] : []),
    ...(new Set(connections).size < connections.length ? ['one connection has two open sessions'] : []),
    ...(steering.length > 50 ? [`${steering.length} steering messages wait`] : []),
  ]
}

/** A run that ends with questions lists exactly those that wait. While a question waits, no run is open. */
function checkShown({ command, after: { session, waits } }: Step): string[] {
  const questions = [...waits.values()].filter((wait) => isWaiting(wait) && wait.wait !== 'alert').map(({ id }) => id)
  const problems: string[] = []
  if (questions.length > 0 && session?.supervision.openRun !== null)
    problems.push(`${questions} wait while a run is open`)
  for (const { data } of command.entries ?? []) {
    const event: RunEvent = JSON.parse(data)
    if (event.type !== 'RUN_FINISHED' || event.outcome?.type !== 'interrupt') continue
    const shown = event.outcome.interrupts.map(({ id }) => id)
    if (shown.toSorted().join() !== questions.toSorted().join())
      problems.push(`the log says that ${shown} wait; it is ${questions}`)
  }
  return problems
}

function checkStall({ command, before, after }: Step): string[] {
  const news = [...after.waits.values()].filter(({ id, wait }) => wait === 'alert' && !before.waits.has(id))
  const questions = [...before.waits.values()].filter((wait) => isWaiting(wait) && wait.wait !== 'alert')
  const { status, stallPaused } = before.session?.supervision ?? {}
  const isCall = command.entries?.some(({ data }) => data.startsWith('{"type":"TOOL_CALL_START"')) === true
  const active = [...after.waits.values()].filter((wait) => wait.wait === 'alert' && isWaiting(wait))
  return [
    ...(news.length > 0 && (questions.length > 0 || status !== 'active' || stallPaused === true)
      ? [`an alert was made while the session was ${status} and ${questions.length} questions waited`]
      : []),
    ...(isCall && active.length > 0 ? ['the agent called, and its alert stays'] : []),
  ]
}

/** Without a person an agent goes on three times in a row at most, and never after an error. */
function checkContinues(disk: MemoryDisk): string[] {
  const alone = new Map<string, number>()
  const problems: string[] = []
  walk(disk, ({ command: { sessionId }, before, after }) => {
    for (const wait of after.waits.values()) {
      const isNew = before.waits.get(wait.id)?.status === 'pending' && wait.status !== 'pending'
      if (!isNew || (wait.wait !== 'prompt' && wait.wait !== 'standby')) continue
      if (wait.decidedBy === 'ann') alone.set(sessionId, 0)
      if (wait.wait !== 'prompt' || wait.decidedBy !== 'timeout' || wait.decision !== 'continue') continue
      const count = (alone.get(sessionId) ?? 0) + 1
      alone.set(sessionId, count)
      if (count > 3) problems.push(`session ${sessionId} went on ${count} times without a person`)
      if (wait.promptType !== 'continuation') problems.push(`${wait.promptType} ${wait.id} went on by itself`)
    }
  })
  return problems
}
