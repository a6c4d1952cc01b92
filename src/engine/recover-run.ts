// What a crash left of a run, read back from its entries: what is open on the wire, what was finished, what is in doubt.

import type { Entry, Fact } from '../domain/entry.ts'
import type { RunEvent, TokenUsage } from '../domain/event.ts'
import type { StoredMessage, ToolCall } from '../domain/message.ts'
import type { RunRecord } from '../domain/run.ts'

export interface RunRemains {
  events: RunEvent[]
  /** Timestamp of the last event: the wall clock may have stepped back since. */
  writtenUntil: number | null
  stepsDone: number
  usage: TokenUsage[]
  /** Text of the step that was not finished, by message id. It is kept, marked as broken off. */
  unfinishedText: Map<string, string>
  /** Calls that may have begun and have no result. */
  unanswered: Extract<Fact, { fact: 'tool_intent' }>[]
}

export function readRemains(entries: readonly Entry[]): RunRemains {
  const events: RunEvent[] = []
  const unfinishedText = new Map<string, string>()
  const intents = new Map<string, Extract<Fact, { fact: 'tool_intent' }>>()
  let stepsDone = 0
  let usage: TokenUsage[] = []
  for (const entry of entries) {
    if (entry.kind === 'fact') {
      const fact: Fact = JSON.parse(entry.data)
      if (fact.fact === 'tool_intent') intents.set(fact.call, fact)
      if (fact.fact === 'step_finished') {
        stepsDone = fact.step
        usage = fact.usage
        unfinishedText.clear()
      }
      continue
    }
    const event: RunEvent = JSON.parse(entry.data)
    events.push(event)
    if (event.type === 'TEXT_MESSAGE_CONTENT') {
      unfinishedText.set(event.messageId, (unfinishedText.get(event.messageId) ?? '') + event.delta)
    }
    if (event.type === 'TOOL_CALL_RESULT') intents.delete(event.toolCallId)
  }
  const writtenUntil = events.at(-1)?.timestamp ?? null
  return { events, writtenUntil, stepsDone, usage, unfinishedText, unanswered: [...intents.values()] }
}

export function brokenOffMessages(remains: RunRemains, run: RunRecord, createdAt: number): StoredMessage[] {
  return [...remains.unfinishedText].map(([id, content]) => ({
    id,
    role: 'assistant',
    content,
    runId: run.id,
    createdAt,
    agentName: run.agent,
    brokenOff: true,
  }))
}

/** The calls behind the intents, as the model wrote them. */
export function callsOf(intents: RunRemains['unanswered'], messages: readonly StoredMessage[]): ToolCall[] {
  const wanted = new Set(intents.map((intent) => intent.call))
  return messages.flatMap((message) => message.toolCalls ?? []).filter((call) => wanted.has(call.id))
}
