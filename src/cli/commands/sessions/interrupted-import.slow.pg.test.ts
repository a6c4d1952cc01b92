import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../../../../test/postgres/test-database.ts'
import { openSharedStore } from '../../../app/open-store.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { createIds } from '../../../domain/ids.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { createBlobFolder } from '../../../files/keep/blob-folder.ts'
import { createCachedBlobs } from '../../../files/keep/cached-blobs.ts'
import { createSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { archiveOf, killImportsInto, openFullPlace } from '../../testing/interrupted-import.ts'
import { tempFolder } from '../../testing/temp-folder.ts'

async function newPlace(cwd: string) {
  const database = await openTestDatabase()
  const { store, blobs: shared } = await openSharedStore({
    url: database.url,
    clock: createSystemClock(),
    log: silentLogger,
  })
  onTestFinished(async () => {
    await store.close()
    await database.drop()
  })
  const { uuid: newId } = createIds(Date.now)
  const dir = join(cwd, 'cache')
  return { store, blobs: createCachedBlobs({ shared, dir, maxBytes: 10_000_000, newId, log: silentLogger }) }
}

test('moves to Postgres and back that are killed at any step are whole after they are repeated', async () => {
  const cwd = await tempFolder()
  const full = await openFullPlace(join(cwd, 'a'))
  const archive = await archiveOf(full)
  await full.store.close()

  const place = await newPlace(cwd)
  expect(await killImportsInto(archive, place)).toBeGreaterThanOrEqual(10)

  const back = {
    store: createSqliteStore({ path: ':memory:', fatal() {} }),
    blobs: createBlobFolder(join(cwd, 'files')),
  }
  onTestFinished(() => back.store.close())
  expect(await killImportsInto(await archiveOf(place), back)).toBeGreaterThanOrEqual(10)
})
