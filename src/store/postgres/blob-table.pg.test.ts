import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { askOnce, openTestDatabase, type TestDatabase } from '../../../test/postgres/test-database.ts'
import { createPostgresBlobs } from './blob-table.ts'
import type { Database } from './connection/database.ts'
import { migrate } from './migrate.ts'
import type { Sql } from './sql.ts'
import { connectTest } from './testing/open-postgres.ts'

let owned: TestDatabase
let database: Database

beforeAll(async () => {
  owned = await openTestDatabase()
  database = connectTest(owned.url)
  await migrate(database)
})
beforeEach(() => ask('TRUNCATE blobs, blob_parts'))
afterAll(async () => {
  await database.close()
  await owned.drop()
})

const ask = (sql: string) => askOnce(owned.url, sql)
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** In pieces that do not fit the parts. The buffer is used again, as a file's may be. */
const content = (bytes: Uint8Array) =>
  async function* (): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < bytes.length; i += 100_000) {
      const piece = Uint8Array.from(bytes.subarray(i, i + 100_000))
      yield piece
      piece.fill(0)
    }
  }

async function read(blobs: ReturnType<typeof createPostgresBlobs>, sha256: string): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of blobs.get(sha256)) parts.push(part)
  return Buffer.concat(parts)
}

/** Fails after so many statements, as a process that dies. */
function dying(after: number): Sql {
  let left = after
  return {
    async rows(statement, values) {
      if (left === 0) throw new Error('killed')
      left -= 1
      return database.reads.rows(statement, values)
    },
  }
}

describe('bytes in Postgres', () => {
  const large = randomBytes(2_500_000)

  test.each([1, 1024 * 1024, 1024 * 1024 + 1, 2_500_000])('come back as they were: %i bytes', async (length) => {
    const blobs = createPostgresBlobs(database.reads)
    const bytes = large.subarray(0, length)
    const sha256 = hashOf(bytes)
    expect(await blobs.has(sha256)).toBe(false)
    expect(await read(blobs, sha256)).toEqual(Buffer.alloc(0))

    await blobs.put(sha256, length, content(bytes))

    expect(await blobs.has(sha256)).toBe(true)
    expect(Buffer.compare(await read(blobs, sha256), bytes)).toBe(0)
  })

  test('are kept once, however many processes put them at the same time', async () => {
    const sha256 = hashOf(large)
    const all = Array.from({ length: 5 }, () => createPostgresBlobs(database.reads))
    await Promise.all(all.map((blobs) => blobs.put(sha256, large.length, content(large))))

    expect(await ask('SELECT count(*)::int AS n FROM blob_parts')).toEqual([{ n: 3 }])
    let sent = 0
    await createPostgresBlobs(database.reads).put(sha256, large.length, () => {
      sent += 1
      return content(large)()
    })
    expect(sent).toBe(0)
  })

  test('of a process that died half-way are not seen, and the next put completes them', async () => {
    const blobs = createPostgresBlobs(database.reads)
    const sha256 = hashOf(large)
    for (const after of [1, 2, 3, 4]) {
      await expect(createPostgresBlobs(dying(after)).put(sha256, large.length, content(large))).rejects.toThrow(
        'killed',
      )
      expect([await blobs.has(sha256), (await read(blobs, sha256)).length]).toEqual([false, 0])
    }
    expect(await hashesOf(blobs)).toEqual([sha256])
    await blobs.put(sha256, large.length, content(large))
    expect(Buffer.compare(await read(blobs, sha256), large)).toBe(0)
  })

  test('are removed with all their parts, unless somebody has put them just now', async () => {
    const blobs = createPostgresBlobs(database.reads)
    const sha256 = hashOf(large)
    await blobs.put(sha256, large.length, content(large))
    expect(await blobs.remove(sha256, 60_000)).toBe(false)
    await ask('UPDATE blobs SET created_at = created_at - 120000')
    // The bytes are there already, so only their age changes.
    await blobs.put(sha256, large.length, content(large))
    expect(await blobs.remove(sha256, 60_000)).toBe(false)
    await ask('UPDATE blobs SET created_at = created_at - 120000')

    expect(await blobs.remove(sha256, 60_000)).toBe(true)
    expect(await blobs.remove(sha256, 60_000)).toBe(false)
    expect(await ask('SELECT count(*)::int AS n FROM blob_parts')).toEqual([{ n: 0 }])
  })

  test('that somebody removes while a paused process puts them are put again from the beginning', async () => {
    const blobs = createPostgresBlobs(database.reads)
    const sha256 = hashOf(large)
    let rounds = 0
    await blobs.put(sha256, large.length, async function* () {
      rounds += 1
      yield* content(large)()
      if (rounds === 1) await ask('DELETE FROM blobs; DELETE FROM blob_parts WHERE n = 0')
    })

    expect(rounds).toBe(2)
    expect(Buffer.compare(await read(blobs, sha256), large)).toBe(0)
  })

  test('are listed in groups', async () => {
    const blobs = createPostgresBlobs(database.reads)
    await ask(`INSERT INTO blobs SELECT lpad(n::text, 64, '0'), 1, 0 FROM generate_series(1, 1203) AS n`)
    const groups: number[] = []
    for await (const group of blobs.hashes()) groups.push(group.length)
    expect(groups).toEqual([500, 500, 203])
  })
})

async function hashesOf(blobs: ReturnType<typeof createPostgresBlobs>): Promise<string[]> {
  const found: string[] = []
  for await (const group of blobs.hashes()) found.push(...group)
  return found
}
