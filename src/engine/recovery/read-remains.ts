// Reads from the entries of a run what a crash left of it: what is open on the wire, what was finished, what is in doubt.

import type { Entry, Fact } from '../../domain/session/entry.ts'
import type { RunEvent, TokenUsage } from '../../domain/session/event.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { createDeathCount, MOST_DEATHS } from './death-count.ts'

export type Intent = Extract<Fact, { fact: 'tool_intent' }> & {
  /** It had stopped to ask a person. It was not cut off, so it may be made again. */
  isSuspended?: true
}

export interface RunRemains {
  events: RunEvent[]
  /** The latest timestamp. The wall clock may have gone back since, and that of another machine may be behind. */
  writtenUntil: number | null
  stepsDone: number
  usage: TokenUsage[]
  /** Text of unfinished steps, by message id. It is kept and marked as broken off. */
  unfinishedText: Map<string, { text: string; lane: string | null }>
  /** Calls that may have begun and have no result yet. */
  unanswered: Intent[]
  /** The unanswered calls during which the process died too often. */
  deadly: Intent[]
  /** The model steps during which it did, each with its sub-agent; null: the run's own agent. */
  deadlySteps: { subagent: string | null }[]
}

/** All that the run has written, up to the fact that it was recovered. */
export function readRemains(entries: readonly Pick<Entry, 'kind' | 'data'>[]): RunRemains {
  const events: RunEvent[] = []
  const unfinishedText: RunRemains['unfinishedText'] = new Map()
  /** The lanes of sub-agents, by the id on their events. */
  const lanes = new Map<string, string>()
  const laneOf = (subagentRunId: string | undefined) =>
    subagentRunId === undefined ? null : (lanes.get(subagentRunId) ?? null)
  const intents = new Map<string, Intent>()
  const deaths = createDeathCount()
  let stepsDone = 0
  let usage: TokenUsage[] = []
  for (const entry of entries) {
    if (entry.kind === 'fact') {
      const fact: Fact = JSON.parse(entry.data)
      deaths.see(fact)
      if (fact.fact === 'tool_intent') intents.set(fact.call, fact)
      if (fact.fact === 'tool_suspended') {
        const intent = intents.get(fact.call)
        if (intent !== undefined) intents.set(fact.call, { ...intent, isSuspended: true })
      }
      if (fact.fact === 'step_finished') {
        const lane = fact.lane ?? null
        if (lane === null) stepsDone = fact.step
        usage = fact.usage
        for (const [id, text] of unfinishedText) if (text.lane === lane) unfinishedText.delete(id)
      }
      continue
    }
    const event: RunEvent = JSON.parse(entry.data)
    events.push(event)
    deaths.see(event)
    if (event.type === 'SUBAGENT_STARTED') lanes.set(event.subagentRunId, event.parentToolCallId ?? '')
    if (event.type === 'SUBAGENT_FINISHED') {
      const lane = laneOf(event.subagentRunId)
      for (const [id, text] of unfinishedText) if (text.lane === lane) unfinishedText.delete(id)
    }
    if (event.type === 'TEXT_MESSAGE_CONTENT') {
      const before = unfinishedText.get(event.messageId)?.text ?? ''
      unfinishedText.set(event.messageId, { text: before + event.delta, lane: laneOf(event.subagentRunId) })
    }
    if (event.type === 'TOOL_CALL_RESULT') intents.delete(event.toolCallId)
  }
  // Not that of the last event: a result can be older than what was written before it.
  const timestamps = events.flatMap(({ timestamp }) => timestamp ?? [])
  const writtenUntil = timestamps.length === 0 ? null : timestamps.reduce((one, other) => Math.max(one, other))
  const unanswered = [...intents.values()]
  return {
    events,
    writtenUntil,
    stepsDone,
    usage,
    unfinishedText,
    unanswered,
    deadly: unanswered.filter(({ call }) => deaths.ofCall(call) >= MOST_DEATHS),
    deadlySteps: deaths.ofSteps().filter((step) => step.deaths >= MOST_DEATHS),
  }
}

export function brokenOffMessages(remains: RunRemains, run: RunRecord, createdAt: number): StoredMessage[] {
  return [...remains.unfinishedText].map(([id, { text, lane }]) => ({
    id,
    role: 'assistant',
    content: text,
    lane: lane ?? undefined,
    runId: run.id,
    createdAt,
    agentName: run.agent,
    brokenOff: true,
  }))
}

/** Why a person has to look at the run before it goes on. Null: it may go on by itself. */
export function reviewNeeded({ unanswered, deadly, deadlySteps, stepsDone }: RunRemains): string | null {
  const inDoubt = unanswered.filter(({ effect, isSuspended }) => effect === 'once' && isSuspended !== true)
  const repeatable = deadly.filter(({ effect }) => effect !== 'once')
  const reasons: string[] = []
  if (inDoubt.length > 0) {
    const [were, they] = inDoubt.length === 1 ? ['was', 'it'] : ['were', 'they']
    reasons.push(
      `The server stopped while ${named(inDoubt)} ${were} running. Whether ${they} took effect is not known, so ${they} ${were} not repeated; check, then ask again.`,
    )
  }
  if (repeatable.length > 0) {
    const [were, they] = repeatable.length === 1 ? ['was', 'it'] : ['were', 'they']
    reasons.push(
      `The server died ${MOST_DEATHS} times while ${named(repeatable)} ${were} running, so ${they} ${were} not started again. Fix the tool, then ask again.`,
    )
  }
  for (const { subagent } of deadlySteps) {
    const step = subagent === null ? `step_${stepsDone + 1}` : `a step of ${subagent}`
    reasons.push(
      `The server died ${MOST_DEATHS} times while the model was answering in ${step}, so it was not asked again. Look at the server's log, then ask again.`,
    )
  }
  return reasons.length === 0 ? null : reasons.join(' ')
}

const named = (calls: readonly Intent[]): string => calls.map(({ tool, call }) => `${tool} (${call})`).join(', ')
