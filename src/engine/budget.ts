// A run cannot run away: every limit ends it with `budget_exceeded` and says which one it was.

import type { AgentDefinition } from '../domain/agent.ts'
import { ServerError } from '../domain/errors.ts'
import type { TokenUsage } from '../domain/event.ts'

export interface Budget {
  /** Call before each step; throws when the limit is used up. */
  step(): void
  /** Call with what the run has used so far. */
  used(usage: readonly TokenUsage[]): void
  /** Call before each tool call, in order. */
  toolCall(name: string, args: string): void
}

export function createBudget({ limits, model }: AgentDefinition, stepsDone = 0): Budget {
  let steps = stepsDone
  let calls = 0
  let last = ''
  let repeats = 0
  return {
    step() {
      if (steps >= limits.steps) throw exceeded('steps', limits.steps, `${limits.steps} steps`)
      steps += 1
    },
    used(usage) {
      const input = usage.reduce((sum, one) => sum + (one.inputTokens ?? 0), 0)
      const output = usage.reduce((sum, one) => sum + (one.outputTokens ?? 0), 0)
      if (limits.tokens !== null && input + output >= limits.tokens) {
        throw exceeded('tokens', limits.tokens, `${limits.tokens} tokens (it used ${input + output})`)
      }
      if (limits.cost !== null && model.prices !== undefined) {
        const cost = (input * model.prices.input + output * model.prices.output) / 1_000_000
        if (cost >= limits.cost)
          throw exceeded('cost', limits.cost, `a cost of ${limits.cost} (it came to ${cost.toFixed(4)})`)
      }
    },
    toolCall(name, args) {
      calls += 1
      if (calls > limits.toolCalls) throw exceeded('tool_calls', limits.toolCalls, `${limits.toolCalls} tool calls`)
      const call = `${name}\n${args}`
      repeats = call === last ? repeats + 1 : 1
      last = call
      if (repeats > limits.identicalCalls) {
        throw exceeded(
          'identical_calls',
          limits.identicalCalls,
          `${limits.identicalCalls} identical calls of ${name} in a row`,
        )
      }
    },
  }
}

export function exceeded(limit: string, value: number, what: string): ServerError {
  return new ServerError(
    'budget_exceeded',
    `The run reached its limit of ${what}. Raise limits.${limit} in agent.yaml if it should go on longer.`,
    {
      details: { limit, value },
    },
  )
}
