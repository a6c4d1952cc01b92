// Fills a database with copies of one session that a server has made. So the rows are those of real runs, whatever the tables are.

import pg from 'pg'

/** Tables with rows of a session, and the column that names it. */
const TABLES = [
  ['sessions', 'id'],
  ['heads', 'session'],
  ['entries', 'session'],
  ['runs', 'session'],
  ['messages', 'session'],
  ['routes', 'session'],
  ['usage', 'session_id'],
  ['search_words', 'session'],
] as const

/** Building it at the end takes a fraction of the time. */
const SLOW_INDEX = 'search_words_words'
const SESSIONS_A_STATEMENT = 50_000

/** Copies the only session until there are `count`. They differ in their ids, their names and the time of their last activity. */
export async function fillSessions(url: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const rows = async (text: string): Promise<string[][]> => (await client.query({ text, rowMode: 'array' })).rows
  try {
    const found = await rows('SELECT sessions.id, alias, runs.id FROM sessions JOIN runs ON runs.session = sessions.id')
    const [[session = '', alias = '', run = ''] = []] = found
    if (found.length !== 1) throw new Error(`The database has ${found.length} runs, not one to copy.`)
    const [[index = ''] = []] = await rows(`SELECT indexdef FROM pg_indexes WHERE indexname = '${SLOW_INDEX}'`)
    await client.query(`SET synchronous_commit = off; DROP INDEX ${SLOW_INDEX}`)
    for (const [table, key] of TABLES) {
      const columns = await rows(
        `SELECT column_name, data_type FROM information_schema.columns
         WHERE table_schema = current_schema() AND table_name = '${table}' AND is_identity = 'NO'`,
      )
      const names = columns.map(([name]) => `"${name}"`).join(', ')
      const values = columns.map(([name = '', type = '']) => copied(name, type, { session, alias, run })).join(', ')
      for (let from = 1; from < count; from += SESSIONS_A_STATEMENT) {
        const to = Math.min(from + SESSIONS_A_STATEMENT, count) - 1
        await client.query(
          `INSERT INTO ${table} (${names}) SELECT ${values} FROM generate_series(${from}, ${to}) AS n, ${table} AS it WHERE it."${key}" = '${session}'`,
        )
      }
    }
    await client.query(index)
    await client.query('VACUUM ANALYZE')
    await client.query('CHECKPOINT')
  } finally {
    await client.end()
  }
}

interface Template {
  session: string
  alias: string
  run: string
}

/** Ids of 2025, which no server makes any more. */
const newId = (kind: string): string => `'0194${kind}-0000-7000-8000-' || lpad(to_hex(n), 12, '0')`

/** The value of a column in copy number `n`. */
function copied(name: string, type: string, { session, alias, run }: Template): string {
  const value = `it."${name}"`
  // Younger than the sessions' time to live, so that nothing is compacted during the measurement.
  if (name === 'last_activity') return `${value} - n % 600000`
  if (type !== 'text') return value
  return `replace(replace(replace(${value}, '${session}', ${newId('0000')}), '${run}', ${newId('0001')}), '${alias}', 'filled-' || n)`
}
