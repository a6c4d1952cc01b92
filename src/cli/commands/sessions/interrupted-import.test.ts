import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createBlobFolder } from '../../../files/keep/blob-folder.ts'
import { createSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { archiveOf, killImportsIntoNew, openFullPlace } from '../../testing/interrupted-import.ts'
import { tempFolder } from '../../testing/temp-folder.ts'

test('an import that is killed at any step is whole after it is repeated, and nothing is there twice', async () => {
  const cwd = await tempFolder()
  const full = await openFullPlace(join(cwd, 'a'))
  const archive = await archiveOf(full)
  await full.store.close()
  let places = 0

  const killed = await killImportsIntoNew(archive, async () => {
    const store = createSqliteStore({ path: ':memory:', fatal() {} })
    onTestFinished(() => store.close())
    places += 1
    return { store, blobs: createBlobFolder(join(cwd, `files-${places}`)) }
  })

  // The bytes of a file, two groups of sessions, the kinds of records and the audit trail.
  expect(killed).toBeGreaterThanOrEqual(10)
})
