// Keeps checkpoints in a folder of their own:
//   blobs/ab/<sha256>     the bytes of a file, with gzip, under their hash; so many checkpoints share one copy
//   manifests/<sha256>    what a checkpoint knows about its workspace, with gzip, under the hash of its text
//   restores/<id>         the journal of a restore that has not ended
//   incoming/<job>/       what is being written; nobody finds it until it is whole, on disk, and moved to its place
// All calls block, so they run on a thread. The caller makes sure that nobody else writes during `sweep`.

import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { ServerError } from '../../domain/errors.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { decodeManifest, encodeManifest, type Manifest } from './manifest.ts'
import { createPrivateFiles } from './private-files.ts'
import { type Disk, systemDisk } from './workspace-folder.ts'

export interface SnapshotStore {
  /** Starts writing. Everything new becomes visible with `commit`, or not at all. */
  begin(job: string): SnapshotWriter
  /** Throws `storage_failed` if the manifest is gone or is not what was written. */
  readManifest(name: string): Manifest
  /** Throws `storage_failed` if the bytes are gone or are not what was kept. */
  readBlob(sha256: string, bytes: number): Buffer
  writeJournal(id: string, text: string): void
  /** Null: there is no such restore, or it has ended. */
  readJournal(id: string): string | null
  removeJournal(id: string): void
  journals(): string[]
  /** Removes manifests that are not in `alive` and were written before `before`, then all bytes that no manifest names. */
  sweep(alive: ReadonlySet<string>, before: number): SweepResult
}

interface SnapshotWriter {
  /** Keeps bytes under their hash, unless they are there already. */
  keep(sha256: string, content: Buffer): void
  /** Stores what was kept and then the manifest. Returns its name. */
  commit(manifest: Manifest): string
  /** Removes everything that was not committed. Never throws. */
  discard(): void
}

export interface SweepResult {
  manifests: number
  blobs: number
  bytes: number
}

const HASH = /^[0-9a-f]{64}$/
/** A manifest of 500,000 long paths. */
const MAX_MANIFEST_BYTES = 512 * 1024 * 1024
/** New contents wait for each other, so that one sync serves many. */
const SYNC_TOGETHER = 10_000
/** Fewer are faster with a sync of each. */
const WORTH_SYNCING_ALL = 64

