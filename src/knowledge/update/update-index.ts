// Brings an index up to what the files say. Each file is one transaction of the store, so it may be stopped at any moment: the next
// update goes on from there.

import { hash } from 'node:crypto'
import { basename } from 'node:path'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { pageByPage } from '../../domain/page-by-page.ts'
import type { Extract, FileType } from '../../domain/session/file.ts'
import type { KnownFile, KnownFiles, NewDocument } from '../../store/ports/knowledge.ts'
import type { IndexSettings, IndexStatus } from '../knowledge.ts'
import { eachOf } from './each-of.ts'
import type { Content, DocumentReader } from './read-document.ts'
import { type FileProblem, type ScannedFile, scanSources } from './scan-sources.ts'

/** Cuts the text of a file into passages and counts their terms. */
export type Prepare = (extract: Extract, file: { name: string; type: FileType }) => NewDocument | Promise<NewDocument>

export interface UpdaterDeps {
  store: KnownFiles
  documents: DocumentReader
  prepare: Prepare
  /** Of all that `prepare` does. With another one everything is cut again. */
  version: number
  /** Absolute paths of folders of our own. */
  excluded: readonly string[]
  clock: Clock
  log: Logger
}

export interface UpdateListener {
  /** The folders that the files are in. Told before the files are read. */
  walked(folders: readonly string[]): void
  progress(progress: NonNullable<IndexStatus['progress']>): void
}

export interface UpdateCounts {
  /** Files that were read and cut. */
  read: number
  /** Files whose content was known: they were moved, copied or touched. */
  known: number
  unchanged: number
  removed: number
  /** Files that could not be read. */
  problems: number
  /** Those of them that may be readable in a moment, although nothing changes. */
  passing: number
}

type ScannedSettings = Pick<IndexSettings, 'sources' | 'directory' | 'folders' | 'ignore'>

export interface Updater {
  /**
   * Run only one at a time for an index. Throws the reason of the signal, and what keeps it from going on, such as a full disk. What was
   * done before stays.
   */
  update(index: string, settings: ScannedSettings, signal: AbortSignal, listener: UpdateListener): Promise<UpdateCounts>
}

/** The readers have one child for texts and one for scans, so one scan does not stop the texts. */
const AT_ONCE = 2
const PAGE = 1_000
const REMOVED_AT_ONCE = 500
const PROGRESS_MS = 200
/** No file has this time, so the next update tries again. */
const NO_TIME = -1

interface Wanted {
  found: ScannedFile | FileProblem
  known: KnownFile | null
}

