// Bytes that several processes share, with a folder on this machine in front of them: whoever reads a file needs a path. The folder is
// a cache. It may be emptied at any time while no process uses it.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Logger } from '../../domain/logger.ts'
import type { SharedBlobs } from '../../domain/shared-blobs.ts'
import { type Blobs, createBlobFolder } from './blob-folder.ts'
import { hold } from './held-counts.ts'

export interface CachedBlobsDeps {
  shared: SharedBlobs
  /** Folder of the cache, of this process alone. Created with the first file. */
  dir: string
  /** The cache holds about this much. Files that are being read stay, even beyond it. */
  maxBytes: number
  newId(): string
  log: Logger
}

/** Long enough for a record to follow its bytes, also in a process that was paused. */
const GRACE_MS = 60 * 60 * 1000

export function createCachedBlobs({ shared, dir, maxBytes, newId, log }: CachedBlobsDeps): Blobs {
  const folder = createBlobFolder(dir)
  /** The sizes of the cached files, the least recently used first. */
  let cached: Map<string, number> | null = null
  const pins = new Map<string, number>()
  const fetching = new Map<string, Promise<void>>()
  let lastChange: Promise<unknown> = Promise.resolve()

  /** Changes of the cache happen one after the other: a file that is removed may come back at the same moment. */
  function change<T>(work: (known: Map<string, number>) => Promise<T>): Promise<T> {
    const done = lastChange.then(async () => {
      cached ??= await load()
      return await work(cached)
    })
    lastChange = done.catch(() => {})
    return done
  }

  /** What an earlier process left in the cache is used again. */
  async function load(): Promise<Map<string, number>> {
    const found = new Map<string, number>()
    for await (const hashes of folder.hashes()) {
      for (const sha256 of hashes) found.set(sha256, await sizeOf(folder.pathOf(sha256)))
    }
    return found
  }

  async function makeSpace(known: Map<string, number>): Promise<void> {
    let total = 0
    for (const size of known.values()) total += size
    for (const [oldest, size] of known) {
      if (total <= maxBytes) return
      if (pins.has(oldest)) continue
      known.delete(oldest)
      await folder.remove(oldest, Number.POSITIVE_INFINITY)
      total -= size
    }
  }

  /** The file is there for as long as it is pinned. */
  const keep = (incoming: { keepAs(sha256: string): Promise<void> }, sha256: string, bytes: number): Promise<void> =>
    change(async (known) => {
      await incoming.keepAs(sha256)
      known.delete(sha256)
      known.set(sha256, bytes)
      await makeSpace(known)
    })

  /** False: it is not in the cache. */
  const use = (sha256: string): Promise<boolean> =>
    change(async (known) => {
      const bytes = known.get(sha256)
      if (bytes === undefined) return false
      known.delete(sha256)
      known.set(sha256, bytes)
      return true
    })

  async function download(sha256: string): Promise<void> {
    const incoming = await folder.begin(newId())
    try {
      const hash = createHash('sha256')
      let bytes = 0
      for await (const part of shared.get(sha256)) {
        hash.update(part)
        bytes += part.length
        await incoming.write(part)
      }
      if (hash.digest('hex') !== sha256) {
        if (bytes > 0) log.error('the bytes of a file are damaged or incomplete in the database', { sha256, bytes })
        return
      }
      await incoming.close()
      await keep(incoming, sha256, bytes)
    } finally {
      await incoming.discard()
    }
  }

  async function fetchOnce(sha256: string): Promise<void> {
    const running = fetching.get(sha256)
    if (running !== undefined) return running
    const work = download(sha256).finally(() => fetching.delete(sha256))
    fetching.set(sha256, work)
    return work
  }

  return {
    async begin(id) {
      const incoming = await folder.begin(id)
      return {
        ...incoming,
        // The database keeps the bytes, so they need not be on this disk.
        sync: incoming.close,
        async keepAs(sha256) {
          const bytes = await sizeOf(incoming.path)
          await shared.put(sha256, bytes, () => createReadStream(incoming.path))
          await keep(incoming, sha256, bytes)
        },
      }
    },
    async open(sha256) {
      const pinned = hold(pins, sha256)
      try {
        if (!(await use(sha256))) await fetchOnce(sha256)
        return Object.assign(pinned, { path: folder.pathOf(sha256) })
      } catch (error) {
        pinned[Symbol.dispose]()
        throw error
      }
    },
    async *hashes() {
      yield* shared.hashes()
      yield* folder.hashes()
    },
    async remove(sha256) {
      const isGone = await shared.remove(sha256, GRACE_MS)
      if (isGone || !(await shared.has(sha256))) {
        await change(async (known) => {
          if (pins.has(sha256) || !known.delete(sha256)) return
          await folder.remove(sha256, Number.POSITIVE_INFINITY)
        })
      }
      return isGone
    },
    removeIncoming: (before) => folder.removeIncoming(before),
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path)).size
}
