import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { type Extract, isImage } from '../../domain/file.ts'
import type { Logger } from '../../domain/logger.ts'
import type { FileReader, GoOn, ReadableFile } from '../file-reader.ts'
import { extractCharacters, mergeExtracts } from '../formats/extract-limit.ts'
import { findOcrLanguages, ocrLanguageNames } from '../formats/image/ocr-languages.ts'
import { unreadable } from '../formats/unreadable.ts'
import { createExtractCache, isRefusal } from './extract-cache.ts'
import { readExtract, writeExtract } from './extract-file.ts'
import { programPaths } from './program-paths.ts'
import { childProgram, type ReaderChildDeps, startReaderChild } from './reader-child.ts'
import { createReaderPool, type PoolWork, type ReaderPool } from './reader-pool.ts'
import { createSharedWork } from './shared-work.ts'
import { removeLeftBehind } from './work-folder.ts'

export interface FileReaderLimits {
  /** For one file, from the moment its turn comes. */
  timeMs: number
  /** For the pages of one PDF that are scans, 30 at most: a page takes 9 s of processor time, and others may want the processor. */
  scansTimeMs: number
  /** Processor time that a page of a PDF may take at a stretch: what needs more is a loop, or might as well be one. */
  busyMs: number
  /** Of one child process, all in all. */
  memoryBytes: number
  /** In each lane. */
  children: number
  /** Files that wait, in each lane. */
  queue: number
  /** After so long without work a child is ended. */
  idleMs: number
  /** Of one extract. */
  characters: number
  /** Of all cached extracts. */
  cacheBytes: number
}

const defaults: FileReaderLimits = {
  timeMs: 60_000,
  scansTimeMs: 1_200_000,
  busyMs: 3_000,
  memoryBytes: 700_000_000,
  children: 1,
  queue: 100,
  idleMs: 30_000,
  characters: extractCharacters,
  cacheBytes: 500_000_000,
}

export interface FileReaderDeps {
  /** Ours alone. Made when the first file comes. */
  cacheDir: string
  clock: Clock
  log: Logger
  environment: Readonly<Record<string, string | undefined>>
  limits?: Partial<FileReaderLimits>
  /** Otherwise `QUARTERDECK_OCR_LANGUAGES`, otherwise English. */
  ocrLanguages?: readonly string[]
  /** Where packages with further languages are looked for, besides our own. */
  startFolder?: string
  /** For tests: what the children run. */
  childProgram?: string
}

