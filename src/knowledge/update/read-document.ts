// Reads one file: its hash, its type, its text. The readers get a copy of our own that has exactly the bytes that were hashed: they keep
// what they read by its hash, and a file may change at any moment.

import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Clock, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Extract, FileType } from '../../domain/session/file.ts'
import { onDisk, systemErrorCode } from '../../domain/system-error-code.ts'
import { secretText } from '../../domain/text/secret-file.ts'
import type { FileReader } from '../../files/file-reader.ts'
import { createTolerantSniffer } from '../../files/keep/type-sniffer.ts'
import { Changing, openRegular } from './open-regular.ts'
import type { ScannedFile } from './scan-sources.ts'

export interface DocumentReaderDeps {
  reader: Pick<FileReader, 'read'>
  /** For copies of files while they are read. Used by us alone, and created when the first file is read. */
  folder: string
  newId(): string
  clock: Clock
  log: Logger
}

/** The content of a file at one moment. */
export interface Content {
  sha256: string
  bytes: number
  changedMs: number
}

export type ReadDocument =
  | { kind: 'read'; content: Content; type: FileType; extract: Extract; lacks: string | null }
  /** Somebody knows its content already. */
  | { kind: 'known' }
  | { kind: 'gone' }
  /** `isPassing`: another try may go better, although the file stays as it is. */
  | { kind: 'unread'; why: string; isPassing: boolean }

export interface DocumentReader {
  /** Asks `isKnown` before anything but the hash is read. Throws what this file did not cause: a full disk, the reason of the signal. */
  read(file: ScannedFile, isKnown: (content: Content) => Promise<boolean>, signal: AbortSignal): Promise<ReadDocument>
  /** Removes the copies of a server that was killed. */
  sweep(): Promise<void>
}

const TRIES = 3
/** Two changes of a file within this time can have the same time on a disk. A file that was written just now may be written again in the same moment. */
const TICK_MS = 50
/** Reading may continue so often where it stopped: each time it reads up to 30 scanned pages. */
const MORE_READS = 20
const LEFT_BEHIND_MS = 3_600_000
const PIECE = 1 << 17

