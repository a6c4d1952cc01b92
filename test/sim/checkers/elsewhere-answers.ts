// What agents elsewhere and their operators were told is true and stays true: an answer by id is always the same, whoever won did win,
// the trail has each decision once, steering was handed over before it counts as delivered, and files are as somebody allowed.

import {
  isOfCodingAgent,
  isSupervised,
  isSupervisedApproval,
  type SupervisedRecord,
} from '../../../src/domain/records/record.ts'
import type { RunEvent } from '../../../src/domain/session/event.ts'
import type { AuditRecord } from '../../../src/domain/supervision/audit.ts'
import type { OperatorAct } from '../elsewhere/operators.ts'
import { type Checker, type Evidence, eventsIn } from '../evidence.ts'
import { replay } from '../memory/memory-disk.ts'
import { auditRecords } from './audit.ts'
import { checkGrammar } from './grammar.ts'

export const elsewhereAnswers: Checker = {
  name: 'elsewhere-answers',
  check(evidence) {
    const commanded = evidence.elsewhere !== null || evidence.hosted !== null ? [checkActs, checkTrail] : []
    const asked = evidence.elsewhere !== null ? [checkAnswers, checkInstructions, checkLogs, checkFiles] : []
    return [...commanded, ...asked].flatMap((check) => check(evidence))
  },
}

const idNames: Readonly<Record<string, string>> = {
  forward_prompt: 'prompt_id',
  wait_for_instruction: 'wait_id',
  ask_approval: 'request_id',
}

const supervisedIn = ({ waits }: Evidence): SupervisedRecord[] => [...waits.values()].filter(isSupervised)

/** Whatever an agent was told about a question is what the record says, at every time. */
function checkAnswers(evidence: Evidence): string[] {
  return evidence.history.elsewhere.calls.flatMap(({ tool, answer }) => {
    const idName = idNames[tool]
    if (idName === undefined || answer === null || answer.isError) return []
    const id = String(answer.answer[idName])
    const wait = evidence.waits.get(id)
    if (wait === undefined || !isSupervised(wait)) return [`${tool} was told of ${id}, and there is no such record`]
    if (answer.answer.status === 'pending') return []
    const told = JSON.stringify([
      answer.answer.status,
      answer.answer.decision,
      answer.answer.instruction,
      answer.answer.reason,
    ])
    const kept = JSON.stringify(answerIn(wait))
    return told === kept ? [] : [`${tool} was told ${told} about ${id}, and the record says ${kept}`]
  })
}

/** status, decision, instruction and reason, in the words of the tool. */
function answerIn(wait: SupervisedRecord): unknown[] {
  const { status, reason } = wait
  const said = reason ?? undefined
  switch (wait.wait) {
    case 'prompt':
      return status === 'interrupted'
        ? [undefined, 'stop', undefined, 'cancelled']
        : [undefined, wait.decision, wait.instruction ?? undefined, said]
    case 'standby':
      return status === 'interrupted'
        ? ['resumed', undefined, 'stop', undefined]
        : [status, undefined, wait.instruction, undefined]
    case 'approval': {
      const words: Record<string, string> = { consumed: 'approved', expired: 'timeout', interrupted: 'cancelled' }
      const byRule = wait.decidedBy === 'policy'
      return [words[status] ?? status, undefined, undefined, byRule ? undefined : said]
    }
    case 'alert':
      return []
  }
}

/** First answer wins: one winner for each record, and the record is as the winner wanted. */
function checkActs(evidence: Evidence): string[] {
  const { acts } = evidence.history.elsewhere
  const { instructions } = replay(evidence.disk)
  const texts = new Set([...instructions.values()].map(({ text }) => text))
  const won = acts.filter((act) => act.won === true)
  const winners = Map.groupBy(
    won.filter((act) => evidence.waits.get(act.id)?.wait !== 'alert' && evidence.waits.has(act.id)),
    ({ id }) => id,
  )
  return [
    ...[...winners]
      .filter(([, all]) => all.length > 1)
      .map(([id, all]) => `${id} was won by ${all.map(({ mark }) => mark)}`),
    ...won.flatMap((act) => checkWinner(evidence, act)),
    ...won
      .filter(({ what, mark }) => (what === 'steer' || what === 'task') && !texts.has(mark))
      .map(({ what, mark }) => `${what} ${mark} was acknowledged and is gone`),
    ...won
      .filter(({ what, id }) => what === 'terminate' && evidence.sessions.get(id)?.supervision?.status !== 'terminated')
      .map(({ id }) => `session ${id} was ended and is not over`),
  ]
}

function checkWinner({ waits }: Evidence, { what, id, mark }: OperatorAct): string[] {
  const wait = waits.get(id)
  if (wait === undefined || !isOfCodingAgent(wait) || wait.wait === 'alert') return []
  const wrong = [`${mark} won with ${what}, and the record says ${JSON.stringify(answerIn(wait))}`]
  if (wait.wait === 'standby') return wait.status === 'resumed' && wait.instruction === mark ? [] : wrong
  if (wait.reason !== mark) return wrong
  if (wait.wait === 'prompt') return wait.decision === what ? [] : wrong
  const isYes = wait.status === 'approved' || wait.status === 'consumed' || wait.status === 'interrupted'
  return (what === 'approve') === isYes && (what === 'reject') === (wait.status === 'rejected') ? [] : wrong
}