export function createSnapshotStore(
  folder: string,
  disk: Disk = systemDisk,
  syncAll: (folder: string) => boolean = syncFileSystem,
): SnapshotStore {
  const { exists, makeFolder, write, readAll, namesIn, syncFile, syncFolder } = createPrivateFiles(disk)
  const manifests = join(folder, 'manifests')
  const restores = join(folder, 'restores')
  const incoming = join(folder, 'incoming')
  const blobFolder = (sha256: string): string => join(folder, 'blobs', sha256.slice(0, 2))
  const blobPath = (sha256: string): string => join(blobFolder(sha256), sha256)

  function writeInPlace(place: string, name: string, bytes: Buffer, job: string): void {
    makeFolder(place)
    makeFolder(join(incoming, job))
    const temporary = join(incoming, job, `${name}.new`)
    disk.rmSync(temporary, { force: true })
    write(temporary, bytes, true)
    disk.renameSync(temporary, join(place, name))
    syncFolder(place)
    syncFolder(folder)
  }

  function readBytes(path: string, sha256: string, most: number): Buffer {
    try {
      const bytes = gunzipSync(readAll(path), { maxOutputLength: Math.max(1, most) })
      if (hash('sha256', bytes, 'hex') === sha256) return bytes
    } catch (error) {
      throw damaged(error)
    }
    throw damaged(null)
  }

  function begin(job: string): SnapshotWriter {
    const own = join(incoming, checkedId(job))
    /** Written, but not yet in their place. */
    let waiting: string[] = []
    const taken = new Set<string>()
    const folders = new Set<string>()

    function moveWaiting(): void {
      const isSynced = waiting.length >= WORTH_SYNCING_ALL && syncAll(own)
      if (!isSynced) for (const sha256 of waiting) syncFile(join(own, sha256))
      for (const sha256 of waiting) {
        makeFolder(blobFolder(sha256))
        disk.renameSync(join(own, sha256), blobPath(sha256))
      }
      waiting = []
    }

    return {
      keep: (sha256, content) =>
        guarded(() => {
          if (taken.has(sha256)) return
          taken.add(sha256)
          // Also where the bytes are there already: another job may have moved them there a moment ago.
          folders.add(blobFolder(sha256))
          if (exists(blobPath(sha256))) return
          makeFolder(own)
          write(join(own, sha256), gzipSync(content, { level: 1 }), false)
          waiting.push(sha256)
          if (waiting.length >= SYNC_TOGETHER) moveWaiting()
        }),
      commit: (manifest) =>
        guarded(() => {
          moveWaiting()
          for (const path of folders) syncFolder(path)
          if (folders.size > 0) syncFolder(join(folder, 'blobs'))
          const text = encodeManifest(manifest)
          const name = hash('sha256', text, 'hex')
          writeInPlace(manifests, name, gzipSync(text, { level: 1 }), job)
          return name
        }),
      discard: () => {
        try {
          disk.rmSync(own, { recursive: true, force: true })
        } catch {
          // The next sweep removes it.
        }
      },
    }
  }

  const journalTexts = (): string[] => namesIn(restores).map((id) => readAll(join(restores, id)).toString('utf8'))

  /** Hashes that any manifest or unfinished restore still needs. */
  function blobsInUse(): Set<string> {
    const used = new Set<string>()
    for (const name of namesIn(manifests)) {
      if (HASH.test(name)) for (const sha256 of readManifest(name).kept) used.add(sha256)
    }
    for (const text of journalTexts()) for (const [sha256] of text.matchAll(/[0-9a-f]{64}/g)) used.add(sha256)
    return used
  }

  const readManifest = (name: string): Manifest => {
    if (!HASH.test(name)) throw damaged(null)
    return decodeManifest(readBytes(join(manifests, name), name, MAX_MANIFEST_BYTES))
  }

  function sweep(alive: ReadonlySet<string>, before: number): SweepResult {
    const result: SweepResult = { manifests: 0, blobs: 0, bytes: 0 }
    for (const job of namesIn(incoming)) disk.rmSync(join(incoming, job), { recursive: true, force: true })
    const journals = journalTexts()
    for (const name of namesIn(manifests)) {
      const path = join(manifests, name)
      // A restore that has not ended names its manifests in its journal.
      if (alive.has(name) || journals.some((text) => text.includes(name))) continue
      if (disk.lstatSync(path).mtimeMs >= before) continue
      disk.unlinkSync(path)
      result.manifests += 1
    }
    // If a manifest cannot be read, this throws, and nothing that it may need is removed.
    const used = blobsInUse()
    for (const part of namesIn(join(folder, 'blobs'))) {
      for (const name of namesIn(join(folder, 'blobs', part))) {
        if (used.has(name)) continue
        const path = join(folder, 'blobs', part, name)
        result.bytes += disk.lstatSync(path).size
        disk.unlinkSync(path)
        result.blobs += 1
      }
    }
    return result
  }

  return {
    begin,
    readManifest,
    readBlob: (sha256, bytes) => readBytes(blobPath(sha256), sha256, bytes),
    writeJournal: (id, text) => guarded(() => writeInPlace(restores, checkedId(id), Buffer.from(text), id)),
    readJournal: (id) => (exists(join(restores, checkedId(id))) ? readAll(join(restores, id)).toString('utf8') : null),
    removeJournal(id) {
      if (!exists(join(restores, checkedId(id)))) return
      disk.unlinkSync(join(restores, id))
      syncFolder(restores)
    },
    journals: () => namesIn(restores),
    sweep: (alive, before) => guarded(() => sweep(alive, before)),
  }
}

/** Ids become file names, and a request may name one. */
export function checkedId(id: string): string {
  if (/^[\w-]{1,100}$/.test(id)) return id
  throw new ServerError(
    'invalid_request',
    `${JSON.stringify(id.slice(0, 100))} is not the id of a checkpoint or a restore.`,
  )
}

/**
 * Syncs the whole file system of a folder. A sync of each file takes 2 ms, so 100,000 take minutes; all together they take seconds.
 * Node cannot ask for it, a small program of every Linux can. False: it did not work, or there is no such program.
 */
export function syncFileSystem(folder: string): boolean {
  if (process.platform !== 'linux') return false
  // An absolute path: what PATH finds may belong to an agent.
  return spawnSync('/bin/sync', ['-f', folder], { env: {}, stdio: 'ignore', timeout: 60_000 }).status === 0
}

const damaged = (cause: unknown): ServerError =>
  new ServerError(
    'storage_failed',
    'The files of this checkpoint are gone or damaged. Use another checkpoint, and check the disk.',
    { cause },
  )

function guarded<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw storageError(cause)
  }
}

/** The error for the caller. A full disk has its own code, because a person can do something about it. */
export function storageError(cause: unknown): unknown {
  const code = systemErrorCode(cause)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ServerError('storage_full', 'The disk is full. Free some space and try again.', { cause })
  }
  if (cause instanceof ServerError || code === '') return cause
  return new ServerError('storage_failed', `The disk with the checkpoints failed (${code}). Look at the log.`, {
    cause,
  })
}
