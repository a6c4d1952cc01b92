// People write messages of megabytes. Lists and searches must not fill the memory with them.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { parseSearch } from '../../../domain/search-words.ts'
import { accept, acceptedRun, newMessage, newSession } from '../../contract/samples.contract.ts'
import { createPostgresStore, type PostgresStore } from '../postgres-store.ts'
import { watchSizes } from '../testing/watched-sizes.ts'
import { createReads } from './reads.ts'

const clock = createSystemClock()
let database: TestDatabase
let store: PostgresStore

beforeAll(async () => {
  database = await openTestDatabase()
  store = await createPostgresStore({ url: database.url, clock, log: silentLogger })
})

afterAll(async () => {
  await store.close()
  await database.drop()
})

/** Its time stands still, so a search goes on to its end. */
function watchedReads() {
  const watched = watchSizes(store.database.reads)
  return { reads: createReads(watched, { mono: () => 0 }), watched }
}

test('an overview reads long first messages one by one', async () => {
  const long = 'Summarize this. '.repeat(20_000)
  const part = { type: 'text', text: long } as const
  const contents = ['Short.', long, long, [part], '\u0001 odd', `\ud800 ${long}`]
  const sessions = contents.map(() => newSession())
  for (const [i, session] of sessions.entries()) {
    const message = newMessage('first', { content: contents[i] ?? '' })
    await acceptedRun(store, accept(session, { start: { messages: [message] } }))
  }
  const { reads, watched } = watchedReads()

  const overviews = await reads.sessions.overview(sessions.map(({ id }) => id))

  const summary = expect.stringMatching(/^Summarize this\. Summarize.*…$/)
  expect(overviews.map(({ id }) => id)).toEqual(sessions.map(({ id }) => id))
  expect(overviews.map(({ title }) => title)).toEqual([
    ...['Short.', summary, summary, summary],
    ...[expect.stringContaining('odd'), expect.stringMatching(/Summarize this\. Summarize.*…$/)],
  ])
  expect(watched.most).toBeLessThan(2 * long.length)
})

test('a search for a phrase reads long texts a few at a time, and finds the old ones too', async () => {
  const long = `beta ${'x'.repeat(250_000)} alpha`
  const contents = ['alpha beta', ...Array.from({ length: 12 }, () => long)]
  const messages = contents.map((content, i) => newMessage(`m${i}`, { content }))
  await acceptedRun(store, accept(newSession(), { start: { messages } }))
  const query = { terms: parseSearch('"alpha beta"'), limit: 5 }
  await expect.poll(async () => (await store.search.find(query)).isComplete, { timeout: 60_000 }).toBe(true)
  const { reads, watched } = watchedReads()

  const { found } = await reads.search.find(query)

  expect(found.map(({ hits }) => hits.map(({ messageId }) => messageId))).toEqual([['m0']])
  expect(watched.most).toBeLessThan(2_000_000)
})