/** Each decision is in the trail once, with who made it. */
function checkTrail(evidence: Evidence): string[] {
  const decisions = Map.groupBy(
    auditRecords(evidence).filter(({ kind, details }) => kind === 'decision' && details.decision !== 'edited'),
    ({ details }: AuditRecord) => String(details.record ?? details.approval),
  )
  return supervisedIn(evidence).flatMap(({ wait, id, decidedBy, status }) => {
    // Of what the policy allows there is another record.
    const isDecision = decidedBy !== null && decidedBy !== 'policy'
    const found = decisions.get(id) ?? []
    const wanted = wait !== 'alert' && isDecision ? 1 : 0
    if (found.length !== wanted)
      return [`${wait} ${id} (${status} by ${decidedBy}) is ${found.length} times in the trail`]
    return found.every(({ by }) => by === decidedBy)
      ? []
      : [`the trail says that ${found[0]?.by} decided ${id}, not ${decidedBy}`]
  })
}

/** What counts as delivered was in a result before, and not only in results for callers who had gone. */
function checkInstructions({ disk, sessions, history, unfinished }: Evidence): string[] {
  const state = replay(disk)
  return [...state.instructions.values()].flatMap((one) => {
    const { id, kind, sessionId, deliveredAt } = one
    if (deliveredAt === null) return []
    const events = eventsIn(sessions.get(sessionId ?? '')?.log ?? [])
    const first = events.findIndex((event) => event.type === 'TOOL_CALL_RESULT' && String(event.content).includes(id))
    const callAfter = events.findIndex((event, i) => i > first && event.type === 'TOOL_CALL_START')
    if (first === -1 || callAfter === -1)
      return [`${kind} ${id} is delivered, and no result had it before the next call`]
    const carriers = history.elsewhere.calls.filter(
      ({ answer }) => answer !== null && JSON.stringify(answer).includes(id),
    )
    const reached = events.filter(
      (event) => event.type === 'TOOL_CALL_RESULT' && String(event.content).includes(id),
    ).length
    // A result whose answer nobody saw was on its way when the server died, and may have arrived.
    const isLost = carriers.length >= reached && carriers.every(({ isGone }) => isGone)
    return isLost && unfinished.length === 0
      ? [`${kind} ${id} is delivered, and only callers who had gone were told`]
      : []
  })
}

/** The log of a session is a chain of whole runs. The last one may be open. */
function checkLogs({ sessions }: Evidence): string[] {
  return [...sessions.values()].flatMap(({ id, log, supervision }) => {
    if (supervision === null) return []
    const runs = Map.groupBy(log, ({ runId }) => runId ?? '')
    const problems: string[] = []
    let parent: string | undefined
    for (const [runId, entries] of runs) {
      const events = eventsIn(entries)
      const [start] = events
      const last = events.at(-1)
      const isEnded = last?.type === 'RUN_FINISHED' || last?.type === 'RUN_ERROR'
      if (isEnded === (supervision.openRun === runId))
        problems.push(`run ${runId} ends with ${last?.type}, and ${supervision.openRun} is open`)
      if (start?.type !== 'RUN_STARTED' || start.parentRunId !== parent)
        problems.push(`run ${runId} does not follow ${parent}`)
      problems.push(...checkGrammar(events))
      parent = runId
    }
    return [...problems, ...checkResults(eventsIn(log))].map((problem) => `session ${id}: ${problem}`)
  })
}

/** Each call has one start, and at most one result, after it. */
function checkResults(events: readonly RunEvent[]): string[] {
  const open = new Set<string>()
  return events.flatMap((event) => {
    if (event.type === 'TOOL_CALL_START') open.add(event.toolCallId)
    if (event.type !== 'TOOL_CALL_RESULT' || open.delete(event.toolCallId)) return []
    return [`call ${event.toolCallId} has a result without a call before it, or two`]
  })
}

/** Every write was allowed and happened once. What is used up was written, or the record says why not. */
function checkFiles(evidence: Evidence): string[] {
  const writes = evidence.elsewhere?.files.writes ?? []
  const used = supervisedIn(evidence)
    .filter(isSupervisedApproval)
    .filter(({ kind, status }) => kind === 'diff' && status === 'consumed')
  const allowedBy = Map.groupBy(used, ({ digest }) => digest)
  const byDigest = Map.groupBy(writes, ({ digest }) => digest)
  return [
    ...[...byDigest].flatMap(([digest, all]) => {
      const yeses = allowedBy.get(digest) ?? []
      return all.length <= yeses.length
        ? []
        : [`${all[0]?.path} was written ${all.length} times with ${yeses.length} approvals`]
    }),
    ...used.flatMap(({ id, digest, decidedBy, beforeHash, afterHash, supervised: { appliedAt, notApplied } }) => {
      if (decidedBy === null) return [`approval ${id} was used, and nobody gave it`]
      if (appliedAt === null && notApplied === undefined)
        return [`approval ${id} is used, and nobody knows whether it is written`]
      const isWritten = byDigest.has(digest) || beforeHash === afterHash
      return appliedAt !== null && !isWritten ? [`approval ${id} counts as written, and nothing was`] : []
    }),
  ]
}
