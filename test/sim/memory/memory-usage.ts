import {
  MOST_LETTERS,
  type RunSums,
  type TokenSums,
  type UsageGroup,
  type UsageKey,
  type UsageQuery,
  type UsageRange,
  type UsageRow,
  type UsageSum,
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
    const sum = (field: keyof TokenSums | Exclude<keyof RunSums, 'took'> | 'runs' | 'modelRuns') =>
      row[field] + (known?.[field] ?? 0)
    table.set(usageKey(row), {
      ...row,
      runs: sum('runs'),
      modelRuns: sum('modelRuns'),
      input: sum('input'),
      output: sum('output'),
      cachedInput: sum('cachedInput'),
      cacheWrite: sum('cacheWrite'),
      reasoning: sum('reasoning'),
      failed: sum('failed'),
      cancelled: sum('cancelled'),
      took: `${known?.took ?? ''}${row.took}`.slice(0, MOST_LETTERS),
    })
  }
  return [...table].sort(([a], [b]) => compare(a, b)).map(([, row]) => row)
}

export function memoryUsage(rows: readonly UsageRow[]) {
  const within = ({ from, to, sessionId, agent, owner, model, withTimes }: UsageRange) =>
    tableOf(rows)
      .filter(
        (row) =>
          row.day >= from &&
          row.day <= to &&
          (sessionId === undefined || row.sessionId === sessionId) &&
          (agent === undefined || row.agent === agent) &&
          (owner === undefined || row.owner === owner) &&
          (model === undefined || keyOf.model(row) === model),
      )
      .map((row) => (withTimes ? row : { ...row, took: '' }))

  return {
    rows: (after: UsageKey | null, limit: number): UsageRow[] =>
      tableOf(rows)
        .filter((row) => after === null || usageKey(row) > usageKey(after))
        .slice(0, limit),
    row: (key: UsageKey): UsageRow | null => tableOf(rows).find((row) => usageKey(row) === usageKey(key)) ?? null,
    ofSessions: (ids: readonly string[]): UsageSum[] =>
      added(
        tableOf(rows).flatMap((row) => (ids.includes(row.sessionId) ? [{ ...row, took: '' }] : [])),
        keyOf.session,
        'runs',
      ).sort((a, b) => compare(a.key, b.key) || compare(a.provider, b.provider) || compare(a.model, b.model)),
    totals: (range: UsageRange): UsageSum[] =>
      added(within(range), () => '', range.model === undefined ? 'runs' : 'modelRuns').sort(
        (a, b) => compare(a.provider, b.provider) || compare(a.model, b.model),
      ),
    sums(query: UsageQuery): UsageSum[] {
      const { by, limit, split } = query
      const runs = by === 'model' || query.model !== undefined ? 'modelRuns' : 'runs'
      const sums = added(within(query), keyOf[by], runs, by === 'day' && split === 'agent').filter(
        ({ key }) => key !== '',
      )
      const byModel = (a: UsageSum, b: UsageSum) =>
        compare(a.agent, b.agent) || compare(a.provider, b.provider) || compare(a.model, b.model)
      if (by === 'day') return sums.sort((a, b) => Number(a.key) - Number(b.key) || byModel(a, b))
      const tokens = new Map<string, number>()
      for (const { key, input, output } of sums) tokens.set(key, (tokens.get(key) ?? 0) + input + output)
      const keys = [...tokens].sort(([a, m], [b, n]) => n - m || compare(a, b)).map(([key]) => key)
      return keys.slice(0, limit).flatMap((key) => sums.filter((one) => one.key === key).sort(byModel))
    },
  }
}

function added(
  rows: readonly UsageRow[],
  keyIn: (row: UsageRow) => string,
  counted: 'runs' | 'modelRuns',
  withAgent = false,
): UsageSum[] {
  const sums = new Map<string, UsageSum>()
  for (const row of rows) {
    const { provider, model } = row
    const key = keyIn(row)
    const agent = withAgent ? row.agent : ''
    const name = JSON.stringify([key, agent, provider, model])
    const none = { input: 0, output: 0, cachedInput: 0, cacheWrite: 0, reasoning: 0, failed: 0, cancelled: 0, took: '' }
    const sum = sums.get(name) ?? { key, agent, provider, model, runs: 0, ...none }
    sum.runs += row[counted]
    sum.input += row.input
    sum.output += row.output
    sum.cachedInput += row.cachedInput
    sum.cacheWrite += row.cacheWrite
    sum.reasoning += row.reasoning
    sum.failed += row.failed
    sum.cancelled += row.cancelled
    sum.took += row.took
    sums.set(name, sum)
  }
  return [...sums.values()]
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
