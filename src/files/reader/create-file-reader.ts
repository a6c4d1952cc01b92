import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { type Extract, isImage } from '../../domain/session/file.ts'
import type { FileReader, Progress, ReadableFile, UnreadSections } from '../file-reader.ts'
import { extractCharacters, mergeExtracts } from '../formats/extract-limit.ts'
import { findOcrLanguages, ocrLanguageNames } from '../formats/image/ocr-languages.ts'
import { unreadable } from '../formats/unreadable.ts'
import { createExtractCache, isRefusal } from './extract-cache.ts'
import { readExtract, writeExtract } from './extract-file.ts'
import { programPaths } from './program-paths.ts'
import type { ReadJob } from './read-job.ts'
import { type ReaderChild, type ReaderChildDeps, startReaderChild } from './reader-child.ts'
import { createReaderPool, type PoolWork, type ReaderPool } from './reader-pool.ts'
import { createSharedWork } from './shared-work.ts'
import { removeLeftBehind } from './work-folder.ts'

export const readerLimits = {
  /** For one file, from the moment a child starts on it. */
  timeMs: 60_000,
  /** For the scanned pages of one PDF, at most 30: each takes 9 s of processor time, and others need the processor too. */
  scansTimeMs: 1_200_000,
  /** Processor time that a page of a PDF may take without a pause. More is an endless loop, or as bad as one. */
  busyMs: 3_000,
  /** Memory of one child process in all. */
  memoryBytes: 700_000_000,
  /** Children in each pool. */
  children: 1,
  /** Files that wait, in each pool. */
  queue: 100,
  /** A child without work is ended after this time. */
  idleMs: 30_000,
  /** Characters of one extract. */
  characters: extractCharacters as number,
  /** Size of all cached extracts. */
  cacheBytes: 500_000_000,
}
export type FileReaderLimits = typeof readerLimits

interface FileReaderDeps {
  /** Used by the reader alone. Created when the first file is read. */
  cacheDir: string
  clock: Clock
  log: Logger
  environment: Readonly<Record<string, string | undefined>>
  limits: FileReaderLimits
  /** The program that the children run: `childProgram()`, but for tests. */
  program: string
}

