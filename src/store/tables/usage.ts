// What runs used of models, by day. It has no reference to sessions: costs stay when a session is deleted.

import type { TokenSums, UsageGroup, UsageKey, UsageReads, UsageRow, UsageSum } from '../ports/usage.ts'
import type { Reading } from './statement.ts'

const keyColumns = {
  day: 'bigint',
  session_id: 'text',
  owner: 'text',
  agent: 'text',
  provider: 'text',
  model: 'text',
} as const
const sumColumns = ['runs', 'model_runs', 'input', 'output', 'cached_input', 'cache_write', 'reasoning'] as const
const KEY = Object.keys(keyColumns).join(', ')

/** In the order of `usageKey` and `usageSums`. */
export const usageColumns = {
  ...keyColumns,
  ...(Object.fromEntries(sumColumns.map((column) => [column, 'bigint'])) as Record<
    (typeof sumColumns)[number],
    'bigint'
  >),
}

export const usageKey = ({ day, sessionId, owner, agent, provider, model }: UsageKey): (string | number)[] => [
  ...[day, sessionId, owner, agent, provider, model],
]
export const usageSums = (row: UsageRow): number[] => [
  ...[row.runs, row.modelRuns, row.input, row.output, row.cachedInput, row.cacheWrite, row.reasoning],
]

/** What has the same key is added up. */
export const ADD_USAGE = `ON CONFLICT (${KEY}) DO UPDATE SET ${sumColumns
  .map((column) => `${column} = usage.${column} + excluded.${column}`)
  .join(', ')}`

type Tokens = [input: number, output: number, cachedInput: number, cacheWrite: number, reasoning: number]
type RowOfUsage = [
  day: number,
  sessionId: string,
  owner: string,
  agent: string,
  provider: string,
  model: string,
  runs: number,
  modelRuns: number,
  ...tokens: Tokens,
]

function toUsage([day, sessionId, owner, agent, provider, model, runs, modelRuns, ...tokens]: RowOfUsage): UsageRow {
  return { day, sessionId, owner, agent, provider, model, runs, modelRuns, ...tokensOf(tokens) }
}

type SumRow = [key: string | number, provider: string, model: string, runs: number, ...tokens: Tokens]

const toSum = ([key, provider, model, runs, ...tokens]: SumRow): UsageSum => ({
  key: String(key),
  provider,
  model,
  runs,
  ...tokensOf(tokens),
})

const tokensOf = ([input, output, cachedInput, cacheWrite, reasoning]: Tokens): TokenSums => ({
  input,
  output,
  cachedInput,
  cacheWrite,
  reasoning,
})

const KEYS: Readonly<Record<Exclude<UsageGroup, 'day'>, string>> = {
  agent: 'agent',
  model: "provider || '/' || model",
  session: 'session_id',
  owner: 'owner',
}

/** Postgres makes a sum of bigints a numeric. */
const total = (column: string): string => `sum(${column})::bigint AS ${column}`
const SUMS = sumColumns.slice(2).map(total).join(', ')
const ROW = `SELECT ${Object.keys(usageColumns).join(', ')} FROM usage`

/** The sums of these days. `limit` is the place of how many groups are wanted. */
function sumsWithin({ many }: Reading, name: string, within: string, limit: string) {
  const inOrder = (group: string, key: string, by: string) =>
    many(
      {
        name: `usage_${group}_${name}`,
        text: `SELECT ${key} AS key, provider, model, ${total('runs')}, ${SUMS} FROM usage WHERE ${within}
          GROUP BY ${by} ORDER BY ${by}`,
      },
      toSum,
    )
  const largest = (group: Exclude<UsageGroup, 'day'>) =>
    many(
      {
        name: `usage_${group}_${name}`,
        text: `WITH counted AS MATERIALIZED (
            SELECT ${KEYS[group]} AS key, provider, model, sum(${group === 'model' ? 'model_runs' : 'runs'})::bigint AS runs, ${SUMS}
            FROM usage WHERE ${within} GROUP BY 1, 2, 3),
          largest AS (SELECT key, sum(input + output) AS tokens FROM counted GROUP BY key ORDER BY tokens DESC, key LIMIT ${limit})
          SELECT counted.* FROM counted JOIN largest USING (key) ORDER BY tokens DESC, key, provider, model`,
      },
      toSum,
    )
  return {
    totals: inOrder('totals', "''", 'provider, model'),
    day: inOrder('day', 'day::text', 'day, provider, model'),
    agent: largest('agent'),
    model: largest('model'),
    session: largest('session'),
    owner: largest('owner'),
  }
}

/** The condition that finds one row. Its values are those of `usageKey`. */
export const WITH_USAGE_KEY = `(${KEY}) = ($1, $2, $3, $4, $5, $6)`

/** `place` is the primary key in the order that the database has, `values` the places of `usageKey` in that order. */
export function createUsageReads(reading: Reading, { place, values }: { place: string; values: string }): UsageReads {
  const { one, many } = reading
  const all = sumsWithin(reading, 'all', 'day BETWEEN $1 AND $2', '$3')
  const ofSession = sumsWithin(reading, 'session', 'day BETWEEN $1 AND $2 AND session_id = $3', '$4')
  const first = many({ name: 'usage_first_rows', text: `${ROW} ORDER BY ${place} LIMIT $1` }, toUsage)
  const next = many(
    { name: 'usage_next_rows', text: `${ROW} WHERE (${place}) > (${values}) ORDER BY ${place} LIMIT $7` },
    toUsage,
  )
  const ofSessions = many(
    {
      name: 'usage_of_sessions',
      text: `SELECT session_id, provider, model, ${total('runs')}, ${SUMS} FROM usage WHERE session_id = ANY($1::text[])
        GROUP BY session_id, provider, model ORDER BY session_id, provider, model`,
    },
    toSum,
  )
  const row = one({ name: 'usage_row', text: `${ROW} WHERE ${WITH_USAGE_KEY}` }, toUsage)

  return {
    sums({ from, to, by, limit, sessionId }) {
      const most = by === 'day' ? [] : [limit]
      return sessionId === undefined ? all[by](from, to, ...most) : ofSession[by](from, to, sessionId, ...most)
    },
    ofSessions: async (ids) => (ids.length === 0 ? [] : ofSessions(ids)),
    rows: (after, limit) => (after === null ? first(limit) : next(...usageKey(after), limit)),
    row: (key) => row(...usageKey(key)),
    totals: ({ from, to, sessionId }) =>
      sessionId === undefined ? all.totals(from, to) : ofSession.totals(from, to, sessionId),
  }
}
