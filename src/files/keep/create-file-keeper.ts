import { createHash } from 'node:crypto'
import type { Clock } from '../../domain/clock.ts'
import { fileNotFound, ServerError } from '../../domain/errors.ts'
import { type Ids, parseUuid } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import { type FileRecord, type FileType, UNREADABLE, type UnsentFiles } from '../../domain/session/file.ts'
import type { FileKeeper, IncomingFile } from '../file-keeper.ts'
import { declaredType } from './agreed-type.ts'
import type { Blobs } from './blob-folder.ts'
import { hold } from './held-counts.ts'
import { createTolerantSniffer, createTypeSniffer } from './type-sniffer.ts'
import { createUnsentAllowance } from './unsent-allowance.ts'

export interface FileKeeperDeps {
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

/** Calls `remove` unless the bytes were claimed at any time since the sweep began. Then it returns false. */
type RemoveUnclaimed = (sha256: string, remove: () => Promise<boolean>) => Promise<boolean>

/**
 * Keeps a sweep from removing the bytes of an upload. An upload claims its bytes before it puts them in place, and until its record
 * is in the store only the claim says that they are needed.
 */
export function createClaims() {
  const held = new Map<string, number>()
  const removing = new Map<string, Promise<unknown>>()
  let claimedSinceSweep: Set<string> | null = null

  return {
    /** Waits for a removal that is under way. Until the claim is disposed of, the bytes are not removed. */
    async claim(sha256: string): Promise<Disposable> {
      for (let under = removing.get(sha256); under !== undefined; under = removing.get(sha256)) await under
      claimedSinceSweep?.add(sha256)
      return hold(held, sha256)
    },

    /** Only one sweep may run at a time. */
    async sweeping(work: (removeUnclaimed: RemoveUnclaimed) => Promise<void>): Promise<void> {
      const claimed = new Set(held.keys())
      claimedSinceSweep = claimed
      try {
        await work(async (sha256, remove) => {
          if (claimed.has(sha256)) return false
          const removal = remove()
          // A claim that waits needs to know that the removal is over, not whether it worked.
          const over = removal.then(
            () => removing.delete(sha256),
            () => removing.delete(sha256),
          )
          removing.set(sha256, over)
          return await removal
        })
      } finally {
        claimedSinceSweep = null
      }
    },
  }
}

const MAX_CHARS = 120
/** A longer one is not an extension, but part of the name. */
const MAX_EXTENSION_CHARS = 12

/** Invisible characters, and those that change how the text around them looks: controls, direction marks, zero-width characters. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu

/** The name that browsers give to content without one. */
const NO_NAME = 'blob'

/**
 * The name of a file as people see it: the last part of a path, in one line, without invisible characters, at most 120
 * characters. Null when nothing is left. The name is only a label and never part of a path on disk.
 */
export function safeName(text: string | null): string | null {
  const [base = ''] = (text ?? '').split(/[/\\]/).slice(-1)
  const visible = base.replaceAll(/[\t-\r\p{Z}]/gu, ' ').replaceAll(INVISIBLE, '')
  const line = visible.normalize('NFC').replaceAll(/ +/g, ' ').trim()
  return /^\.*$/.test(line) || line === NO_NAME ? null : shortened([...line])
}

function shortened(chars: readonly string[]): string {
  if (chars.length <= MAX_CHARS) return chars.join('')
  const dot = chars.lastIndexOf('.')
  const extension = dot > 0 && chars.length - dot <= MAX_EXTENSION_CHARS ? chars.slice(dot) : []
  return (
    chars
      .slice(0, MAX_CHARS - extension.length)
      .join('')
      .trimEnd() + extension.join('')
  )
}

/** The name of a file that came without one, by its content. */
const nameByType: Readonly<Record<FileType, string>> = {
  'image/png': 'image.png',
  'image/jpeg': 'image.jpg',
  'image/gif': 'image.gif',
  'image/webp': 'image.webp',
  'application/pdf': 'document.pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'document.docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'workbook.xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'presentation.pptx',
  'text/plain': 'text.txt',
  'text/csv': 'table.csv',
  'text/markdown': 'text.md',
  [UNREADABLE]: 'file',
}
