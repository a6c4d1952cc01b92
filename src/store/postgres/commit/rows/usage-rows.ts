// Rows of usage. What has the same place is added up, here and in the table.

import type { UsageRow } from '../../../ports/usage.ts'
import { columnsOf, insertRows } from '../batch.ts'
import type { Sending } from '../sending.ts'

const usageKeys = ['session_id', 'day', 'owner', 'agent', 'provider', 'model'] as const
const usageSums = ['runs', 'model_runs', 'input', 'output', 'cached_input', 'cache_write', 'reasoning'] as const
const insertUsage = insertRows(
  'insert_usage',
  'usage',
  {
    session_id: 'text',
    day: 'bigint',
    owner: 'text',
    agent: 'text',
    provider: 'text',
    model: 'text',
    runs: 'bigint',
    model_runs: 'bigint',
    input: 'bigint',
    output: 'bigint',
    cached_input: 'bigint',
    cache_write: 'bigint',
    reasoning: 'bigint',
  },
  `ON CONFLICT (${usageKeys.join(', ')}) DO UPDATE SET ${usageSums.map((one) => `${one} = usage.${one} + excluded.${one}`).join(', ')}`,
)

export function createUsageRows(sending: Sending) {
  const rows = new Map<string, { place: readonly unknown[]; sums: number[] }>()

  return {
    add(row: UsageRow): void {
      const place = [row.sessionId, row.day, row.owner, row.agent, row.provider, row.model]
      const { runs, modelRuns, input, output, cachedInput, cacheWrite, reasoning } = row
      const sums = [runs, modelRuns, input, output, cachedInput, cacheWrite, reasoning]
      const key = JSON.stringify(place)
      const known = rows.get(key)
      if (known === undefined) rows.set(key, { place, sums })
      else known.sums = known.sums.map((sum, i) => sum + (sums[i] ?? 0))
    },
    flush(): void {
      if (rows.size === 0) return
      sending.send(insertUsage, columnsOf([...rows.values()].map(({ place, sums }) => [...place, ...sums])))
      rows.clear()
    },
  }
}
