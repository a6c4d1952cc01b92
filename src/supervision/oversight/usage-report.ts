// What agents used of models, and what it cost.

import { costOfTokens, type ModelPrice, type PriceSettings, priceOf } from '../../domain/agent/prices.ts'
import { present } from '../../domain/present.ts'
import type { SessionReads } from '../../store/ports/sessions.ts'
import {
  type RunSums,
  type TokenSums,
  tookWithin,
  type UsageQuery,
  type UsageReads,
  type UsageSum,
} from '../../store/ports/usage.ts'

export interface UsageLine extends TokenSums, Omit<RunSums, 'took'> {
  key: string
  /** The agent or the `provider/model` of a day that was split. */
  part?: string
  /** For people. A session that is gone has only its id. */
  label: string
  runs: number
  /** Within how many ms half of the runs, and 95 of 100, ended well or came to a person. Null: none did. */
  p50: number | null
  p95: number | null
  /** Null: it used a model without a price, or worked in a coding agent’s program. */
  cost: number | null
}

export interface UsageReport {
  rows: UsageLine[]
  /** Of all groups, also those beyond the limit. */
  total: Omit<UsageLine, 'key' | 'label' | 'part'>
  currency: string
  /** `provider/model` of the models without a price that were used. */
  unpriced: string[]
  /** By `provider/model`: the prices of the models that were used, and of those that agents use. Models without a price are not in it. */
  prices: Readonly<Record<string, Required<ModelPrice>>>
}

export type ReadUsage = (query: UsageQuery) => Promise<UsageReport>

/** What each of these sessions cost, null where it used a model without a price. Sessions that used nothing are not in it. */
export type ReadCosts = (sessionIds: readonly string[]) => Promise<ReadonlyMap<string, number | null>>

export const createReadCosts =
  ({ usage, prices }: { usage: Pick<UsageReads, 'ofSessions'>; prices: PriceSettings }): ReadCosts =>
  async (ids) => {
    // A run that failed at once has a row too.
    const used = (await usage.ofSessions(ids)).filter(({ input, output }) => input + output > 0)
    const bySession = Map.groupBy(used, ({ key }) => key)
    return new Map([...bySession].map(([id, sums]) => [id, rounded(addedUp(sums, prices).cost)]))
  }

/** Sums of fractions would show the limits of floating point. */
export const rounded = (cost: number | null): number | null => (cost === null ? null : Number(cost.toFixed(9)))

interface UsageDeps {
  usage: Pick<UsageReads, 'sums' | 'totals'>
  sessions: Pick<SessionReads, 'overview'>
  prices: PriceSettings
  models: readonly { provider: string; name: string }[]
}

/** See `answersWith`. */
const HOST = 'host'

const modelOf = ({ provider, model }: UsageSum): string => `${provider}/${model}`

const DAY_MS = 86_400_000

export function createReadUsage({ usage, sessions, prices, models }: UsageDeps): ReadUsage {
  async function titlesOf(keys: readonly string[]): Promise<Map<string, string>> {
    const found = await sessions.overview(keys)
    return new Map(found.flatMap(({ id, title }) => (title === '' ? [] : [[id, title] as const])))
  }

  return async (asked) => {
    const query = { ...asked, withTimes: true }
    const { by, split } = query
    const totals = await usage.totals(query)
    const byKey = Map.groupBy(await usage.sums(query), ({ key }) => key)
    const titles = by === 'session' ? await titlesOf([...byKey.keys()]) : null
    const rows: UsageLine[] = []
    for (const [raw, sums] of byKey) {
      const key = by === 'day' ? new Date(Number(raw) * DAY_MS).toISOString().slice(0, 10) : raw
      const label = titles?.get(key) ?? key
      const parts = Map.groupBy(sums, (sum) => (split === 'agent' ? sum.agent : split && modelOf(sum)))
      for (const [part, some] of parts) rows.push({ key, ...present({ part }), label, ...addedUp(some, prices) })
    }
    const unpriced = totals.filter((sum) => costOfTokens(prices, sum) === null)
    return {
      rows,
      total: addedUp(totals, prices),
      currency: prices.currency,
      unpriced: unpriced.map(modelOf).sort(),
      prices: pricesOf([...models, ...totals.map(({ provider, model }) => ({ provider, name: model }))], prices),
    }
  }
}

function pricesOf(models: UsageDeps['models'], prices: PriceSettings): UsageReport['prices'] {
  const found = models.flatMap(({ provider, name }) => {
    const price = priceOf(prices, provider, name)
    if (price === null) return []
    const { input, output, cachedInput = input, cacheWrite = input } = price
    return [[`${provider}/${name}`, { input, output, cachedInput, cacheWrite }] as const]
  })
  return Object.fromEntries(found)
}

const tokenCounts = ['input', 'output', 'cachedInput', 'cacheWrite', 'reasoning'] as const
const counts = ['runs', 'failed', 'cancelled', ...tokenCounts] as const

function addedUp(sums: readonly UsageSum[], prices: PriceSettings): UsageReport['total'] {
  const total: UsageReport['total'] = {
    ...{ runs: 0, failed: 0, cancelled: 0, p50: null, p95: null },
    ...{ input: 0, output: 0, cachedInput: 0, cacheWrite: 0, reasoning: 0, cost: 0 },
  }
  for (const sum of sums) {
    for (const name of counts) total[name] += sum[name]
    // The program of a hosted agent pays for its models, and does not tell us.
    const cost = sum.provider === HOST ? null : costOfTokens(prices, sum)
    total.cost = cost === null || total.cost === null ? null : total.cost + cost
  }
  const took = sums.map((sum) => sum.took).join('')
  return { ...total, p50: tookWithin(took, 0.5), p95: tookWithin(took, 0.95) }
}
