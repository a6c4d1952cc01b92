import type { ModelSettings } from '../domain/agent.ts'
import type { TokenUsage } from '../domain/event.ts'

/** What tokens cost with these models and their fallbacks. Those of a model without a price cost what the dearest does. */
export function createPriceList(models: readonly ModelSettings[]): (usage: readonly TokenUsage[]) => number {
  const prices = new Map<string, NonNullable<ModelSettings['prices']>>()
  const keyOf = (provider: string | undefined, name: string | undefined) => JSON.stringify([provider, name])
  for (const first of models) {
    for (let model: ModelSettings | undefined = first; model !== undefined; model = model.fallback) {
      if (model.prices !== undefined) prices.set(keyOf(model.provider, model.name), model.prices)
    }
  }
  const dearest = {
    input: Math.max(0, ...[...prices.values()].map((price) => price.input)),
    output: Math.max(0, ...[...prices.values()].map((price) => price.output)),
  }
  return (usage) =>
    usage.reduce((sum, { provider, model, inputTokens = 0, outputTokens = 0 }) => {
      const price = prices.get(keyOf(provider, model)) ?? dearest
      return sum + (inputTokens * price.input + outputTokens * price.output) / 1_000_000
    }, 0)
}