/** Starts and loads nothing until the first file is read. Throws `config_invalid` for a language that is not installed. */
export function createFileReader(deps: FileReaderDeps): FileReader {
  const { cacheDir, clock, log, limits } = deps
  const languageNames = ocrLanguageNames(deps.environment.QUARTERDECK_OCR_LANGUAGES)
  const languages = findOcrLanguages(languageNames, process.cwd())
  const cache = createExtractCache({
    folder: cacheDir,
    clock,
    maxBytes: limits.cacheBytes,
    settings: JSON.stringify([languageNames, limits.characters]),
  })
  const startChild = createChildStarter({
    ...deps,
    memoryBytes: limits.memoryBytes,
    languagePaths: languages.map(({ path }) => path),
  })
  const startPool = (): ReaderPool =>
    createReaderPool({ startChild, newName: () => `${randomUUID()}.ndjson`, clock, log, limits })
  /** OCR takes seconds for each page. It has a child of its own, so that no other file waits for it, however few cores there are. */
  const ocrPool = startPool()
  const quickPool = startPool()
  const sharedReads = createSharedWork<Extract>()
  const sharedPictures = createSharedWork<Buffer>()

  async function readOrFind(
    file: ReadableFile,
    unread: UnreadSections,
    signal: AbortSignal,
    onProgress: Progress,
  ): Promise<Extract> {
    const cached = await cache.find(file)
    if (cached === null) return readFirst(file, signal, onProgress)
    if (isRefusal(cached)) throw unreadable(cached.refused)
    const wanted = cached.unread?.filter((label) => unread === 'all' || unread.includes(label)) ?? []
    return wanted.length === 0 ? cached : readMore(file, cached, wanted, signal, onProgress)
  }

  /** Reads a file for the first time: the quick part, and then the pages that need OCR. */
  async function readFirst(file: ReadableFile, signal: AbortSignal, onProgress: Progress): Promise<Extract> {
    const pool = isImage(file.mimeType) ? ocrPool : quickPool
    const first = await pool.run({
      ...workFor(file, { timeMs: limits.timeMs }, signal, onProgress),
      async take(resultPath) {
        const extract = orDamaged(await readExtract(resultPath))
        // With parts missing it is kept only after those were tried: this server may die in between.
        return extract.unread === undefined ? orDamaged(await cache.keep(file, resultPath)) : extract
      },
    })
    if (first.unread === undefined) return first
    try {
      return await readMore(file, first, first.unread, signal, onProgress)
    } catch (error) {
      const isEmpty = first.sections.every(({ text }) => text === '')
      if (isEmpty || !(error instanceof ServerError) || error.code !== 'file_unreadable') throw error
      return { ...first, notes: [...first.notes, `Pages that are pictures were not read. ${error.message}`] }
    }
  }

  /** Reads the named sections as far as there is time, and keeps them together with the known ones. */
  function readMore(
    file: ReadableFile,
    known: Extract,
    labels: readonly string[],
    signal: AbortSignal,
    onProgress: Progress,
  ): Promise<Extract> {
    const pages = labels.flatMap((label) => /^page (\d+)$/.exec(label)?.[1] ?? []).map(Number)
    return ocrPool.run({
      ...workFor(file, { timeMs: limits.scansTimeMs, scans: true, pages }, signal, onProgress),
      async take(resultPath) {
        const more = orDamaged(await readExtract(resultPath))
        // Another reading may have added sections meanwhile.
        const latest = await cache.find(file)
        const base = latest === null || isRefusal(latest) ? known : latest
        const mergedPath = `${resultPath}.merged`
        await writeExtract(mergedPath, mergeExtracts(base, more, limits.characters))
        return orDamaged(await cache.keep(file, mergedPath))
      },
    })
  }

  async function shrinkOrFind(file: ReadableFile, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
    const cached = await cache.findPicture(file, maxBytes)
    if (cached !== null) return cached
    const { refused: _, ...work } = workFor(file, { timeMs: limits.timeMs, shrinkTo: maxBytes }, signal, () => {})
    return quickPool.run({
      ...work,
      async take(resultPath) {
        const picture = await cache.keepPicture(file, maxBytes, resultPath)
        if (picture === null) throw unreadable('The picture could not be made smaller.')
        return picture
      },
    })
  }

  const workFor = (
    file: ReadableFile,
    job: Pick<ReadJob, 'timeMs' | 'pages' | 'shrinkTo'> & { scans?: boolean },
    signal: AbortSignal,
    onProgress: Progress,
  ): Omit<PoolWork<never>, 'take'> => ({
    job: {
      path: file.path,
      mimeType: file.mimeType,
      scans: false,
      ...job,
      // A page of a PDF is a program and may run for ever. The other formats are measured before they are parsed.
      busyMs: file.mimeType === 'application/pdf' ? limits.busyMs : limits.timeMs,
      characters: limits.characters,
      languages,
    },
    signal,
    onProgress,
    refused: (sentence) =>
      cache.keepRefusal(file, sentence).catch((error: unknown) => {
        // The file is refused anyway, and read again next time.
        log.debug('the refusal of a file was not cached', { error: String(error) })
      }),
  })

  return {
    read: (file, signal, onProgress, unread = []) =>
      sharedReads.join(
        JSON.stringify([file.sha256, file.mimeType, unread]),
        (workSignal, tell) => readOrFind(file, unread, workSignal, tell),
        signal,
        onProgress,
      ),
    shrink: (file, maxBytes, signal) =>
      sharedPictures.join(
        JSON.stringify([file.sha256, maxBytes]),
        (workSignal) => shrinkOrFind(file, maxBytes, workSignal),
        signal,
      ),
    sweep: () => removeLeftBehind(cacheDir, clock.now()),
    async close() {
      await Promise.all([quickPool.close(), ocrPool.close()])
    },
  }
}

/** Prepares the cache folder with the first child. If that fails, the next child tries again. */
function createChildStarter(
  deps: FileReaderDeps & { memoryBytes: number; languagePaths: readonly string[] },
): () => Promise<ReaderChild> {
  const { cacheDir, clock, environment, memoryBytes, program } = deps
  let preparing: Promise<ReaderChildDeps> | null = null

  async function prepare(): Promise<ReaderChildDeps> {
    await mkdir(cacheDir, { recursive: true, mode: 0o700 })
    await removeLeftBehind(cacheDir, clock.now())
    const readable = [...(await programPaths(program)), ...deps.languagePaths]
    return { parentFolder: cacheDir, readable, clock, environment, memoryBytes, program }
  }

  return async () => {
    preparing ??= prepare()
    try {
      return await startReaderChild(await preparing)
    } catch (error) {
      preparing = null
      throw new ServerError('storage_failed', 'The folder for reading files cannot be written.', { cause: error })
    }
  }
}

function orDamaged(extract: Extract | null): Extract {
  if (extract === null)
    throw unreadable('The file could not be read: it is damaged, or not of the type it seems to be.')
  return extract
}
