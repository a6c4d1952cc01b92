// A test engine with a real file store in its own folder. Its file reader reads only text, and treats a file as damaged if its name
// says so.

import { readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import { silentLogger } from '../../domain/logger.ts'
import { type Extract, type FileRecord, isText, UNREADABLE } from '../../domain/session/file.ts'
import { createMask } from '../../domain/text/mask.ts'
import type { Files } from '../../engine/files-port.ts'
import { openEngine, type TestEngineOptions } from '../../engine/testing/open-engine.ts'
import { createBlobFolder } from '../../files/keep/blob-folder.ts'
import { createFileKeeper } from '../../files/keep/create-file-keeper.ts'
import { createFileKeys } from '../../http/auth/file-keys.ts'
import { createAttachments } from '../shared/request/attachments.ts'
import { createFileLinks } from '../shared/request/file-links.ts'

export function openEngineWithFiles(options: TestEngineOptions = {}) {
  async function read(file: FileRecord): Promise<Extract> {
    if (file.name.startsWith('damaged')) throw new ServerError('file_unreadable', 'It is damaged.')
    if (file.mimeType === UNREADABLE) throw new ServerError('file_unreadable', 'It is not text.')
    const text = isText(file.mimeType) ? (await bytesOf(file)).toString('utf8') : `words in ${file.name}`
    return { sections: [{ label: '', text }], notes: [] }
  }
  async function bytesOf(file: FileRecord): Promise<Buffer> {
    using open = await keeper.open(file)
    return await readFile(open.path)
  }
  const files: Files = { read, bytes: bytesOf }
  const opened = openEngine({ files, ...options })
  const { store, log, clock, ids } = opened
  const dir = join(tmpdir(), `quarterdeck-doors-${ids.uuid()}`)
  const keeper = createFileKeeper({
    blobs: createBlobFolder(dir),
    store: store.files,
    commit: (command) => log.commit(command),
    clock,
    ids,
    log: silentLogger,
    unsent: { bytes: null, ttlSeconds: 0 },
  })
  const attachments = createAttachments({
    files: keeper,
    readable: async (file) => void (await read(file)),
    fetchFile: null,
  })
  const keys = createFileKeys({ secret: async () => Buffer.from('of these tests'), clock })
  return {
    ...opened,
    keeper,
    attachments,
    keys,
    maskText: createMask([]),
    links: createFileLinks({ keys, basePath: '' }),
    embeddings: { of: () => null },
    /** Number of different files in the folder. */
    async kept(): Promise<number> {
      const found = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => [])
      return found.filter((entry) => entry.isFile()).length
    },
    close: async () => {
      await opened.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

export const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64')

/** One pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
