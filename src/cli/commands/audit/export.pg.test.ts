import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../../test/postgres/test-database.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import type { AuditEntry } from '../../../domain/supervision/audit.ts'
import { done, newAudit } from '../../../store/contract/samples.contract.ts'
import type { PostgresStore } from '../../../store/postgres/postgres-store.ts'
import { openTestPostgres } from '../../../store/postgres/testing/open-postgres.ts'
import type { ReadOnlyStore } from '../../../store/store.ts'
import { tieChains } from '../../../store/tie-chains.ts'
import { verifyTrail } from '../../../store/verify-trail.ts'
import { auditLines } from '../sessions/export.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.drop())

const clock = createSystemClock()
const open = (writerId: string): Promise<PostgresStore> => openTestPostgres(database.url, { clock, writerId })

test('an export that is made while servers write and tie their chains is whole', async () => {
  const [one, two] = await Promise.all([open('one'), open('two')])
  const decide = (store: PostgresStore) => done(store, { type: 'add_audit', audit: [newAudit('ann')] })
  for (const store of [one, two]) await decide(store)
  let isTied = false
  const stored: Pick<ReadOnlyStore, 'read'> = {
    async read(work) {
      const result = await work(one)
      const page: unknown = result
      const isPageOfOne = Array.isArray(page) && page[0]?.chain === 'one' && page[0]?.n === 1
      // The export has read chain one. It grows, and the tie in chain two names its new end.
      if (isPageOfOne && !isTied) {
        isTied = true
        await decide(one)
        const commit = (command: Parameters<typeof done>[1]) => done(two, command)
        await tieChains({ reads: two.audit, shared: two.shared, clock, writer: 'two', commit })
      }
      return result
    },
  }

  const chains = new Map<string, AuditEntry[]>()
  for await (const line of auditLines(stored)) {
    for (const entry of JSON.parse(line).audit) chains.set(entry.chain, [...(chains.get(entry.chain) ?? []), entry])
  }

  expect(isTied).toBe(true)
  const { ends, problems } = await verifyTrail({
    chains: async () => [...chains.keys()],
    async *pages(chain) {
      yield chains.get(chain) ?? []
    },
  })
  expect({ ends: ends.map(({ chain, n }) => [chain, n]), problems }).toEqual({
    ends: [
      ['one', 2],
      ['two', 2],
    ],
    problems: [],
  })
  for (const store of [one, two]) await store.close()
})
