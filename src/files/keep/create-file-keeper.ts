import { createHash } from 'node:crypto'
import type { Clock } from '../../domain/clock.ts'
import { fileNotFound, ServerError } from '../../domain/errors.ts'
import { type Ids, parseUuid } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { FileRecord, UnsentFiles } from '../../domain/session/file.ts'
import type { FileKeeper, IncomingFile } from '../file-keeper.ts'
import { declaredType } from './agreed-type.ts'
import type { Blobs } from './blob-folder.ts'
import { createClaims, type RemoveUnclaimed } from './claims.ts'
import { nameByType, safeName } from './file-name.ts'
import { createTolerantSniffer, createTypeSniffer } from './type-sniffer.ts'
import { createUnsentAllowance } from './unsent-allowance.ts'

export interface FileKeeperDeps {
  /** Where the bytes are kept. */
  blobs: Blobs
  store: {
    get(id: string): Promise<FileRecord | null>
    unsent(owner: string): Promise<UnsentFiles>
    knownHashes(hashes: readonly string[]): Promise<string[]>
  }
  /** Resolves when the record is on disk. */
  commit(command: { type: 'add_file'; file: FileRecord }): Promise<unknown>
  clock: Clock
  ids: Ids
  log: Logger
  /** How much one user may upload without sending it in a message. Null bytes: no limit. */
  unsent: { bytes: number | null; ttlSeconds: number }
}

/** `sweep` keeps younger bytes: an upload, perhaps of another process, may be about to record them. */
const GRACE_MS = 60 * 60 * 1000
/** How many bytes are hashed at once: a file that arrives in one piece must not block everybody else. */
const SLICE_BYTES = 64 * 1024

/** How error messages name a file without a name. */
const UNNAMED = 'file'

export function createFileKeeper(deps: FileKeeperDeps): FileKeeper {
  const { blobs, store, commit, clock, ids, log, unsent } = deps
  const claims = createClaims()
  const allowance =
    unsent.bytes === null
      ? null
      : createUnsentAllowance({
          unsentFiles: (owner) => store.unsent(owner),
          maxBytes: unsent.bytes,
          ttlSeconds: unsent.ttlSeconds,
          clock,
        })
  let sweeping: Promise<void> | null = null

  async function add(incoming: IncomingFile): Promise<FileRecord> {
    const { owner, mimeType, content, maxBytes } = incoming
    const givenName = safeName(incoming.name)
    const name = givenName ?? UNNAMED
    const sniffer =
      incoming.unreadable === 'keep'
        ? createTolerantSniffer(mimeType, name)
        : createTypeSniffer(declaredType(mimeType, name), name)
    const hash = createHash('sha256')
    let bytes = 0
    const id = ids.uuid()
    using arrival = allowance === null ? null : await allowance.begin(owner)
    const blob = await blobs.begin(id)
    try {
      for await (const slice of slicesOf(content)) {
        bytes += slice.length
        if (bytes > maxBytes) throw tooLarge(name, maxBytes)
        arrival?.take(slice.length)
        sniffer.take(slice)
        hash.update(slice)
        await blob.write(slice)
      }
      if (bytes === 0) {
        throw new ServerError('file_unreadable', `${JSON.stringify(name)} is empty.`, { details: { name } })
      }
      const type = await sniffer.end(blob.path)
      const sha256 = hash.digest('hex')
      await blob.sync()
      await arrival?.end()
      using _ = await claims.claim(sha256)
      await blob.keepAs(sha256)
      const file: FileRecord = {
        id,
        owner,
        sessionId: null,
        name: givenName ?? nameByType[type],
        mimeType: type,
        bytes,
        sha256,
        createdAt: clock.now(),
      }
      await commit({ type: 'add_file', file })
      return file
    } finally {
      await blob.discard()
    }
  }

  async function sweep(removeUnclaimed: RemoveUnclaimed): Promise<void> {
    const before = clock.now() - GRACE_MS
    let removed = 0
    await blobs.removeIncoming(before)
    for await (const hashes of blobs.hashes()) {
      const known = new Set(await store.knownHashes(hashes))
      for (const sha256 of hashes) {
        const isGone = !known.has(sha256) && (await removeUnclaimed(sha256, () => blobs.remove(sha256, before)))
        if (isGone) removed += 1
      }
    }
    if (removed > 0) log.info('removed the bytes of deleted files', { count: removed })
  }

  return {
    add,
    async find(owner, id) {
      const uuid = parseUuid(id)
      const file = uuid === null ? null : await store.get(uuid)
      if (file?.owner !== owner) throw fileNotFound(id)
      return file
    },
    open: ({ sha256 }) => blobs.open(sha256),
    sweep() {
      sweeping ??= claims.sweeping(sweep).finally(() => {
        sweeping = null
      })
      return sweeping
    },
  }
}

async function* slicesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    for (let i = 0; i < chunk.length; i += SLICE_BYTES) yield chunk.subarray(i, i + SLICE_BYTES)
  }
}

const tooLarge = (name: string, maxBytes: number): ServerError =>
  new ServerError('file_too_large', `${JSON.stringify(name)} is larger than ${maxBytes / 1_000_000} MB.`, {
    details: { name, max_bytes: maxBytes },
  })
