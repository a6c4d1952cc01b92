// Counts how often the process died during the same call or step of a run. A tool or an answer that kills the process would
// kill it again at every start.

import type { Fact } from '../../domain/session/entry.ts'
import type { RunEvent } from '../../domain/session/event.ts'

/** A call or step during which the process died this often is not tried again. */
export const MOST_DEATHS = 2

/** Nobody knows which call or step caused a death, so it counts for all that were under way, and for none that had not begun. */
export function createDeathCount() {
  /** Calls that are under way in the current owner of the run, each with the lane that made it. */
  const calls = new Map<string, string | null>()
  const subagents = new Map<string, { lane: string; parent: string | undefined }>()
  const names = new Map<string, string>()
  const ofCalls = new Map<string, number>()
  const ofSteps = new Map<string | null, number>()
  /** The current owner was told to stop. If it dies now, the run did not cause that. */
  let isStopping = false

  const laneOf = (subagentRunId: string | undefined): string | null =>
    subagentRunId === undefined ? null : (subagents.get(subagentRunId)?.lane ?? null)

  function countDeath(): void {
    for (const call of calls.keys()) ofCalls.set(call, (ofCalls.get(call) ?? 0) + 1)
    const waiting = new Set([...calls.values(), ...subagents.values().map(({ parent }) => laneOf(parent))])
    // An agent that does not wait for a call is busy with the model: it asks, reads the answer or checks it.
    const lanes = [null, ...subagents.values().map(({ lane }) => lane)].filter((lane) => !waiting.has(lane))
    for (const lane of lanes) ofSteps.set(lane, (ofSteps.get(lane) ?? 0) + 1)
  }

  function seeFact(fact: Fact): void {
    switch (fact.fact) {
      case 'run_recovered':
        if (fact.died === true && !isStopping) countDeath()
        isStopping = false
        calls.clear()
        subagents.clear()
        break
      case 'stopping':
        isStopping = true
        break
      case 'tool_intent':
        calls.set(fact.call, fact.lane ?? null)
        ofSteps.delete(fact.lane ?? null)
        break
      case 'tool_suspended':
        calls.delete(fact.call)
        ofCalls.delete(fact.call)
        break
      case 'step_finished':
        ofSteps.delete(fact.lane ?? null)
        break
      default:
        break
    }
  }

  function seeEvent(event: RunEvent): void {
    switch (event.type) {
      case 'TOOL_CALL_RESULT':
        calls.delete(event.toolCallId)
        ofCalls.delete(event.toolCallId)
        ofSteps.delete(laneOf(event.subagentRunId))
        break
      case 'SUBAGENT_STARTED': {
        const lane = event.parentToolCallId ?? ''
        subagents.set(event.subagentRunId, { lane, parent: event.parentSubagentRunId })
        names.set(lane, event.name)
        break
      }
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        ofSteps.delete(laneOf(event.subagentRunId))
        subagents.delete(event.subagentRunId)
        break
      default:
        break
    }
  }

  return {
    see: (entry: Fact | RunEvent) => ('fact' in entry ? seeFact(entry) : seeEvent(entry)),
    /** How many deaths a call without a result has met. */
    ofCall: (callId: string) => ofCalls.get(callId) ?? 0,
    /** The unfinished model steps that have met a death, each with its sub-agent; null: the run's own agent. */
    ofSteps: () =>
      [...ofSteps].map(([lane, deaths]) => ({ subagent: lane === null ? null : (names.get(lane) ?? lane), deaths })),
  }
}
