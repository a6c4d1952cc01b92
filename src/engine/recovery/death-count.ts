// How often a process died while the same thing of a run was under way. A tool or an answer that takes the process with it
// would do so at every start.

import type { Fact } from '../../domain/entry.ts'
import type { RunEvent } from '../../domain/event.ts'

/** So often it may happen to one call or one step before it is not tried again. */
export const MOST_DEATHS = 2

export interface DeathCount {
  see(entry: Fact | RunEvent): void
  /** Of a call that has no result yet. */
  ofCall(callId: string): number
  /** Steps of the model that met a death and have not finished, by the sub-agent that makes them; null: the run's own agent. */
  ofSteps(): { subagent: string | null; deaths: number }[]
}

/** Which of the things that were under way did it is not known, so it counts for all of them. What had not begun is not among them. */
export function createDeathCount(): DeathCount {
  /** Under way in the process that has the run: calls, by the conversation that made them, and sub-agents. */
  const calls = new Map<string, string | null>()
  const subagents = new Map<string, { lane: string; parent: string | undefined }>()
  const names = new Map<string, string>()
  const ofCalls = new Map<string, number>()
  const ofSteps = new Map<string | null, number>()
  /** The process that has the run was told to stop, so somebody else ends it. */
  let isStopping = false

  const laneOf = (subagentRunId: string | undefined): string | null =>
    subagentRunId === undefined ? null : (subagents.get(subagentRunId)?.lane ?? null)

  function countDeath(): void {
    for (const call of calls.keys()) ofCalls.set(call, (ofCalls.get(call) ?? 0) + 1)
    const waiting = new Set([...calls.values(), ...subagents.values().map(({ parent }) => laneOf(parent))])
    // Whoever waits for no call is with the model: it asks, reads the answer or checks it.
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
    see: (entry) => ('fact' in entry ? seeFact(entry) : seeEvent(entry)),
    ofCall: (callId) => ofCalls.get(callId) ?? 0,
    ofSteps: () =>
      [...ofSteps].map(([lane, deaths]) => ({ subagent: lane === null ? null : (names.get(lane) ?? lane), deaths })),
  }
}
