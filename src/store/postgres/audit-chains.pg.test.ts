import { afterAll, beforeAll, expect, test } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../domain/clock.ts'
import { nextEntry } from '../audit-chain.ts'
import { createChainCheck } from '../chain-check.ts'
import { done, newAudit, refusal } from '../contract/samples.contract.ts'
import { tieChains } from '../tie-chains.ts'
import type { PostgresStore } from './postgres-store.ts'
import { openTestPostgres } from './testing/open-postgres.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.drop())

const clock = createSystemClock()
const open = (writerId: string): Promise<PostgresStore> => openTestPostgres(database.url, { clock, writerId })
const decide = (store: PostgresStore, by: string) => done(store, { type: 'add_audit', audit: [newAudit(by)] })
const kindsOf = async (store: PostgresStore, chain: string): Promise<string[]> =>
  (await store.audit.entries(0, 100, chain)).map(({ text }) => JSON.parse(text).kind)
const tie = (store: PostgresStore, writer: string) =>
  tieChains({ reads: store.audit, shared: store.shared, clock, writer, commit: (command) => done(store, command) })

test('every process writes a chain, one of them ties all, and a chain that is cut off or removed is missed', async () => {
  const [one, two] = await Promise.all([open('one'), open('two')])
  await Promise.all([decide(one, 'ann'), decide(two, 'bob')])
  expect(await tie(two, 'two')).toBe('tied')
  expect(await tie(one, 'one')).toBe('not due')
  await decide(one, 'carl')
  const three = await open('three')
  await decide(three, 'dora')

  expect(await kindsOf(three, 'one')).toEqual(['chain_begun', 'decision', 'decision'])
  expect(await kindsOf(three, 'two')).toEqual(['chain_begun', 'decision', 'chains_tied'])
  const [begun] = await three.audit.entries(0, 1, 'three')
  const [, , tied] = await three.audit.entries(0, 3, 'two')
  expect(JSON.parse(begun?.text ?? '')).toMatchObject({ by: 'three', details: { tie: `two:3:${tied?.hash}` } })

  const state = () => createChainCheck({ reads: three.audit, clock }).state(60_000)
  expect(await state()).toMatchObject({ status: 'whole', entries: 8, head: null, lastTie: { chain: 'two', n: 3 } })
  const cut = (condition: string) =>
    askOnce(database.url, `ALTER TABLE audit DISABLE TRIGGER ALL; DELETE FROM audit WHERE ${condition}`)
  await cut(`chain = 'one' AND n > 1`)
  expect(await state()).toMatchObject({
    status: 'broken',
    brokenAt: 2,
    problem: expect.stringMatching(/^The end of chain one was cut off after entry 1: entry 3 of chain two, written /),
  })
  await cut(`chain = 'one'`)
  expect(await state()).toMatchObject({ status: 'broken', problem: expect.stringMatching(/^Chain one is missing: /) })
  await Promise.all([one, two, three].map((store) => store.close()))
})

test('an import does not add to the chain of a server, which goes on writing it', async () => {
  const [own, importer] = await Promise.all([open('own'), open('importer')])
  await decide(own, 'ann')
  const [, last] = await own.audit.entries(0, 2, 'own')
  if (last === undefined) throw new Error('there are two entries')
  const forged = nextEntry({ chain: 'own', n: last.n, head: last.hash }, JSON.stringify(newAudit('eve')))

  expect(await refusal(importer, { type: 'import_audit', entries: [forged], audit: [] })).toBe('conflict')

  await decide(own, 'bob')
  expect((await own.audit.entries(2, 10, 'own')).map(({ text }) => JSON.parse(text).by)).toEqual(['bob'])
  await Promise.all([own, importer].map((store) => store.close()))
})
