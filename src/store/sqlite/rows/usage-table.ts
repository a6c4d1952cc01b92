import type { DatabaseSync } from 'node:sqlite'
import {
  dayOf,
  USAGE_DAYS,
  type UsageGroup,
  type UsageKey,
  type UsageReads,
  type UsageRow,
  type UsageSum,
} from '../../ports/usage.ts'

export function createUsageRows(db: DatabaseSync) {
  const add = db.prepare(
    `INSERT INTO usage (day, session_id, owner, agent, provider, model, runs, model_runs, input, output, cached_input, cache_write, reasoning)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET runs = runs + excluded.runs, model_runs = model_runs + excluded.model_runs,
       input = input + excluded.input, output = output + excluded.output, cached_input = cached_input + excluded.cached_input,
       cache_write = cache_write + excluded.cache_write, reasoning = reasoning + excluded.reasoning`,
  )
  const removeOld = db.prepare('DELETE FROM usage WHERE day < ?')

  return {
    add(rows: readonly UsageRow[]): void {
      for (const row of rows) {
        const { runs, modelRuns, input, output, cachedInput, cacheWrite, reasoning } = row
        add.run(...placeOf(row), runs, modelRuns, input, output, cachedInput, cacheWrite, reasoning)
      }
    },
    removeOld: (now: number): void => void removeOld.run(dayOf(now) - USAGE_DAYS),
  }
}

const KEYS: Readonly<Record<UsageGroup, string>> = {
  day: 'day',
  agent: 'agent',
  model: "provider || '/' || model",
  session: 'session_id',
  owner: 'owner',
}

const SUMS = `sum(input) AS input, sum(output) AS output, sum(cached_input) AS cached_input, sum(cache_write) AS cache_write,
  sum(reasoning) AS reasoning`

/** The primary key. */
const PLACE = 'day, session_id, owner, agent, provider, model'
const WITHIN = 'day BETWEEN ?1 AND ?2 AND (?3 IS NULL OR session_id = ?3)'

export function createUsageReads(db: DatabaseSync): UsageReads {
  const totals = db.prepare(
    `SELECT '' AS key, provider, model, sum(runs) AS runs, ${SUMS} FROM usage WHERE ${WITHIN}
     GROUP BY provider, model ORDER BY provider, model`,
  )
  const days = db.prepare(
    `SELECT day AS key, provider, model, sum(runs) AS runs, ${SUMS} FROM usage WHERE ${WITHIN}
     GROUP BY day, provider, model ORDER BY day, provider, model`,
  )
  const groups = (by: UsageGroup) =>
    db.prepare(
      `WITH counted AS MATERIALIZED (
         SELECT ${KEYS[by]} AS key, provider, model, sum(${by === 'model' ? 'model_runs' : 'runs'}) AS runs, ${SUMS}
         FROM usage WHERE ${WITHIN} GROUP BY 1, 2, 3),
       largest AS (SELECT key, sum(input + output) AS tokens FROM counted GROUP BY key ORDER BY tokens DESC, key LIMIT ?4 + 0)
       SELECT counted.* FROM counted JOIN largest USING (key) ORDER BY tokens DESC, key, provider, model`,
    )
  const first = db.prepare(`SELECT * FROM usage ORDER BY ${PLACE} LIMIT ? + 0`)
  const next = db.prepare(`SELECT * FROM usage WHERE (${PLACE}) > (?, ?, ?, ?, ?, ?) ORDER BY ${PLACE} LIMIT ? + 0`)
  const one = db.prepare(`SELECT * FROM usage WHERE (${PLACE}) = (?, ?, ?, ?, ?, ?)`)
  const byGroup = {
    agent: groups('agent'),
    model: groups('model'),
    session: groups('session'),
    owner: groups('owner'),
  }

  return {
    async sums({ from, to, by, limit, sessionId = null }) {
      const range = [from, to, sessionId] as const
      return (by === 'day' ? days.all(...range) : byGroup[by].all(...range, limit)).map(toSum)
    },
    rows: async (after, limit) => (after === null ? first.all(limit) : next.all(...placeOf(after), limit)).map(toRow),
    async row(key) {
      const row = one.get(...placeOf(key))
      return row === undefined ? null : toRow(row)
    },
    totals: async ({ from, to, sessionId = null }) => totals.all(from, to, sessionId).map(toSum),
  }
}

const placeOf = ({ day, sessionId, owner, agent, provider, model }: UsageKey) =>
  [day, sessionId, owner, agent, provider, model] as const

const toRow = (row: Record<string, unknown>): UsageRow => ({
  day: Number(row.day),
  sessionId: String(row.session_id),
  owner: String(row.owner),
  agent: String(row.agent),
  modelRuns: Number(row.model_runs),
  ...tokensIn(row),
})

const toSum = (row: Record<string, unknown>): UsageSum => ({ key: String(row.key), ...tokensIn(row) })

const tokensIn = (row: Record<string, unknown>) => ({
  provider: String(row.provider),
  model: String(row.model),
  runs: Number(row.runs),
  input: Number(row.input),
  output: Number(row.output),
  cachedInput: Number(row.cached_input),
  cacheWrite: Number(row.cache_write),
  reasoning: Number(row.reasoning),
})
