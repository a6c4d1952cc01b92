// What runs used of models, by day. It has no reference to sessions: costs stay when a session is deleted.

import {
  MOST_LETTERS,
  USAGE_DAYS,
  type UsageGroup,
  type UsageKey,
  type UsageQuery,
  type UsageRange,
  type UsageReads,
  type UsageRow,
  type UsageSum,
} from '../ports/usage.ts'
import { allOf, asked, type Query, type Reading } from './statement.ts'

const keyColumns = {
  day: 'bigint',
  session_id: 'text',
  owner: 'text',
  agent: 'text',
  provider: 'text',
  model: 'text',
} as const
const sumColumns = [
  ...(['runs', 'model_runs', 'input', 'output', 'cached_input', 'cache_write', 'reasoning'] as const),
  ...(['failed', 'cancelled'] as const),
] as const
const KEY = Object.keys(keyColumns).join(', ')
const KEPT_MS = USAGE_DAYS * 86_400_000

/** In the order of `usageKey` and `usageSums`. */
export const usageColumns = {
  ...keyColumns,
  ...(Object.fromEntries(sumColumns.map((column) => [column, 'bigint'])) as Record<
    (typeof sumColumns)[number],
    'bigint'
  >),
  took: 'text',
} as const

export const usageKey = ({ day, sessionId, owner, agent, provider, model }: UsageKey): (string | number)[] => [
  ...[day, sessionId, owner, agent, provider, model],
]
/** All are added up; `took`, the last one, is one text after the other. */
export const usageSums = (row: UsageRow): (string | number)[] => [
  ...[row.runs, row.modelRuns, row.input, row.output, row.cachedInput, row.cacheWrite, row.reasoning],
  ...[row.failed, row.cancelled, row.took],
]

/** What has the same key is added up. */
export const ADD_USAGE = `ON CONFLICT (${KEY}) DO UPDATE SET ${sumColumns
  .map((column) => `${column} = usage.${column} + excluded.${column}`)
  .join(', ')}, took = substr(usage.took || excluded.took, 1, ${MOST_LETTERS})`

type Tokens = [input: number, output: number, cachedInput: number, cacheWrite: number, reasoning: number]
type Sums = [...tokens: Tokens, failed: number, cancelled: number, took: string | null]
type RowOfUsage = [
  day: number,
  sessionId: string,
  owner: string,
  agent: string,
  provider: string,
  model: string,
  runs: number,
  modelRuns: number,
  ...sums: Sums,
]

function toUsage([day, sessionId, owner, agent, provider, model, runs, modelRuns, ...sums]: RowOfUsage): UsageRow {
  return { day, sessionId, owner, agent, provider, model, runs, modelRuns, ...sumsOf(sums) }
}

type SumRow = [key: string | number, agent: string, provider: string, model: string, runs: number, ...sums: Sums]

const toSum = ([key, agent, provider, model, runs, ...sums]: SumRow): UsageSum => ({
  key: String(key),
  agent,
  provider,
  model,
  runs,
  ...sumsOf(sums),
})

function sumsOf([input, output, cachedInput, cacheWrite, reasoning, failed, cancelled, took]: Sums) {
  return { input, output, cachedInput, cacheWrite, reasoning, failed, cancelled, took: took ?? '' }
}

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

/** The rows that a question is about, and what is added up of them. */
function asking(query: UsageRange, isOfModels: boolean) {
  const { from, to, sessionId, agent, owner, model, withTimes = false } = query
  const values: unknown[] = []
  const conditions = [
    ['day BETWEEN $ AND $', from, to] as const,
    asked('session_id = $', sessionId),
    asked('agent = $', agent),
    asked('owner = $', owner),
    asked(`${KEYS.model} = $`, model),
  ]
  // A run counts at the first of its models, or at each of them where models are what is asked for.
  const runs = isOfModels || model !== undefined ? 'sum(model_runs)::bigint AS runs' : total('runs')
  const sums = `${runs}, ${SUMS}, ${withTimes ? "string_agg(took, '')" : "''"} AS took`
  return { where: allOf(conditions, values), values, sums }
}

function inOrder(query: UsageRange, key: string, by: string, agent = "''"): Query {
  const { where, values, sums } = asking(query, false)
  const text = `SELECT ${key} AS key, ${agent} AS agent, provider, model, ${sums} FROM usage WHERE ${where}
    GROUP BY ${by} ORDER BY ${by}`
  return { text, values }
}

function largest(query: UsageQuery, group: Exclude<UsageGroup, 'day'>): Query {
  const { where, values, sums } = asking(query, group === 'model')
  const text = `WITH counted AS MATERIALIZED (
      SELECT ${KEYS[group]} AS key, '' AS agent, provider, model, ${sums}
      FROM usage WHERE ${where} AND ${KEYS[group]} <> '' GROUP BY 1, 3, 4),
    largest AS (SELECT key, sum(input + output) AS tokens FROM counted GROUP BY key ORDER BY tokens DESC, key LIMIT $${values.push(query.limit)})
    SELECT counted.* FROM counted JOIN largest USING (key) ORDER BY tokens DESC, key, provider, model`
  return { text, values }
}

function sumsQuery(query: UsageQuery): Query {
  if (query.by !== 'day') return largest(query, query.by)
  return query.split === 'agent'
    ? inOrder(query, 'day::text', 'day, agent, provider, model', 'agent')
    : inOrder(query, 'day::text', 'day, provider, model')
}

/** The condition that finds one row. Its values are those of `usageKey`. */
export const WITH_USAGE_KEY = `(${KEY}) = ($1, $2, $3, $4, $5, $6)`

/** `place` is the primary key in the order that the database has, `values` the places of `usageKey` in that order. */
export function createUsageReads(reading: Reading, { place, values }: { place: string; values: string }): UsageReads {
  const { one, many, list } = reading
  const sums = list('usage_sums', toSum)
  const first = many({ name: 'usage_first_rows', text: `${ROW} ORDER BY ${place} LIMIT $1` }, toUsage)
  const next = many(
    { name: 'usage_next_rows', text: `${ROW} WHERE (${place}) > (${values}) ORDER BY ${place} LIMIT $7` },
    toUsage,
  )
  const ofSessions = many(
    {
      name: 'usage_of_sessions',
      // The key begins with the day. An index by session would be one page more for every run to write. A session that was imported
      // may have begun at any time: only so many days are looked up as are kept.
      text: `WITH RECURSIVE days (id, day, until) AS (
          SELECT id, CASE WHEN created_at < last_activity - ${KEPT_MS} THEN last_activity - ${KEPT_MS} ELSE created_at END / 86400000,
            last_activity / 86400000 + 1 FROM sessions WHERE id = ANY($1::text[])
          UNION ALL SELECT id, day + 1, until FROM days WHERE day < until)
        SELECT session_id, '', provider, model, ${total('runs')}, ${SUMS}, '' FROM days JOIN usage ON usage.session_id = days.id
          AND usage.day = days.day GROUP BY session_id, provider, model ORDER BY session_id, provider, model`,
    },
    toSum,
  )
  const row = one({ name: 'usage_row', text: `${ROW} WHERE ${WITH_USAGE_KEY}` }, toUsage)

  return {
    sums: (query) => sums(sumsQuery(query)),
    ofSessions: async (ids) => (ids.length === 0 ? [] : ofSessions(ids)),
    rows: (after, limit) => (after === null ? first(limit) : next(...usageKey(after), limit)),
    row: (key) => row(...usageKey(key)),
    totals: (range) => sums(inOrder(range, "''", 'provider, model')),
  }
}
