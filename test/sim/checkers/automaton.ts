// A run is one RUN_STARTED, a grammatical stream and one terminal event that agrees with its record; runs take turns.

import type { RunEvent } from '../../../src/domain/session/event.ts'
import { isFinished, type RunRecord } from '../../../src/domain/session/run.ts'
import { type Checker, entriesOf, eventsIn, type SessionEvidence } from '../evidence.ts'
import { checkGrammar } from './grammar.ts'

export const automaton: Checker = {
  name: 'automaton',
  check: ({ sessions }) =>
    [...sessions.values()].flatMap((session) => [
      ...session.runs.flatMap((run) => checkRun(session, run).map((problem) => `run ${run.id}: ${problem}`)),
      ...checkTurns(session),
      ...checkSequence(session),
    ]),
}

function checkRun({ log, stored }: SessionEvidence, run: RunRecord): string[] {
  if (!isFinished(run.status)) return []
  const entries = entriesOf(log, run.id).filter(({ kind }) => kind === 'event')
  const events = eventsIn(entries)
  const problems = checkGrammar(events)
  const compacted = eventsIn(entriesOf(stored, run.id))
  if (compacted.length !== events.length) {
    problems.push(...checkGrammar(compacted).map((problem) => `after compaction ${problem}`))
  }
  problems.push(...checkTimes(events))
  const last = events.at(-1)
  if (last === undefined || !statusesOf(last).includes(run.status)) {
    problems.push(`its status is ${run.status} and its last event ${JSON.stringify(last)}`)
  }
  if (last?.type === 'RUN_ERROR' && last.code !== run.error?.code) {
    problems.push(`its error is ${run.error?.code} and its event says ${last.code}`)
  }
  // A run that waited had its last event before the request to cancel it.
  const ends = [entries.at(-1)?.seq, entriesOf(log, run.id).at(-1)?.seq]
  if (run.firstSeq !== entries[0]?.seq || !ends.slice(0, waited(last) ? 2 : 1).includes(run.lastSeq ?? undefined)) {
    problems.push(
      `its record says ${run.firstSeq} to ${run.lastSeq}; its events are ${entries[0]?.seq} to ${entries.at(-1)?.seq}`,
    )
  }
  const after = entriesOf(log, run.id).filter(({ seq }) => seq > (run.lastSeq ?? 0))
  if (after.length > 0) problems.push(`${after.length} of its entries come after its end`)
  if (run.leaseOwner !== null) problems.push('it has ended and still has an owner')
  return problems
}

/** It ended on the wire, and what became of it was decided later. */
const waited = (event: RunEvent | undefined): boolean =>
  event?.type === 'RUN_FINISHED' &&
  (event.outcome?.type === 'interrupt' ||
    (event.outcome?.type === 'success' && event.outcome.pendingToolCallIds !== undefined))

/** What the record of a run that has ended for good may say behind such an event. */
function statusesOf(event: RunEvent): RunRecord['status'][] {
  if (waited(event)) return ['completed', 'cancelled']
  if (event.type === 'RUN_FINISHED') {
    if (event.outcome?.type === 'success') return ['completed']
    return event.outcome?.type === 'cancelled' ? ['cancelled'] : []
  }
  if (event.type !== 'RUN_ERROR') return []
  return [event.code === 'interrupted' || event.code === 'needs_review' ? 'interrupted' : 'failed']
}

/**
 * Whatever the wall clock does, an agent's events never go back in time; but for the results of parallel calls, of which one
 * that could not be committed at first is written after the others, with the time at which it came. So it is with agents that
 * work side by side.
 */
function checkTimes(events: readonly RunEvent[]): string[] {
  const ordered = events.filter(({ type }) => type !== 'TOOL_CALL_RESULT')
  const byAgent = Map.groupBy(ordered, (event) => ('subagentRunId' in event ? event.subagentRunId : undefined))
  return [...byAgent.values()].flatMap((own) => {
    const times = own.map(({ timestamp }) => timestamp ?? 0)
    const back = times.findIndex((time, i) => time < (times[i - 1] ?? 0))
    if (back === -1) return []
    const ms = (times[back - 1] ?? 0) - (times[back] ?? 0)
    return [`${own[back]?.type} is ${ms} ms before the event before it`]
  })
}

/** A run that was cancelled while it was queued never had a turn; its two events stand wherever it was. */
function checkTurns({ id, log, runs }: SessionEvidence): string[] {
  const neverBegan = new Set(runs.filter(({ startedAt }) => startedAt === null).map((run) => run.id))
  let current: string | null = null
  for (const { kind, seq, runId, data } of log) {
    if (kind !== 'event' || (runId !== null && neverBegan.has(runId))) continue
    if (current !== null && current !== runId)
      return [`session ${id}: at ${seq} run ${runId} speaks in the turn of ${current}`]
    current = data.startsWith('{"type":"RUN_FINISHED"') || data.startsWith('{"type":"RUN_ERROR"') ? null : runId
  }
  return []
}

function checkSequence({ id, log }: SessionEvidence): string[] {
  const wrong = log.find(({ seq }, i) => seq <= (log[i - 1]?.seq ?? 0))
  return wrong === undefined ? [] : [`session ${id}: seq ${wrong.seq} does not grow`]
}
