// The file routes over a real socket, a real store and a folder of their own.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '../../../../domain/clock.ts'
import { createIds } from '../../../../domain/ids.ts'
import { silentLogger } from '../../../../domain/logger.ts'
import { createBlobFolder } from '../../../../files/keep/blob-folder.ts'
import { createFileKeeper, type FileKeeperDeps } from '../../../../files/keep/create-file-keeper.ts'
import { createFileKeys } from '../../../../http/auth/file-keys.ts'
import { startServer } from '../../../../http/testing/server-fixture.ts'
import { createSessionLog } from '../../../../log/session-log.ts'
import { createSqliteStore } from '../../../../store/sqlite/sqlite-store.ts'
import { createFileRoutes } from '../routes.ts'

/** Ends with `await using`. */
export async function openFiles({
  auth = {},
  ...options
}: Partial<Pick<FileKeeperDeps, 'unsent'>> & { auth?: { tokenRequired?: boolean } } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-files-'))
  const clock = createSystemClock()
  const ids = createIds(clock.now)
  const fatal = (error: Error) => {
    throw error
  }
  const store = createSqliteStore({ path: join(folder, 'quarterdeck.db'), fatal })
  const log = createSessionLog({ store, clock })
  const dir = join(folder, 'files')
  const files = createFileKeeper({
    blobs: createBlobFolder(dir),
    store: store.files,
    commit: (command) => log.commit(command),
    clock,
    ids,
    log: silentLogger,
    unsent: { bytes: null, ttlSeconds: 0 },
    ...options,
  })
  const keys = createFileKeys({ secret: async () => Buffer.from('of these tests'), clock })
  const server = await startServer({ routes: createFileRoutes({ files, keys }), auth })
  return {
    keys,
    server,
    url: server.url,
    store,
    files,
    /** What lies in the folder of the files. */
    async kept(): Promise<string[]> {
      const found = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => [])
      return found.filter((entry) => entry.isFile()).map((entry) => entry.name)
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await log.close()
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
}
