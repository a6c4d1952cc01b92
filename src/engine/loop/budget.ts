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

type WholeBudget = Pick<Budget, 'step' | 'used' | 'charactersLeft' | 'wrote' | 'toolCall'>

/**
 * For a sub-agent, `whole` is the budget of its run: everything counts against both. `before` is what the run had used when the
 * sub-agent began, which does not count against the sub-agent's own limits.
 */
export const createBudget = (
  limits: RunLimits,
  costOf: (usage: readonly TokenUsage[]) => number,
  whole: WholeBudget | null = null,
  before: readonly TokenUsage[] = [],
): Budget => new RunBudget(limits, costOf, whole, before)

/** A class, because every piece of text asks for `charactersLeft`: V8 keeps an object with a getter of its own as a slow dictionary. */
class RunBudget implements Budget {
  readonly #limits: RunLimits
  readonly #costOf: (usage: readonly TokenUsage[]) => number
  readonly #whole: WholeBudget | null
  readonly #tokensBefore: number
  readonly #costBefore: number
  #steps = 0
  #calls = 0
  #written = 0
  #last: { name: string; args: string } | null = null
  #repeats = 0
  #isSpent = false

  constructor(
    limits: RunLimits,
    costOf: (usage: readonly TokenUsage[]) => number,
    whole: WholeBudget | null,
    before: readonly TokenUsage[],
  ) {
    this.#limits = limits
    this.#costOf = costOf
    this.#whole = whole
    this.#tokensBefore = tokensIn(before)
    this.#costBefore = costOf(before)
  }

  get isSpent(): boolean {
    return this.#isSpent
  }

  step(): void {
    const { steps } = this.#limits
    if (this.#steps >= steps) throw this.#spent('steps', steps, `${steps} steps`)
    this.#steps += 1
    this.#whole?.step()
  }

  used(usage: readonly TokenUsage[]): void {
    this.#whole?.used(usage)
    const { tokens: mostTokens, cost: mostCost } = this.#limits
    const tokens = tokensIn(usage) - this.#tokensBefore
    if (mostTokens !== null && tokens >= mostTokens) {
      throw this.#spent('tokens', mostTokens, `${mostTokens} tokens (it used ${tokens})`)
    }
    if (mostCost === null) return
    const cost = this.#costOf(usage) - this.#costBefore
    if (cost >= mostCost) {
      throw this.#spent('cost', mostCost, `a cost of ${mostCost} (it came to ${cost.toFixed(4)})`)
    }
  }

  get charactersLeft(): number {
    const { answerChars } = this.#limits
    return Math.max(0, Math.min(answerChars - this.#written, this.#whole?.charactersLeft ?? answerChars))
  }

  wrote(characters: number): void {
    this.#whole?.wrote(characters)
    this.#written += characters
    const { answerChars } = this.#limits
    if (this.#written > answerChars) {
      throw this.#spent('answer_chars', answerChars, `${answerChars} characters written by the model`)
    }
  }

  toolCall(name: string, args: string): void {
    const { toolCalls, identicalCalls } = this.#limits
    this.#calls += 1
    if (this.#calls > toolCalls) throw this.#spent('tool_calls', toolCalls, `${toolCalls} tool calls`)
    this.#repeats = this.#last?.name === name && isSame(this.#last.args, args) ? this.#repeats + 1 : 1
    this.#last = { name, args }
    if (this.#repeats > identicalCalls) {
      throw this.#spent('identical_calls', identicalCalls, `${identicalCalls} identical calls of ${name} in a row`)
    }
    this.#whole?.toolCall(name, args)
  }

  #spent(limit: string, value: number, what: string): ServerError {
    this.#isSpent = true
    return exceeded(limit, value, what)
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
  const meter = {
    total: [...before],
    add: (provider: string, model: string, usage: ModelUsage) => addOne(usageEntry(provider, model, usage)),
    addAll(usage: readonly TokenUsage[]) {
      for (const one of usage) addOne(one)
    },
  }

  function addOne(add: TokenUsage): void {
    const isSame = (one: TokenUsage) => one.provider === add.provider && one.model === add.model
    const known = meter.total.find(isSame)
    const inputTokens = (known?.inputTokens ?? 0) + (add.inputTokens ?? 0)
    const outputTokens = (known?.outputTokens ?? 0) + (add.outputTokens ?? 0)
    const sum: TokenUsage = { ...known, ...add, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }
    for (const part of parts) {
      if (known?.[part] !== undefined || add[part] !== undefined) sum[part] = (known?.[part] ?? 0) + (add[part] ?? 0)
    }
    meter.total = [...meter.total.filter((one) => !isSame(one)), sum]
  }

  return meter
}