export function createUpdater({ store, documents, prepare, version, excluded, clock, log }: UpdaterDeps): Updater {
  /** Indexes whose files we have all looked at. */
  const lookedAt = new Set<string>()
  const mark = `${version}-`
  /** The type follows from content and name. */
  const documentOf = ({ sha256 }: Content, path: string): string =>
    mark + hash('sha256', JSON.stringify([sha256, basename(path)]))

  /** What is to be written, and what is to be removed. */
  async function compare(index: string, wanted: Map<string, Wanted>, counts: UpdateCounts) {
    const removed: KnownFile[] = []
    /** What is missing of documents. Their copies lack it too. */
    const lacks = new Map<string, string>()
    const isUnchanged = (found: Wanted['found'], known: KnownFile): boolean => {
      if ('why' in found) return known.document === null && known.problem === found.why
      if (found.bytes !== known.bytes || found.changedMs !== known.changedMs) return false
      // What could not be read is tried again after each start: we may have learned to read it.
      return known.document === null ? lookedAt.has(index) : known.document.startsWith(mark)
    }
    for await (const known of pageByPage(PAGE, (last?: KnownFile) => store.files(index, last?.path ?? '', PAGE))) {
      const one = wanted.get(known.path)
      if (known.document !== null && known.problem !== null) lacks.set(known.document, known.problem)
      if (one === undefined) removed.push(known)
      else if (isUnchanged(one.found, known)) {
        wanted.delete(known.path)
        counts.unchanged += 1
        if (known.document === null) counts.problems += 1
      } else one.known = known
    }
    return { removed, lacks }
  }

  return {
    async update(index, settings, signal, listener) {
      const counts: UpdateCounts = { read: 0, known: 0, unchanged: 0, removed: 0, problems: 0, passing: 0 }
      await documents.sweep()
      const { files, folders, problems } = await scanSources(settings, excluded, signal)
      listener.walked(folders)
      const wanted = new Map<string, Wanted>()
      for (const found of [...files, ...problems]) wanted.set(found.path, { found, known: null })
      const { removed, lacks } = await compare(index, wanted, counts)
      signal.throwIfAborted()

      const tell = createProgress(wanted.size, clock, listener)
      const done = (path: string): void => {
        wanted.delete(path)
        tell()
      }

      const refuse = async (found: ScannedFile | FileProblem, problem: string, isPassing: boolean): Promise<void> => {
        const { path } = found
        const stamp =
          'why' in found
            ? { bytes: 0, changedMs: 0 }
            : { bytes: found.bytes, changedMs: isPassing ? NO_TIME : found.changedMs }
        await store.put(index, { path, ...stamp, document: null, problem }, null)
        counts.problems += 1
        if (isPassing) counts.passing += 1
        done(path)
      }

      const keepKnown = async ({ path }: ScannedFile, known: KnownFile | null, content: Content): Promise<boolean> => {
        const { bytes, changedMs } = content
        const document = documentOf(content, path)
        if (known?.document === document && known.bytes === bytes && known.changedMs === changedMs)
          counts.unchanged += 1
        else {
          if (!(await store.known(index, [document])).has(document)) return false
          try {
            await store.put(index, { path, bytes, changedMs, document, problem: lacks.get(document) ?? null }, null)
          } catch (error) {
            // Another file was the last one with this content, and has changed since we asked.
            if (error instanceof ServerError && error.code === 'conflict') return false
            throw error
          }
          counts.known += 1
        }
        done(path)
        return true
      }

      const readFile = async (file: ScannedFile, known: KnownFile | null, stop: AbortSignal): Promise<void> => {
        const { path } = file
        const found = await documents.read(file, (content) => keepKnown(file, known, content), stop)
        if (found.kind === 'known') return
        if (found.kind === 'unread') return refuse(file, found.why, found.isPassing)
        if (found.kind === 'gone') {
          await store.remove(index, [path])
          return done(path)
        }
        const { content, extract, type, lacks: problem } = found
        const { bytes, changedMs } = content
        let document: NewDocument
        try {
          document = await prepare(extract, { name: basename(path), type })
        } catch (error) {
          log.error('the text of a file could not be cut into passages', { error: String(error), content: path })
          return refuse(file, 'Its text could not be cut into passages. The log of the server says why.', false)
        }
        if (document.passages.length === 0) return refuse(file, 'It has no text.', false)
        stop.throwIfAborted()
        const row = { path, bytes, changedMs, document: documentOf(content, path), problem }
        await store.put(index, row, document)
        counts.read += 1
        if (problem !== null) lacks.set(row.document, problem)
        done(path)
      }

      /** The first failure that is not about a file stops the other work too. */
      const each = async (
        all: readonly Wanted[],
        work: (file: ScannedFile, known: KnownFile | null, stop: AbortSignal) => Promise<unknown>,
      ) => {
        const failed = new AbortController()
        const stop = AbortSignal.any([signal, failed.signal])
        await eachOf(all, AT_ONCE, async ({ found, known }) => {
          stop.throwIfAborted()
          if ('why' in found) return
          await work(found, known, stop).catch((error: unknown) => {
            failed.abort(error)
            throw error
          })
        }).catch((error: unknown) => {
          throw failed.signal.aborted ? failed.signal.reason : error
        })
      }

      // A file that was moved is first written under its new path: if the old one went first, its document would go with it.
      const gone = new Set(removed.filter(({ document }) => document !== null).map(({ bytes }) => bytes))
      const moved = [...wanted.values()].filter(({ found }) => !('why' in found) && gone.has(found.bytes))
      await each(moved, (file, known, stop) =>
        documents.read(file, async (content) => (await keepKnown(file, known, content)) || true, stop),
      )
      for (let at = 0; at < removed.length; at += REMOVED_AT_ONCE) {
        signal.throwIfAborted()
        const paths = removed.slice(at, at + REMOVED_AT_ONCE).map(({ path }) => path)
        await store.remove(index, paths)
        counts.removed += paths.length
      }
      for (const { found } of [...wanted.values()]) {
        if (!('why' in found)) continue
        signal.throwIfAborted()
        await refuse(found, found.why, false)
      }
      // What is cited until now comes before what is new.
      const left = [...wanted.values()]
      await each(
        [...left.filter(({ known }) => known !== null), ...left.filter(({ known }) => known === null)],
        readFile,
      )
      lookedAt.add(index)
      return counts
    },
  }
}

function createProgress(total: number, clock: Clock, { progress }: UpdateListener): () => void {
  let done = -1
  let toldAt = Number.NEGATIVE_INFINITY
  const tell = (): void => {
    done += 1
    if (done < total && clock.mono() - toldAt < PROGRESS_MS) return
    toldAt = clock.mono()
    progress({ done, total, phase: 'reading' })
  }
  if (total > 0) tell()
  return tell
}
