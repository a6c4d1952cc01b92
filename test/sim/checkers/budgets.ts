// P29: a run stops exactly at its limits, also when crashes come in between.

import type { RunRecord } from '../../../src/domain/run.ts'
import { type Checker, type Evidence, entriesOf, type SessionEvidence } from '../evidence.ts'

export const budgets: Checker = {
  name: 'budgets',
  check: (evidence) =>
    [...evidence.sessions.values()].flatMap((session) =>
      session.runs.flatMap((run) => checkRun(evidence, session, run).map((problem) => `run ${run.id}: ${problem}`)),
    ),
}

function checkRun({ history, definition }: Evidence, session: SessionEvidence, run: RunRecord): string[] {
  const { limits } = definition
  const problems: string[] = []
  const started = new Set(history.toolStarts.filter(({ runId }) => runId === run.id).map(({ callId }) => callId))
  if (started.size > limits.toolCalls) problems.push(`${started.size} tool calls, ${limits.toolCalls} allowed`)

  let tokens = 0
  let streak = 0
  let last = ''
  const calls = new Map(
    session.messages.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => [call.id, call.function] as const)),
  )
  for (const entry of entriesOf(session.log, run.id)) {
    if (entry.kind === 'event') {
      const { event } = entry
      if (event.type !== 'STEP_STARTED') continue
      const number = Number(event.stepName.slice('step_'.length))
      if (number > limits.steps) problems.push(`step ${number}, ${limits.steps} allowed`)
      if (limits.tokens !== null && tokens >= limits.tokens) {
        problems.push(`a step began with ${tokens} of ${limits.tokens} tokens used`)
      }
      continue
    }
    const { fact } = entry
    if (fact.fact === 'step_finished') {
      tokens = fact.usage.reduce((sum, { inputTokens = 0, outputTokens = 0 }) => sum + inputTokens + outputTokens, 0)
    }
    if (fact.fact !== 'tool_intent') continue
    const { name, arguments: args } = calls.get(fact.call) ?? { name: fact.tool, arguments: fact.call }
    const call = `${name} ${args}`
    streak = call === last ? streak + 1 : 1
    last = call
    if (streak > limits.identicalCalls && started.has(fact.call)) {
      problems.push(`${streak} identical calls in a row were started, ${limits.identicalCalls} allowed`)
    }
  }
  return problems
}
