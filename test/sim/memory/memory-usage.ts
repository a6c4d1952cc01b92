import type {
  TokenSums,
  UsageGroup,
  UsageKey,
  UsageQuery,
  UsageRange,
  UsageRow,
  UsageSum,
} from '../../../src/store/ports/usage.ts'

const keyOf: Readonly<Record<UsageGroup, (row: UsageRow) => string>> = {
  day: ({ day }) => String(day),
  agent: ({ agent }) => agent,
  model: ({ provider, model }) => `${provider}/${model}`,
  session: ({ sessionId }) => sessionId,
  owner: ({ owner }) => owner,
}

export const usageKey = ({ day, sessionId, owner, agent, provider, model }: UsageKey): string =>
  JSON.stringify([day, sessionId, owner, agent, provider, model])

/** The rows as a table has them: one for each key, in the order of the keys. */
function tableOf(rows: readonly UsageRow[]): UsageRow[] {
  const table = new Map<string, UsageRow>()
  for (const row of rows) {
    const known = table.get(usageKey(row))
    const sum = (field: keyof TokenSums | 'runs' | 'modelRuns') => row[field] + (known?.[field] ?? 0)
    table.set(usageKey(row), {
      ...row,
      runs: sum('runs'),
      modelRuns: sum('modelRuns'),
      input: sum('input'),
      output: sum('output'),
      cachedInput: sum('cachedInput'),
      cacheWrite: sum('cacheWrite'),
      reasoning: sum('reasoning'),
    })
  }
  return [...table].sort(([a], [b]) => compare(a, b)).map(([, row]) => row)
}

export function memoryUsage(rows: readonly UsageRow[]) {
  const within = ({ from, to, sessionId }: UsageRange) =>
    rows.filter((row) => row.day >= from && row.day <= to && (sessionId === undefined || row.sessionId === sessionId))

  return {
    rows: (after: UsageKey | null, limit: number): UsageRow[] =>
      tableOf(rows)
        .filter((row) => after === null || usageKey(row) > usageKey(after))
        .slice(0, limit),
    row: (key: UsageKey): UsageRow | null => tableOf(rows).find((row) => usageKey(row) === usageKey(key)) ?? null,
    ofSessions: (ids: readonly string[]): UsageSum[] =>
      added(
        tableOf(rows).filter(({ sessionId }) => ids.includes(sessionId)),
        keyOf.session,
        'runs',
      ).sort((a, b) => compare(a.key, b.key) || compare(a.provider, b.provider) || compare(a.model, b.model)),
    totals: (range: UsageRange): UsageSum[] =>
      added(within(range), () => '', 'runs').sort(
        (a, b) => compare(a.provider, b.provider) || compare(a.model, b.model),
      ),
    sums(query: UsageQuery): UsageSum[] {
      const { by, limit } = query
      const sums = added(within(query), keyOf[by], by === 'model' ? 'modelRuns' : 'runs')
      const byModel = (a: UsageSum, b: UsageSum) => compare(a.provider, b.provider) || compare(a.model, b.model)
      if (by === 'day') return sums.sort((a, b) => Number(a.key) - Number(b.key) || byModel(a, b))
      const tokens = new Map<string, number>()
      for (const { key, input, output } of sums) tokens.set(key, (tokens.get(key) ?? 0) + input + output)
      const keys = [...tokens].sort(([a, m], [b, n]) => n - m || compare(a, b)).map(([key]) => key)
      return keys.slice(0, limit).flatMap((key) => sums.filter((one) => one.key === key).sort(byModel))
    },
  }
}

function added(rows: readonly UsageRow[], keyIn: (row: UsageRow) => string, counted: 'runs' | 'modelRuns'): UsageSum[] {
  const sums = new Map<string, UsageSum>()
  for (const row of rows) {
    const { provider, model } = row
    const key = keyIn(row)
    const name = JSON.stringify([key, provider, model])
    const none = { input: 0, output: 0, cachedInput: 0, cacheWrite: 0, reasoning: 0 }
    const sum = sums.get(name) ?? { key, provider, model, runs: 0, ...none }
    sum.runs += row[counted]
    sum.input += row.input
    sum.output += row.output
    sum.cachedInput += row.cachedInput
    sum.cacheWrite += row.cacheWrite
    sum.reasoning += row.reasoning
    sums.set(name, sum)
  }
  return [...sums.values()]
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
