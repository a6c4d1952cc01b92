// Keeps extracts on disk by the hash of their file, and for files that cannot be read, the reason. When there are too many, the least
// recently used are removed first.

import { hash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../domain/clock.ts'
import type { Extract } from '../../domain/session/file.ts'
import type { ReadableFile } from '../file-reader.ts'
import { readExtract } from './extract-file.ts'

/** Raise it when a reader gives another text for the same bytes. Then older results are not used again. */
const EXTRACTOR_VERSION = 4

/** Larger than any extract within its limits. Only a child that a hostile file controls writes more. */
const MAX_EXTRACT_BYTES = 64_000_000

/**
 * A refused file is tried again after this time: other files may have left the child in a bad state, so that it wrongly refused
 * this one.
 */
const REFUSAL_MS = 24 * 60 * 60 * 1000
const REFUSAL_CHARACTERS = 1_000

interface Refusal {
  /** Why the file cannot be read: a sentence for people. */
  refused: string
}

export const isRefusal = (found: Extract | Refusal): found is Refusal => 'refused' in found

export function createExtractCache(deps: {
  folder: string
  clock: Clock
  maxBytes: number
  /** Everything else that the text depends on, besides the bytes and their type. */
  settings: string
}) {
  const { folder, clock, maxBytes, settings } = deps
  /** Null: not counted yet. */
  let bytesKept: number | null = null
  let pruning: Promise<void> | null = null

  function pathFor({ sha256, mimeType }: ReadableFile, how: string | number, ending: string): string {
    const made = hash('sha256', JSON.stringify([EXTRACTOR_VERSION, mimeType, how])).slice(0, 16)
    return join(folder, `${sha256}-${made}${ending}`)
  }
  const pathOf = (file: ReadableFile): string => pathFor(file, settings, '.ndjson')
  const picturePathOf = (file: ReadableFile, maxBytes: number): string => pathFor(file, maxBytes, '.jpg')

  async function markUsed(path: string): Promise<void> {
    const now = new Date(clock.now())
    // Another server that uses the same folder may have removed the file meanwhile.
    await utimes(path, now, now).catch(() => {})
  }

  async function prune(): Promise<void> {
    const found = []
    for (const name of await readdir(folder)) {
      if (!hashOf(name)) continue
      const path = join(folder, name)
      const about = await stat(path).catch(() => null)
      if (about !== null) found.push({ path, bytes: about.size, usedAt: about.mtimeMs })
    }
    let total = found.reduce((sum, { bytes }) => sum + bytes, 0)
    if (total > maxBytes) {
      // Removes down to nine tenths, so that a full cache is not counted again for every file.
      for (const { path, bytes } of found.sort((a, b) => a.usedAt - b.usedAt)) {
        if (total <= maxBytes * 0.9) break
        await rm(path, { force: true })
        total -= bytes
      }
    }
    bytesKept = total
  }

  function count(bytes: number): Promise<void> | null {
    if (bytesKept !== null) bytesKept += bytes
    if (bytesKept === null || bytesKept > maxBytes) {
      pruning ??= prune().finally(() => {
        pruning = null
      })
    }
    return pruning
  }

  async function refusalAt(path: string): Promise<Refusal | null> {
    const about = await stat(path).catch(() => null)
    if (about === null || about.size > 4 * REFUSAL_CHARACTERS || clock.now() - about.mtimeMs >= REFUSAL_MS) return null
    const text = await readFile(path, 'utf8').catch(() => '')
    return text.startsWith(REFUSAL) && text.endsWith(END) ? { refused: text.slice(REFUSAL.length, -END.length) } : null
  }

  return {
    async find(file: ReadableFile): Promise<Extract | Refusal | null> {
      const path = pathOf(file)
      const refusal = await refusalAt(path)
      if (refusal !== null) return refusal
      const extract = await readExtract(path)
      if (extract !== null) await markUsed(path)
      return extract
    },

    /** The shrunk version of a picture. */
    async findPicture(file: ReadableFile, maxBytes: number): Promise<Buffer | null> {
      const path = picturePathOf(file, maxBytes)
      const picture = await readFile(path).catch(() => null)
      if (picture !== null) await markUsed(path)
      return picture
    },

    /** Moves a written picture into the cache and reads it. Null when there is none, or when it is too large. */
    async keepPicture(file: ReadableFile, maxBytes: number, writtenAt: string): Promise<Buffer | null> {
      const size = (await stat(writtenAt).catch(() => null))?.size ?? 0
      if (size === 0 || size > maxBytes) return null
      const picture = await readFile(writtenAt)
      await rename(writtenAt, picturePathOf(file, maxBytes))
      await count(size)
      return picture
    },

    /** Moves a written extract into the cache and reads it. Null when it is not complete. */
    async keep(file: ReadableFile, writtenAt: string): Promise<Extract | null> {
      const size = (await stat(writtenAt).catch(() => null))?.size ?? 0
      if (size > MAX_EXTRACT_BYTES) return null
      const extract = await readExtract(writtenAt)
      if (extract === null) return null
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await rename(writtenAt, pathOf(file))
      await count(size)
      return extract
    },

    /** Remembers for a day that the file cannot be read. Only for failures that the content alone causes. */
    async keepRefusal(file: ReadableFile, sentence: string): Promise<void> {
      const path = pathOf(file)
      const text = `${REFUSAL}${sentence.replaceAll(/\s+/g, ' ').slice(0, REFUSAL_CHARACTERS)}${END}`
      const now = new Date(clock.now())
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(path, text, { mode: 0o600 })
      await utimes(path, now, now)
      await count(text.length)
    },
  }
}

/** No line of an extract begins with `REFUSAL`. A refusal without `END` was not written completely. */
const REFUSAL = 'refused: '
const END = '\n'

/** The hash of the file that a cached extract or picture comes from; null for other files. */
function hashOf(name: string): string | null {
  return /^([0-9a-f]{64})-[0-9a-f]{16}\.(?:ndjson|jpg)$/.exec(name)?.[1] ?? null
}

/**
 * Removes the extracts of deleted files, because a file and its text must not outlive their session. `known` gives those of the
 * hashes that still belong to a file.
 */
export async function sweepExtracts(
  folder: string,
  known: (hashes: readonly string[]) => Promise<readonly string[]>,
): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (let at = 0; at < names.length; at += SWEPT_AT_ONCE) {
    const hashes = new Map<string, string>()
    for (const name of names.slice(at, at + SWEPT_AT_ONCE)) {
      const sha256 = hashOf(name)
      if (sha256 !== null) hashes.set(name, sha256)
    }
    const kept = new Set(await known([...new Set(hashes.values())]))
    for (const [name, sha256] of hashes) if (!kept.has(sha256)) await rm(join(folder, name), { force: true })
  }
}

const SWEPT_AT_ONCE = 500
