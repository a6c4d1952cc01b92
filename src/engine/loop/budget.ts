// The limits of a run. Each one ends the run with `budget_exceeded` and says which limit it was.

import type { ModelSettings, RunLimits } from '../../domain/agent/agent.ts'
import { ServerError } from '../../domain/errors.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import { canonicalJson } from '../../json/digest.ts'
import type { ModelUsage } from '../../models/model.ts'

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
  let last: { name: string; args: string } | null = null
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
      repeats = last?.name === name && isSame(last.args, args) ? repeats + 1 : 1
      last = { name, args }
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

/** The same arguments in another spelling are the same call. Most calls differ in their tool, so few are read for it. */
const isSame = (one: string, other: string): boolean =>
  one === other || canonicalArguments(one) === canonicalArguments(other)

function canonicalArguments(args: string): string {
  try {
    return canonicalJson(JSON.parse(args))
  } catch {
    // The model may write anything. It is refused elsewhere.
    return args
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

type Usage = readonly TokenUsage[]

/** What tokens of the given models and their fallbacks cost, in the currency of their prices. */
export interface PriceList {
  /** For limits. Tokens of a model without a price cost as much as those of the most expensive one. */
  atMost(usage: Usage): number
  /** Null if some of the tokens have no price. */
  exact(usage: Usage): number | null
}

export function createPriceList(models: readonly ModelSettings[]): PriceList {
  const prices = new Map<string, NonNullable<ModelSettings['prices']>>()
  const keyOf = (provider: string | undefined, name: string | undefined) => JSON.stringify([provider, name])
  for (const first of models) {
    for (let model: ModelSettings | undefined = first; model !== undefined; model = model.fallback) {
      if (model.prices !== undefined) prices.set(keyOf(model.provider, model.name), model.prices)
    }
  }
  const mostExpensive = {
    input: Math.max(0, ...[...prices.values()].map((price) => price.input)),
    output: Math.max(0, ...[...prices.values()].map((price) => price.output)),
  }
  const priceOf = ({ provider, model }: TokenUsage) => prices.get(keyOf(provider, model))
  const atMost = (usage: Usage) =>
    usage.reduce((sum, one) => {
      const price = priceOf(one) ?? mostExpensive
      return sum + ((one.inputTokens ?? 0) * price.input + (one.outputTokens ?? 0) * price.output) / 1_000_000
    }, 0)
  return {
    atMost,
    exact: (usage) => (usage.length > 0 && usage.every((one) => priceOf(one) !== undefined) ? atMost(usage) : null),
  }
}

/** The tokens that a run has used so far, with all its models, sub-agents and tools. */
export interface UsageMeter {
  readonly total: TokenUsage[]
  add(provider: string, model: string, usage: ModelUsage): void
  addAll(usage: readonly TokenUsage[]): void
}

/** What one answer used, as it stands in the usage of a run. */
export const usageEntry = (provider: string, model: string, usage: ModelUsage): TokenUsage => ({
  provider,
  model,
  ...usage,
  totalTokens: usage.inputTokens + usage.outputTokens,
})

const parts = ['reasoningTokens', 'cachedInputTokens', 'cacheWriteInputTokens'] as const

/** Keeps one entry per provider and model. A count that nobody reported stays absent. */
export function createUsageMeter(before: readonly TokenUsage[]): UsageMeter {
  let total = [...before]

  function addOne(add: TokenUsage): void {
    const isSame = (one: TokenUsage) => one.provider === add.provider && one.model === add.model
    const known = total.find(isSame)
    const inputTokens = (known?.inputTokens ?? 0) + (add.inputTokens ?? 0)
    const outputTokens = (known?.outputTokens ?? 0) + (add.outputTokens ?? 0)
    const sum: TokenUsage = { ...known, ...add, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }
    for (const part of parts) {
      if (known?.[part] !== undefined || add[part] !== undefined) sum[part] = (known?.[part] ?? 0) + (add[part] ?? 0)
    }
    total = [...total.filter((one) => !isSame(one)), sum]
  }

  return {
    get total() {
      return total
    },
    add: (provider, model, usage) => addOne(usageEntry(provider, model, usage)),
    addAll(usage) {
      for (const one of usage) addOne(one)
    },
  }
}
