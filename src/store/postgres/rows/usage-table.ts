import type { UsageGroup, UsageKey, UsageRange, UsageReads, UsageRow, UsageSum } from '../../ports/usage.ts'
import type { Statement } from '../../tables/statement.ts'
import { createNaming, type Sql } from '../sql.ts'

const KEYS: Readonly<Record<UsageGroup, string>> = {
  day: 'day::text',
  agent: 'agent',
  model: "provider || '/' || model",
  session: 'session_id',
  owner: 'owner',
}

/** Postgres makes a sum of bigints a numeric. */
const total = (column: string): string => `sum(${column})::bigint AS ${column}`
const SUMS = ['input', 'output', 'cached_input', 'cache_write', 'reasoning'].map(total).join(', ')

type SumRow = [
  key: string,
  provider: string,
  model: string,
  runs: number,
  input: number,
  output: number,
  cachedInput: number,
  cacheWrite: number,
  reasoning: number,
]

const toSum = ([key, provider, model, runs, input, output, cachedInput, cacheWrite, reasoning]: SumRow): UsageSum => ({
  key,
  provider,
  model,
  runs,
  input,
  output,
  cachedInput,
  cacheWrite,
  reasoning,
})

type UsageTuple = [
  sessionId: string,
  day: number,
  owner: string,
  agent: string,
  provider: string,
  model: string,
  runs: number,
  modelRuns: number,
  input: number,
  output: number,
  cachedInput: number,
  cacheWrite: number,
  reasoning: number,
]

function toUsage(row: UsageTuple): UsageRow {
  const [sessionId, day, owner, agent, provider, model, runs, modelRuns, ...tokens] = row
  const [input, output, cachedInput, cacheWrite, reasoning] = tokens
  const place = { sessionId, day, owner, agent, provider, model }
  return { ...place, runs, modelRuns, input, output, cachedInput, cacheWrite, reasoning }
}

/** In the order of the primary key. */
const PLACE = 'session_id, day, owner, agent, provider, model'
const placeOf = ({ sessionId, day, owner, agent, provider, model }: UsageKey) => [
  sessionId,
  day,
  owner,
  agent,
  provider,
  model,
]
const ROW = `SELECT ${PLACE}, runs, model_runs, input, output, cached_input, cache_write, reasoning FROM usage`
const firstRows: Statement = { name: 'usage_first_rows', text: `${ROW} ORDER BY ${PLACE} LIMIT $1` }
const nextRows: Statement = {
  name: 'usage_next_rows',
  text: `${ROW} WHERE (${PLACE}) > ($1, $2, $3, $4, $5, $6) ORDER BY ${PLACE} LIMIT $7`,
}
const oneRow: Statement = { name: 'usage_row', text: `${ROW} WHERE (${PLACE}) = ($1, $2, $3, $4, $5, $6)` }

export function createUsageReads(sql: Sql): UsageReads {
  const named = createNaming('usage')

  async function sums({ from, to, sessionId }: UsageRange, text: (within: string) => string, more: unknown[] = []) {
    const within = `day BETWEEN $1 AND $2${sessionId === undefined ? '' : ` AND session_id = $${3 + more.length}`}`
    const values = [from, to, ...more, ...(sessionId === undefined ? [] : [sessionId])]
    return (await sql.rows<SumRow>(named(text(within)), values)).map(toSum)
  }

  return {
    sums({ by, limit, ...range }) {
      if (by === 'day') {
        return sums(
          range,
          (within) => `SELECT ${KEYS.day} AS key, provider, model, ${total('runs')}, ${SUMS} FROM usage WHERE ${within}
            GROUP BY day, provider, model ORDER BY day, provider, model`,
        )
      }
      const runs = by === 'model' ? 'model_runs' : 'runs'
      return sums(
        range,
        (within) => `WITH counted AS MATERIALIZED (
            SELECT ${KEYS[by]} AS key, provider, model, sum(${runs})::bigint AS runs, ${SUMS} FROM usage WHERE ${within}
            GROUP BY 1, 2, 3),
          largest AS (SELECT key, sum(input + output) AS tokens FROM counted GROUP BY key ORDER BY tokens DESC, key LIMIT $3)
          SELECT counted.* FROM counted JOIN largest USING (key) ORDER BY tokens DESC, key, provider, model`,
        [limit],
      )
    },
    async rows(after, limit) {
      const rows =
        after === null
          ? await sql.rows<UsageTuple>(firstRows, [limit])
          : await sql.rows<UsageTuple>(nextRows, [...placeOf(after), limit])
      return rows.map(toUsage)
    },
    async row(key) {
      const [row] = await sql.rows<UsageTuple>(oneRow, placeOf(key))
      return row === undefined ? null : toUsage(row)
    },
    totals: (range) =>
      sums(
        range,
        (within) => `SELECT '' AS key, provider, model, ${total('runs')}, ${SUMS} FROM usage WHERE ${within}
          GROUP BY provider, model ORDER BY provider, model`,
      ),
  }
}
