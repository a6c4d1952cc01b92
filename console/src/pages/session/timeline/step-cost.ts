// What tokens cost. The prices come from the server.

import type { EventUsage, TokenPrice } from 'quarterdeck/client'
import { moneyText } from '../../../money.ts'

/** By `provider/model`. */
export interface PriceList {
  currency: string
  models: Readonly<Record<string, TokenPrice>>
}

const MILLION = 1_000_000

/** Null: one of the models has no price. */
export function costIn(usage: readonly EventUsage[], { models }: PriceList): number | null {
  let cost = 0
  for (const { provider, model, inputTokens = 0, outputTokens = 0, ...more } of usage) {
    const name = `${provider}/${model}`
    const price = Object.hasOwn(models, name) ? models[name] : undefined
    if (price === undefined) return null
    const { cachedInputTokens: cached = 0, cacheWriteInputTokens: written = 0 } = more
    const fresh = Math.max(0, inputTokens - cached - written)
    const input = fresh * price.input + cached * price.cached_input + written * price.cache_write
    cost += (input + outputTokens * price.output) / MILLION
  }
  return cost
}

/** `$0.0042`, or `no price`. */
export function costWord(cost: number | null, currency: string): string {
  return cost === null ? 'no price' : moneyText(cost, currency)
}
