import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../domain/clock.ts'
import { parseSearch } from '../../domain/session/search-words.ts'
import type { Database } from './connection/database.ts'
import { migrate } from './migrate.ts'
import { createReads } from './rows/reads.ts'
import { eraseSearch, titleIsDue } from './rows/search-table.ts'
import { createSearchIndexer } from './search-indexer.ts'
import type { Sql } from './sql.ts'
import { connectTest } from './testing/open-postgres.ts'
import { watchSizes } from './testing/watched-sizes.ts'

const clock = createSystemClock()
let server: TestDatabase
let database: Database

beforeAll(async () => {
  server = await openTestDatabase()
  database = connectTest(server.url, { clock })
  await migrate(database)
})

afterAll(async () => {
  await database.close()
  await server.drop()
})

beforeEach(async () => {
  await askOnce(server.url, 'TRUNCATE sessions, messages, search_due, search_words')
})

/** A session with these messages, which are due. */
async function say(session: string, contents: readonly string[]): Promise<void> {
  await askOnce(
    server.url,
    `INSERT INTO sessions (id, owner, agent, status, created_at, last_activity, metadata, message_count, unlisted, compacted)
     VALUES ('${session}', 'ann', 'a', 'active', 1, 1, '{}', 1, false, true)`,
  )
  const values = contents.map((content, i) => `('${session}', 'm${i}', 'user', '${content}', 'r', ${i})`)
  if (values.length === 0) return
  await askOnce(
    server.url,
    `INSERT INTO messages (session, id, role, content, run_id, created_at) VALUES ${values.join(', ')}`,
  )
  await askOnce(
    server.url,
    `INSERT INTO search_due (session, source, message_id) SELECT session, 'm', id FROM messages`,
  )
}

function openIndexer(sql: Sql = database.statements) {
  const errors: unknown[] = []
  const indexer = createSearchIndexer({ sql, clock, failed: (error) => errors.push(error) })
  // Its time stands still, so a search goes on to its end.
  const { find } = indexer.searched(createReads(database.reads, { mono: () => 0 }).search)
  const search = async (text: string) => {
    const { found, isComplete } = await find({ terms: parseSearch(text), limit: 10 })
    return { ids: found.map(({ session }) => session.id), isComplete }
  }
  return { ...indexer, errors, search }
}

test('several processes index at the same time, and each text is indexed once', async () => {
  await say(
    's1',
    Array.from({ length: 200 }, (_, i) => `apple number${i}`),
  )
  const indexers = [openIndexer(), openIndexer(), openIndexer()]

  await Promise.all(indexers.map((one) => one.search('apple')))
  const last = indexers[0] ?? expect.fail('there is no indexer')
  while (!(await last.search('apple')).isComplete) expect(last.errors).toEqual([])

  expect(await last.search('number199 ')).toEqual({ ids: ['s1'], isComplete: true })
  expect(await askOnce(server.url, 'SELECT count(*)::int AS n FROM search_words')).toEqual([{ n: 200 }])
  for (const one of indexers) {
    expect(one.errors).toEqual([])
    await one.close()
  }
})

test('what a dead process has claimed is indexed by another one, after a while', async () => {
  await say('s1', ['apple'])
  await askOnce(server.url, 'UPDATE search_due SET claimed_at = now()')
  const indexer = openIndexer()
  expect(await indexer.search('apple')).toEqual({ ids: [], isComplete: false })

  await askOnce(server.url, `UPDATE search_due SET claimed_at = now() - interval '1 minute'`)

  expect(await indexer.search('apple')).toEqual({ ids: ['s1'], isComplete: true })
  await indexer.close()
})

test('a title that changes while it is indexed is indexed again', async () => {
  await say('s1', [])
  const write = (title: string) =>
    askOnce(
      server.url,
      `UPDATE sessions SET supervised_status = 'active', supervision = '{"title":"${title}","prompt":null}' WHERE id = 's1'`,
    )
  await write('apple')
  await database.statements.rows(titleIsDue, ['s1'])
  let isChanged = false
  const slow: Sql = {
    async rows(statement, values) {
      if (statement.name === 'search_index' && !isChanged) {
        isChanged = true
        await write('pear')
        await database.statements.rows(titleIsDue, ['s1'])
      }
      return database.statements.rows(statement, values)
    },
  }
  const indexer = openIndexer(slow)

  expect(await indexer.search('pear')).toEqual({ ids: ['s1'], isComplete: true })
  expect(await indexer.search('apple')).toEqual({ ids: [], isComplete: true })
  await indexer.close()
})

test('a session that is removed while it is indexed leaves nothing behind', async () => {
  await say('s1', ['apple', 'pear'])
  const late: Sql = {
    async rows(statement, values) {
      if (statement.name === 'search_index') {
        for (const erase of eraseSearch) await database.statements.rows(erase, ['s1'])
      }
      return database.statements.rows(statement, values)
    },
  }
  const indexer = openIndexer(late)

  await indexer.search('apple')

  expect(
    await askOnce(server.url, 'SELECT session FROM search_words UNION ALL SELECT session FROM search_due'),
  ).toEqual([])
  await indexer.close()
})

test('long texts are read a few at a time', async () => {
  await say('s1', ['apple', ...Array.from({ length: 12 }, () => `pear ${'x'.repeat(250_000)}`)])
  const watched = watchSizes(database.statements)
  const indexer = openIndexer(watched)

  await expect.poll(() => indexer.search('apple'), { timeout: 60_000 }).toEqual({ ids: ['s1'], isComplete: true })
  expect(await indexer.search('pear')).toEqual({ ids: ['s1'], isComplete: true })
  expect(watched.most).toBeLessThan(2_000_000)
  expect(indexer.errors).toEqual([])
  await indexer.close()
})

test('a text with more words than an index row holds is found by its beginning', async () => {
  await say('s1', [`first ${Array.from({ length: 60_000 }, (_, i) => `w${(i * 7_919).toString(36)}x${i}`).join(' ')}`])
  const indexer = openIndexer()

  expect(await indexer.search('first ')).toEqual({ ids: ['s1'], isComplete: true })
  expect(indexer.errors).toEqual([])
  await indexer.close()
})

test('without a database a search says so, and the indexer goes on later', async () => {
  await say('s1', ['apple'])
  let isAway = true
  const away: Sql = {
    rows: (statement, values) =>
      isAway ? Promise.reject(new Error('away')) : database.statements.rows(statement, values),
  }
  const indexer = openIndexer(away)

  expect(await indexer.search('apple')).toEqual({ ids: [], isComplete: false })
  isAway = false
  expect(await indexer.search('apple')).toEqual({ ids: ['s1'], isComplete: true })
  expect(indexer.errors.length).toBe(1)
  await indexer.close()
})
