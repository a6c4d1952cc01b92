import type { ModelSettings } from '../../domain/agent.ts'
import type { TokenUsage } from '../../domain/event.ts'

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
