import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../../test/postgres/test-database.ts'
import { document, file, passage } from '../../contract/knowledge-samples.contract.ts'
import { describeKnowledgeStore } from '../../knowledge.contract.ts'
import type { KnowledgeStore } from '../../ports/knowledge.ts'
import type { Database } from '../connection/database.ts'
import { migrate } from '../migrate.ts'
import { connectTest } from '../testing/open-postgres.ts'
import { createPostgresKnowledge } from './postgres-knowledge.ts'

let server: TestDatabase
let replicas: Database[] = []
const tables = ['indexes', 'files', 'documents', 'places', 'passages', 'texts', 'frequencies', 'codes', 'vectors']

beforeAll(async () => {
  server = await openTestDatabase()
  replicas = [1, 2].map(() => connectTest(server.url, { readers: 4 }))
  for (const one of replicas) await migrate(one)
})

afterAll(async () => {
  await Promise.all(replicas.map((one) => one.close()))
  await server.drop()
})

async function open(): Promise<KnowledgeStore> {
  await askOnce(server.url, `TRUNCATE ${tables.map((table) => `knowledge_${table}`).join()}`)
  return another(0)
}

function another(replica: number): KnowledgeStore {
  const database = replicas[replica]
  if (database === undefined) throw new Error('the databases are open by now')
  const store = createPostgresKnowledge(database)
  onTestFinished(() => store.close())
  return store
}

describeKnowledgeStore('Postgres', open)

test('counts stay exact when two servers write to an index at once, and both see what is written', async () => {
  const [one, other] = [await open(), another(1)]
  const content = (i: number) => document(passage('all', { 1: 1 }), passage(`p${i}`, { 1: 1, [2 + (i % 2)]: 1 }))
  const writers = [one, other].map(async (store, w) => {
    for (let i = 0; i < 20; i += 1) {
      await store.put('i', file(`${i}.md`, `d${i}`), content(i))
      if (i % 3 === w) await store.remove('i', [`${i}.md`, `${i - 1}.md`])
    }
  })
  await Promise.all(writers)
  const left = await one.files('i', '', 100)

  const numbers = left.map(({ path }) => Number.parseInt(path, 10))
  const odd = numbers.filter((i) => i % 2 === 1).length
  // The last file takes with it what they all share.
  const all = left.length === 0 ? 0 : left.length + 1
  for (const store of [one, other]) {
    expect(await store.frequencies('i', [1, 2, 3])).toEqual([all, left.length - odd, odd])
    expect(await store.figures('i')).toMatchObject({ files: left.length, passages: all })
  }
  await one.remove(
    'i',
    left.map(({ path }) => path),
  )
  for (const table of tables.slice(1)) {
    expect(await askOnce(server.url, `SELECT count(*)::int AS n FROM knowledge_${table}`)).toEqual([{ n: 0 }])
  }
})

test('a cleared index leaves no rows behind', async () => {
  const store = await open()
  await store.put('i', file('a.md', 'd'), document(passage('p', { 1: 1 })))
  await store.clear('i')

  for (const table of tables) {
    expect(await askOnce(server.url, `SELECT count(*)::int AS n FROM knowledge_${table}`)).toEqual([{ n: 0 }])
  }
})

test('a write that loses its connection changes nothing, and the next one has a new connection', async () => {
  const store = await open()
  await store.put('i', file('a.md', 'd'), document(passage('p', { 1: 1 })))
  await askOnce(
    server.url,
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )

  const outcome = await store.put('i', file('b.md', 'e'), document(passage('q', { 1: 1 }))).then(
    () => 'written',
    (error: unknown) => error,
  )
  if (outcome !== 'written') {
    expect(outcome).toMatchObject({ code: 'storage_failed' })
    expect(await store.frequencies('i', [1])).toEqual([1])
    await store.put('i', file('b.md', 'e'), document(passage('q', { 1: 1 })))
  }
  expect(await store.frequencies('i', [1])).toEqual([2])
})

test('a store that rests frees its connection, and goes on writing', async () => {
  const store = await open()
  await store.put('i', file('a.md', 'd'), document(passage('p', { 1: 1 })))
  store.rest()
  await store.put('i', file('b.md', 'e'), document(passage('q', { 1: 1 })))
  expect(await store.frequencies('i', [1])).toEqual([2])
})
