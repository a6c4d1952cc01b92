// P29: a run stops exactly at its limits, also when crashes come in between.

import type { RunRecord } from '../../../src/domain/session/run.ts'
import { type Checker, type Evidence, entriesOf, type SessionEvidence } from '../evidence.ts'

export const budgets: Checker = {
  name: 'budgets',
  check: (evidence) =>
    [...evidence.sessions.values()].flatMap((session) => [
      ...session.runs.flatMap((run) => checkRun(evidence, session, run).map((problem) => `run ${run.id}: ${problem}`)),
      ...checkRepeats(evidence, session),
    ]),
}

function checkRun({ history, definition }: Evidence, session: SessionEvidence, run: RunRecord): string[] {
  const { limits } = definition
  const problems: string[] = []
  const started = new Set(history.toolStarts.filter(({ runId }) => runId === run.id).map(({ callId }) => callId))
  if (started.size > limits.toolCalls) problems.push(`${started.size} tool calls, ${limits.toolCalls} allowed`)

  let tokens = 0
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
  }
  return problems
}

/** In each conversation, since the user's last word, however many runs it took. */
function checkRepeats({ history, definition }: Evidence, { messages }: SessionEvidence): string[] {
  const allowed = definition.limits.identicalCalls
  const started = new Set(history.toolStarts.map(({ callId }) => callId))
  return [...Map.groupBy(messages, ({ lane }) => lane).values()].flatMap((lane) => {
    let streak = 0
    let last = ''
    return lane.flatMap(({ role, toolCalls = [], brokenOff, supersededBy }) => {
      if (role === 'user') last = ''
      if (brokenOff === true || supersededBy !== undefined) return []
      return toolCalls.flatMap((call) => {
        const said = `${call.function.name} ${call.function.arguments}`
        streak = said === last ? streak + 1 : 1
        last = said
        return streak > allowed && started.has(call.id)
          ? [`${call.id}: ${streak} identical calls in a row were started, ${allowed} allowed`]
          : []
      })
    })
  })
}
