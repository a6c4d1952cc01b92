// Files that people attach to messages: where they are kept, how they are read, and how requests bring and fetch them.

import { join } from 'node:path'
import type { ServerSettings } from '../config/settings/server-settings.ts'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { fileLimits } from '../domain/session/file.ts'
import { type AttachedFiles, createAttachedFiles } from '../files/attached-files.ts'
import type { FileKeeper } from '../files/file-keeper.ts'
import { createFileKeeper } from '../files/keep/create-file-keeper.ts'
import { createFileReader, readerLimits } from '../files/reader/create-file-reader.ts'
import { childProgram } from '../files/reader/reader-child.ts'
import type { FileKeys } from '../http/auth/file-keys.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Connections } from '../outgoing/connections.ts'
import type { ProxyVariables } from '../outgoing/proxy-choice.ts'
import { type Attachments, createAttachments, type FetchFile } from '../protocols/shared/request/attachments.ts'
import { createFileLinks, type FileLinks } from '../protocols/shared/request/file-links.ts'
import type { Store } from '../store/store.ts'
import type { StoreReplica } from './open-log.ts'

export interface FileParts {
  settings: ServerSettings
  store: Store
  sessionLog: SessionLog
  replica: Pick<StoreReplica, 'blobs'>
  connections: Connections
  fileKeys: FileKeys
  dataDir: string
  basePath: string
  clock: Clock
  ids: Ids
  log: Logger
}

interface OpenFiles {
  files: AttachedFiles
  keeper: FileKeeper
  attachments: Attachments
  links: FileLinks
}

/** `undo` closes the readers. */
export async function openFiles(parts: FileParts, undo: AsyncDisposableStack): Promise<OpenFiles> {
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
