// People write messages of megabytes. Lists and searches must not fill the memory with them, and commits must not carry them around.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { parseSearch } from '../../../domain/session/search-words.ts'
import {
  accept,
  acceptedRun,
  append,
  commit,
  done,
  event,
  finish,
  newMessage,
  newSession,
  refusal,
  text,
} from '../../contract/samples.contract.ts'
import type { Database } from '../connection/database.ts'
import { createStoreOn, type PostgresStore } from '../postgres-store.ts'
import { connectTest, openTestPostgres, usualPostgres } from '../testing/open-postgres.ts'
import { watchSizes } from '../testing/watched-sizes.ts'
import { createReads } from './reads.ts'

const clock = createSystemClock()
let database: TestDatabase
let store: PostgresStore

beforeAll(async () => {
  database = await openTestDatabase()
  store = await openTestPostgres(database.url, { clock })
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

test('what a run writes does not bring its input from the database each time', async () => {
  const real = connectTest(database.url, { clock })
  let brought = () => 0
  const watching: Database = {
    ...real,
    async connectWriter(patience) {
      const connection = await real.connectWriter(patience)
      const watched = watchSizes(connection)
      brought = () => watched.most
      return Object.assign(Object.create(connection), { rows: watched.rows })
    },
  }
  const writer = await createStoreOn(watching, usualPostgres({ clock }))
  const content = 'Summarize this. '.repeat(20_000)
  const input = {
    messages: [{ id: 'm', role: 'user' as const, content }],
    instructions: [],
    context: [],
    clientTools: [],
  }
  const run = await acceptedRun(writer, accept(newSession(), { run: { input } }))

  await commit(writer, append(run, [text('a')]), append(run, [event('STEP')], { sync: true }))
  expect(await refusal(writer, append({ ...run, fence: 7 }, [event('STEP')], { sync: true }))).toBe('run_fenced')

  expect(brought()).toBeLessThan(10_000)
  expect((await done(writer, finish(run))).run?.input).toEqual(input)
  await writer.close()
})
