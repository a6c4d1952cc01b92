// Files that people attach to messages: where they are kept, how they are read, and how requests bring and fetch them.

import { join } from 'node:path'
import { fileLimits } from '../domain/session/file.ts'
import { createAttachedFiles } from '../files/attached-files.ts'
import { createFileKeeper } from '../files/keep/create-file-keeper.ts'
import { createFileReader, readerLimits } from '../files/reader/create-file-reader.ts'
import { childProgram } from '../files/reader/reader-child.ts'
import type { Connections } from '../outgoing/connections.ts'
import type { ProxyVariables } from '../outgoing/proxy-choice.ts'
import { createAttachments, type FetchFile } from '../protocols/shared/request/attachments.ts'
import { createFileLinks } from '../protocols/shared/request/file-links.ts'
import type { Known } from './open-access.ts'

/** `undo` closes the readers. */
export async function openFiles(parts: Known, undo: AsyncDisposableStack) {
  const { settings, store, sessionLog, replica, dataDir, clock, ids, log } = parts
  const keeper = createFileKeeper({
    blobs: replica.blobs,
    store: store.files,
    commit: (command) => sessionLog.commit(command),
    clock,
    ids,
    log,
    unsent: { bytes: settings.files.unsentBytes, ttlSeconds: settings.files.unsentTtlSeconds },
  })
  const cacheDir = join(dataDir, 'extracts')
  const reader = createFileReader({
    cacheDir,
    clock,
    log,
    environment: process.env,
    limits: readerLimits,
    program: childProgram(),
  })
  undo.defer(() => reader.close())
  const files = createAttachedFiles({ keeper, reader, cacheDir, store: store.files })
  const attachments = createAttachments({
    files: keeper,
    readable: async (file, signal) => void (await files.read(file, signal)),
    fetchFile: settings.files.urls ? await fileFetcher(parts.connections, settings.tools.proxy) : null,
  })
  const links = createFileLinks({ keys: parts.fileKeys, basePath: parts.basePath })
  return { files, keeper, attachments, links }
}

/** Loaded only when the settings allow fetching files. */
async function fileFetcher(connections: Connections, proxyVariables: ProxyVariables | null): Promise<FetchFile> {
  const { createFetchFile } = await import('../tools/http/service/fetch-file.ts')
  const { createServiceHttp, systemNetwork } = await import('../tools/http/service/service-http.ts')
  return createFetchFile(
    createServiceHttp({
      connections,
      pool: connections.pool({ proxyVariables }),
      network: systemNetwork,
      maxBytes: fileLimits.base64Bytes,
    }),
  )
}