export function createDocumentReader({ reader, folder, newId, clock, log }: DocumentReaderDeps): DocumentReader {
  const isYoung = ({ ctimeMs }: Stats): boolean => ctimeMs <= clock.now() && clock.now() - ctimeMs < TICK_MS

  async function hashOf(handle: FileHandle, signal: AbortSignal): Promise<Content> {
    let before = await handle.stat()
    if (isYoung(before)) {
      await sleep(clock, TICK_MS, signal)
      before = await handle.stat()
      if (isYoung(before)) throw new Changing()
    }
    const { sha256, bytes } = await pump(handle, signal, async () => {})
    const after = await handle.stat()
    const isSame = before.size === after.size && before.ctimeMs === after.ctimeMs
    if (!isSame || bytes !== before.size) throw new Changing()
    return { sha256, bytes, changedMs: Math.floor(before.ctimeMs) }
  }

  /** Copies the very bytes that have this hash, or throws `Changing`. */
  async function readCopy(handle: FileHandle, name: string, { sha256, bytes }: Content, signal: AbortSignal) {
    const path = join(folder, newId())
    const sniffer = createTolerantSniffer(null, name)
    const full = ': files cannot be read into the index.'
    await onDisk(full, () => mkdir(folder, { recursive: true, mode: 0o700 }))
    const copy = await onDisk(full, () => open(path, 'wx', 0o600))
    try {
      const copied = await pump(handle, signal, async (piece) => {
        sniffer.take(piece)
        await onDisk(full, () => copy.writeFile(piece))
      }).finally(() => copy.close())
      if (copied.sha256 !== sha256) throw new Changing()
      const mimeType = await sniffer.end(path)
      const file = { path, mimeType, bytes, sha256 }
      let extract = await reader.read(file, signal)
      for (let more = 0; extract.unread !== undefined && more < MORE_READS; more += 1) {
        const left: number = extract.unread.length
        extract = await reader.read(file, signal, undefined, 'all')
        if ((extract.unread?.length ?? 0) >= left) break
      }
      return { type: mimeType, extract }
    } finally {
      await rm(path, { force: true })
    }
  }

  async function tryToRead(
    file: ScannedFile,
    isKnown: (content: Content) => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<ReadDocument> {
    await using handle = await openRegular(file.absolute, file.root)
    const content = await hashOf(handle, signal)
    const known = await isKnown(content).catch((cause: unknown) => {
      throw new Elsewhere(cause)
    })
    if (known) return { kind: 'known' }
    if (content.bytes === 0) return unread('It has no text.')
    const { type, extract } = await readCopy(handle, basename(file.path), content, signal)
    for (const { text } of extract.sections) {
      const secret = secretText(text)
      if (secret !== null) return unread(secret)
    }
    if (extract.sections.every(({ text }) => text.trim() === ''))
      return unread(['It has no text.', ...lacksOf(extract)].join(' '))
    return { kind: 'read', content, type, extract, lacks: lacksOf(extract).join(' ') || null }
  }

  return {
    async read(file, isKnown, signal) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await tryToRead(file, isKnown, signal)
        } catch (error) {
          signal.throwIfAborted()
          if (error instanceof Elsewhere) throw error.cause
          if (error instanceof Changing && tries < TRIES) continue
          const found = outcomeOf(error)
          if (found === null) throw error
          if (found.kind === 'unread' && found.isPassing)
            log.warn('a file could not be read into an index', { content: { file: file.path, error: String(error) } })
          return found
        }
      }
    },

    async sweep() {
      for (const name of await readdir(folder).catch(() => [])) {
        const path = join(folder, name)
        const changedAt = (await stat(path).catch(() => null))?.mtimeMs ?? clock.now()
        if (clock.now() - changedAt > LEFT_BEHIND_MS) await rm(path, { force: true })
      }
    },
  }
}

const unread = (why: string, isPassing = false): ReadDocument => ({ kind: 'unread', why, isPassing })

/** What failed has nothing to do with the file. */
class Elsewhere extends Error {
  constructor(cause: unknown) {
    super('A failure elsewhere.', { cause })
    this.name = 'Elsewhere'
  }
}

/** Null: it is not about the file. */
function outcomeOf(error: unknown): ReadDocument | null {
  if (error instanceof ServerError) {
    if (error.code === 'file_unreadable') return unread(error.message)
    return error.code === 'queue_full' ? unread(error.message, true) : null
  }
  const code = systemErrorCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'gone' }
  if (code === 'EACCES' || code === 'EPERM') return unread('The server may not read it.')
  if (error instanceof Changing || code === 'ELOOP') return unread(new Changing().message, true)
  return unread(`It could not be read${code === '' ? '' : ` (${code})`}.`, true)
}

/** The whole file from its beginning, piece by piece. A piece is good until the next one. */
async function pump(handle: FileHandle, signal: AbortSignal, take: (piece: Buffer) => Promise<void>) {
  const sum = createHash('sha256')
  const buffer = Buffer.allocUnsafe(PIECE)
  let bytes = 0
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(buffer, 0, PIECE, bytes)
    if (bytesRead === 0) return { sha256: sum.digest('hex'), bytes }
    const piece = buffer.subarray(0, bytesRead)
    sum.update(piece)
    bytes += bytesRead
    await take(piece)
  }
}

/** Notes also say how a file looks. These say that something is missing. */
const LACK = /left out|not read|not be read|only the first/i

function lacksOf({ notes, unread: left = [] }: Extract): string[] {
  const lacks = notes.filter((note) => LACK.test(note))
  if (left.length > 0) lacks.push(`${left.length} scanned pages were not read.`)
  return lacks
}
