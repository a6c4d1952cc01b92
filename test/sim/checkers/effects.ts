// P7: the ledger of what really began against what the log says about it.

import type { RunRecord } from '../../../src/domain/session/run.ts'
import { MOST_DEATHS } from '../../../src/engine/recovery/death-count.ts'
import { type Checker, type Evidence, entriesOf, eventsIn, factsIn } from '../evidence.ts'
import type { ToolStart } from '../history.ts'

export const effects: Checker = {
  name: 'effects',
  check: (evidence) => {
    const { toolStarts, deletions } = evidence.history
    const kept = toolStarts.filter(({ sessionId }) => !deletions.includes(sessionId))
    const byCall = Map.groupBy(kept, ({ callId }) => callId)
    return [...byCall.values()].flatMap((starts) => checkCall(evidence, starts))
  },
}

function checkCall({ sessions, runs, history }: Evidence, starts: readonly ToolStart[]): string[] {
  const [first] = starts
  if (first === undefined) return []
  const { callId, tool, effect, runId, sessionId } = first
  const what = `${tool} (${callId})`
  const problems: string[] = []
  if (effect === 'once' && starts.length > 1)
    problems.push(`${what} may be started once and was started ${starts.length} times`)
  if (starts.some((start) => start.arguments !== first.arguments || start.tool !== tool)) {
    problems.push(`${what} was repeated with other arguments`)
  }
  if (new Set(starts.map(({ life }) => life)).size !== starts.length)
    problems.push(`${what} was started twice by one process`)
  const deadly = starts.filter(({ life }) => {
    const { end = null, isDraining } = history.lives.find(({ number }) => number === life) ?? {}
    return end !== null && end !== 'restarted' && isDraining !== true
  })
  if (deadly.length > MOST_DEATHS)
    problems.push(`${what} was started ${deadly.length} times, and the process died each time`)

  const log = entriesOf(sessions.get(sessionId)?.log ?? [], runId)
  if (!factsIn(log).some((fact) => fact.fact === 'tool_intent' && fact.call === callId)) {
    problems.push(`${what} was started without an intent in the log`)
  }
  const results = eventsIn(log).filter((event) => event.type === 'TOOL_CALL_RESULT' && event.toolCallId === callId)
  if (results.length > 1) problems.push(`${what} has ${results.length} results`)
  const run = runs.get(runId)
  if (results.every(isUnknown) && run !== undefined) problems.push(...checkNoResult(run, what, effect))
  const endedAt = history.ends.get(runId)
  const late = endedAt === undefined ? [] : starts.filter(({ at }) => at > endedAt)
  if (late.length > 0) problems.push(`${what} was started after its run had ended`)
  return problems
}

/** It says that nobody knows what the call did. */
const isUnknown = ({ metadata }: { metadata?: unknown }): boolean =>
  JSON.stringify(metadata ?? null) === '{"quarterdeck":{"status":"error","fate":"unknown"}}'

/** Nobody knows what it did: the run must not look as if it had gone well, and must not have gone on. */
function checkNoResult(run: RunRecord, what: string, effect: ToolStart['effect']): string[] {
  if (run.status === 'completed') return [`${what} began and has no result, and its run is completed`]
  if (effect === 'once' && run.status === 'interrupted' && run.error?.code === 'needs_review') {
    return run.error.message.includes(what) ? [] : [`the review that run ${run.id} needs does not name ${what}`]
  }
  return []
}
