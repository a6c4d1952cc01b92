// The limits of a run. Each one ends the run with `budget_exceeded` and says which limit it was.

import type { RunLimits } from '../../domain/agent.ts'
import { ServerError } from '../../domain/errors.ts'
import type { TokenUsage } from '../../domain/event.ts'

export interface Budget {
  /** Call before each step. Throws at the limit, as the other methods do. */
  step(): void
  /** Call with everything that the run has used so far. */
  used(usage: readonly TokenUsage[]): void
  /** How many characters the model may still write. */
  readonly charactersLeft: number
  /** Call with the number of characters that the model has just written. */
  wrote(characters: number): void
  /** Call before each tool call, in order. */
  toolCall(name: string, args: string): void
  /** Whether one of its own limits was reached. */
  readonly isSpent: boolean
}

/**
 * For a sub-agent, `whole` is the budget of its run: everything counts against both. `before` is what the run had used when the
 * sub-agent began, which does not count against the sub-agent's own limits.
 */
export function createBudget(
  limits: RunLimits,
  costOf: (usage: readonly TokenUsage[]) => number,
  whole: Pick<Budget, 'step' | 'used' | 'charactersLeft' | 'wrote' | 'toolCall'> | null = null,
  before: readonly TokenUsage[] = [],
): Budget {
  const tokensBefore = tokensIn(before)
  const costBefore = costOf(before)
  let steps = 0
  let calls = 0
  let written = 0
  let last = ''
  let repeats = 0
  let isSpent = false
  function spent(limit: string, value: number, what: string): ServerError {
    isSpent = true
    return exceeded(limit, value, what)
  }
  return {
    get isSpent() {
      return isSpent
    },
    step() {
      if (steps >= limits.steps) throw spent('steps', limits.steps, `${limits.steps} steps`)
      steps += 1
      whole?.step()
    },
    used(usage) {
      whole?.used(usage)
      const tokens = tokensIn(usage) - tokensBefore
      if (limits.tokens !== null && tokens >= limits.tokens) {
        throw spent('tokens', limits.tokens, `${limits.tokens} tokens (it used ${tokens})`)
      }
      if (limits.cost === null) return
      const cost = costOf(usage) - costBefore
      if (cost >= limits.cost) {
        throw spent('cost', limits.cost, `a cost of ${limits.cost} (it came to ${cost.toFixed(4)})`)
      }
    },
    get charactersLeft() {
      return Math.max(0, Math.min(limits.answerChars - written, whole?.charactersLeft ?? limits.answerChars))
    },
    wrote(characters) {
      whole?.wrote(characters)
      written += characters
      if (written > limits.answerChars) {
        throw spent('answer_chars', limits.answerChars, `${limits.answerChars} characters written by the model`)
      }
    },
    toolCall(name, args) {
      calls += 1
      if (calls > limits.toolCalls) throw spent('tool_calls', limits.toolCalls, `${limits.toolCalls} tool calls`)
      const call = `${name}\n${args}`
      repeats = call === last ? repeats + 1 : 1
      last = call
      if (repeats > limits.identicalCalls) {
        throw spent(
          'identical_calls',
          limits.identicalCalls,
          `${limits.identicalCalls} identical calls of ${name} in a row`,
        )
      }
      whole?.toolCall(name, args)
    },
  }
}

const tokensIn = (usage: readonly TokenUsage[]): number =>
  usage.reduce((sum, one) => sum + (one.inputTokens ?? 0) + (one.outputTokens ?? 0), 0)

export function exceeded(limit: string, value: number, what: string): ServerError {
  return new ServerError(
    'budget_exceeded',
    `The run reached its limit of ${what}. Raise limits.${limit} in agent.yaml if it should go on longer.`,
    {
      details: { limit, value },
    },
  )
}