/** Starts nothing and loads nothing until the first file comes. Throws `config_invalid` for a language that is not installed. */
export function createFileReader(deps: FileReaderDeps): FileReader {
  const { cacheDir, clock, log, environment } = deps
  const limits = { ...defaults, ...deps.limits }
  const languageNames = deps.ocrLanguages ?? ocrLanguageNames(environment.QUARTERDECK_OCR_LANGUAGES)
  const languages = findOcrLanguages(languageNames, deps.startFolder ?? process.cwd())
  const cache = createExtractCache({
    folder: cacheDir,
    clock,
    maxBytes: limits.cacheBytes,
    settings: JSON.stringify([languageNames, limits.characters]),
  })
  const program = deps.childProgram ?? childProgram()
  let preparing: Promise<ReaderChildDeps> | null = null

  async function prepare(): Promise<ReaderChildDeps> {
    await mkdir(cacheDir, { recursive: true, mode: 0o700 })
    await removeLeftBehind(cacheDir, clock.now())
    const readable = [...(await programPaths(program)), ...languages.map(({ path }) => path)]
    return { parentFolder: cacheDir, readable, clock, environment, memoryBytes: limits.memoryBytes, program }
  }

  const startLane = (): ReaderPool =>
    createReaderPool({
      async startChild() {
        preparing ??= prepare()
        try {
          return await startReaderChild(await preparing)
        } catch (error) {
          preparing = null
          throw new ServerError('storage_failed', 'The folder in which files are read cannot be written.', {
            cause: error,
          })
        }
      },
      newName: () => `${randomUUID()}.ndjson`,
      clock,
      log,
      limits,
    })
  /** OCR takes seconds a page, and nobody's letter waits for it: it has a child of its own, however few cores there are. */
  const quick = startLane()
  const slow = startLane()
  const shared = createSharedWork<Extract>()
  const sharedPictures = createSharedWork<Buffer>()

  async function readAnew(file: ReadableFile, goOn: GoOn, signal: AbortSignal, onProgress: Progress): Promise<Extract> {
    const cached = await cache.find(file)
    if (cached !== null && isRefusal(cached)) throw unreadable(cached.refused)
    if (cached !== null) {
      const asked = cached.unread?.filter((label) => goOn === 'all' || goOn.includes(label)) ?? []
      return asked.length === 0 ? cached : readMore(file, cached, asked, signal, onProgress)
    }
    const lane = isImage(file.mimeType) ? slow : quick
    const first = await lane.run({
      ...workFor(file, { timeMs: limits.timeMs }, signal, onProgress),
      async take(resultPath) {
        const extract = whole(await readExtract(resultPath))
        // What misses something is kept once that was tried, not before: this server may die in between.
        return extract.unread === undefined ? whole(await cache.keep(file, resultPath)) : extract
      },
    })
    if (first.unread === undefined) return first
    try {
      return await readMore(file, first, first.unread, signal, onProgress)
    } catch (error) {
      const isWorthless = first.sections.every(({ text }) => text === '')
      if (isWorthless || !(error instanceof ServerError) || error.code !== 'file_unreadable') throw error
      return { ...first, notes: [...first.notes, `Pages that are pictures were not read. ${error.message}`] }
    }
  }

  /** Reads what is missing, as far as there is time, and keeps it with what was there. */
  function readMore(
    file: ReadableFile,
    known: Extract,
    labels: readonly string[],
    signal: AbortSignal,
    onProgress: Progress,
  ): Promise<Extract> {
    const pages = labels.flatMap((label) => /^page (\d+)$/.exec(label)?.[1] ?? []).map(Number)
    return slow.run({
      ...workFor(file, { timeMs: limits.scansTimeMs, scans: true, pages }, signal, onProgress),
      async take(resultPath) {
        const more = whole(await readExtract(resultPath))
        // Others may have added to it meanwhile.
        const latest = await cache.find(file)
        const base = latest === null || isRefusal(latest) ? known : latest
        const mergedPath = `${resultPath}.merged`
        await writeExtract(mergedPath, mergeExtracts(base, more, limits.characters))
        return whole(await cache.keep(file, mergedPath))
      },
    })
  }

  async function shrinkAnew(file: ReadableFile, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
    const cached = await cache.findPicture(file, maxBytes)
    if (cached !== null) return cached
    const { refused: _, ...work } = workFor(file, { timeMs: limits.timeMs, shrinkTo: maxBytes }, signal, () => {})
    return quick.run({
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
    job: { timeMs: number; scans?: boolean; pages?: number[]; shrinkTo?: number },
    signal: AbortSignal,
    onProgress: Progress,
  ): Omit<PoolWork<never>, 'take'> => ({
    job: {
      path: file.path,
      mimeType: file.mimeType,
      scans: false,
      ...job,
      // A page of a PDF is a program and may run for ever; the other formats are measured before they are parsed.
      busyMs: file.mimeType === 'application/pdf' ? limits.busyMs : limits.timeMs,
      characters: limits.characters,
      languages,
    },
    signal,
    onProgress,
    refused: (sentence) =>
      cache.keepRefusal(file, sentence).catch((error: unknown) => {
        // It is refused all the same, and read again next time.
        log.debug('that a file cannot be read was not kept', { error: String(error) })
      }),
  })

  return {
    read: (file, signal, onProgress, goOn = []) =>
      shared.join(
        JSON.stringify([file.sha256, file.mimeType, goOn]),
        (workSignal, tell) => readAnew(file, goOn, workSignal, tell),
        signal,
        onProgress,
      ),
    shrink: (file, maxBytes, signal) =>
      sharedPictures.join(
        JSON.stringify([file.sha256, maxBytes]),
        (workSignal) => shrinkAnew(file, maxBytes, workSignal),
        signal,
      ),
    sweep: () => removeLeftBehind(cacheDir, clock.now()),
    async close() {
      await Promise.all([quick.close(), slow.close()])
    },
  }
}

function whole(extract: Extract | null): Extract {
  if (extract === null) throw unreadable('The file could not be read: it is damaged, or not what it seems to be.')
  return extract
}

type Progress = (done: number, total: number) => void
