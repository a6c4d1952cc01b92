// What tokens cost. There is no list of prices in the program: it would be wrong soon.

import { globMatches } from '../text/glob.ts'
import type { ModelSettings } from './agent.ts'

/** Per million tokens. */
export interface ModelPrice {
  input: number
  output: number
  /** Input that the provider had in its cache; absent: as `input`. */
  cachedInput?: number
  /** Input that the provider put into its cache; absent: as `input`. */
  cacheWrite?: number
}

export interface PriceSettings {
  currency: string
  /** By `provider/model`, which may be a glob. An exact name wins, then the first glob that matches. */
  models: Readonly<Record<string, ModelPrice>>
}

export interface PricedTokens {
  /** Includes what came from the cache or went into it. */
  input: number
  output: number
  cachedInput: number
  cacheWrite: number
}

/** These run in this process and cost nothing. */
const FREE: ReadonlySet<string> = new Set(['demo', 'scripted'])
const FREE_PRICE: ModelPrice = { input: 0, output: 0 }
const MILLION = 1_000_000

/** Null: nobody has said what the model costs. */
export const priceOf = (settings: PriceSettings, provider: string, model: string): ModelPrice | null =>
  saidPrice(settings, `${provider}/${model}`) ?? (FREE.has(provider) ? FREE_PRICE : null)

function saidPrice({ models }: PriceSettings, name: string): ModelPrice | null {
  if (Object.hasOwn(models, name)) return models[name] ?? null
  return Object.entries(models).find(([pattern]) => globMatches(pattern, name))?.[1] ?? null
}

interface AgentModel extends Pick<ModelSettings, 'provider' | 'name' | 'prices'> {
  fallback?: AgentModel
}

/** Adds what agent files say about their models and fallbacks, where the settings say nothing: the log of a run counts with that. */
export function withAgentPrices(settings: PriceSettings, agents: readonly AgentModel[]): PriceSettings {
  const models: Record<string, ModelPrice> = {}
  for (const first of agents) {
    for (let model: AgentModel | undefined = first; model !== undefined; model = model.fallback) {
      const name = `${model.provider}/${model.name}`
      if (model.prices !== undefined && saidPrice(settings, name) === null) models[name] = model.prices
    }
  }
  return { ...settings, models: { ...settings.models, ...models } }
}

export function costOf(price: ModelPrice, { input, output, cachedInput, cacheWrite }: PricedTokens): number {
  const fresh = Math.max(0, input - cachedInput - cacheWrite)
  const cached = cachedInput * (price.cachedInput ?? price.input) + cacheWrite * (price.cacheWrite ?? price.input)
  return (fresh * price.input + cached + output * price.output) / MILLION
}

/** What these tokens of a model cost. Null: nobody has said what it costs. */
export function costOfTokens(settings: PriceSettings, used: PricedTokens & { provider: string; model: string }) {
  const price = priceOf(settings, used.provider, used.model)
  if (price !== null) return costOf(price, used)
  return used.input + used.output === 0 ? 0 : null
}
