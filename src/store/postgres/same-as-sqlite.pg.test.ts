// Both stores follow the same rules, so the same commands must have the same results, and leave the same behind.

import { expect, test } from 'vitest'
import { openTestDatabase } from '../../../test/postgres/test-database.ts'
import { dumpOf, withoutSeqs } from '../contract/dump.contract.ts'
import { createRandomCommands } from '../contract/random-commands.contract.ts'
import { NOW } from '../contract/samples.contract.ts'
import type { Result } from '../ports/command.ts'
import { createSqliteStore } from '../sqlite/sqlite-store.ts'
import { openTestPostgres } from './testing/open-postgres.ts'

/** `DIFFERENTIAL_SEEDS=100` looks longer. */
const seeds = Number(process.env.DIFFERENTIAL_SEEDS ?? 2)
const COMMITS = 100

const seen = (results: readonly Result[]) =>
  results.map((result) =>
    result.ok ? withoutSeqs(result) : { refused: result.error.code, message: result.error.message },
  )

test.each(Array.from({ length: seeds }, (_, i) => i + 1))(
  'the same random commands have the same results on SQLite and Postgres (seed %i)',
  async (seed) => {
    const { url, drop } = await openTestDatabase()
    const postgres = await openTestPostgres(url)
    const sqlite = createSqliteStore({
      path: ':memory:',
      fatal(error) {
        throw error
      },
    })
    const commands = createRandomCommands(seed)
    try {
      for (let i = 0; i < COMMITS; i += 1) {
        const group = commands.next()
        const { results: expected, synced } = await sqlite.commit(group)
        await synced
        const { results } = await postgres.commit(group)
        expect({ commit: i, group, results: seen(results) }).toEqual({ commit: i, group, results: seen(expected) })
        commands.learn(expected)
      }
      const ids = commands.ids()
      const later = NOW + COMMITS * 2_000
      const left = withoutSeqs(await dumpOf(sqlite, ids, later))
      expect(withoutSeqs(await dumpOf(postgres, ids, later))).toEqual(left)
    } finally {
      await sqlite.close()
      await postgres.close()
      await drop()
    }
  },
  120_000,
)
