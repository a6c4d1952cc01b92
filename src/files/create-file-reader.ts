import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Extract } from '../domain/file.ts'
import type { Logger } from '../domain/logger.ts'
import type { FileReader, ReadableFile } from './file-reader.ts'
import { extractCharacters } from './office/extract-limit.ts'
import { unreadable } from './office/unreadable.ts'
import { createExtractCache, isRefusal } from './reader/extract-cache.ts'
import { findOcrLanguages, ocrLanguageNames } from './reader/ocr-languages.ts'
import { type ReaderChildDeps, startReaderChild } from './reader/reader-child.ts'
import { createReaderPool } from './reader/reader-pool.ts'
import { createSharedWork } from './reader/shared-work.ts'

export interface FileReaderLimits {
  /** For one file, from the moment its turn comes. */
  timeMs: number
  /** Processor time that a page of a PDF may take at a stretch: what needs more is a loop, or might as well be one. */
  busyMs: number
  /** Of one child process, all in all. */
  memoryBytes: number
  children: number
  /** Files that wait. */
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
  const childDeps: ReaderChildDeps = {
    parentFolder: cacheDir,
    clock,
    environment,
    memoryBytes: limits.memoryBytes,
    ...(deps.childProgram === undefined ? {} : { program: deps.childProgram }),
  }
  let preparing: Promise<void> | null = null
  const pool = createReaderPool({
    async startChild() {
      preparing ??= prepare(cacheDir, clock)
      try {
        await preparing
        return await startReaderChild(childDeps)
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
  const shared = createSharedWork<Extract>()

  async function readAnew(file: ReadableFile, signal: AbortSignal, onProgress: Progress): Promise<Extract> {
    const cached = await cache.find(file)
    if (cached !== null && isRefusal(cached)) throw unreadable(cached.refused)
    if (cached !== null) return cached
    const { path, mimeType } = file
    return pool.run({
      job: {
        path,
        mimeType,
        timeMs: limits.timeMs,
        // A page of a PDF is a program and may run for ever; the other formats are measured before they are parsed.
        busyMs: mimeType === 'application/pdf' ? limits.busyMs : limits.timeMs,
        characters: limits.characters,
        languages,
      },
      signal,
      onProgress,
      async take(resultPath) {
        const extract = await cache.keep(file, resultPath)
        if (extract === null) throw unreadable('The file could not be read: it is damaged, or not what it seems to be.')
        return extract
      },
      refused: (sentence) =>
        cache.keepRefusal(file, sentence).catch((error: unknown) => {
          // It is refused all the same, and read again next time.
          log.debug('that a file cannot be read was not kept', { error: String(error) })
        }),
    })
  }

  return {
    read: (file, signal, onProgress) =>
      shared.join(
        `${file.sha256} ${file.mimeType}`,
        (workSignal, tell) => readAnew(file, workSignal, tell),
        signal,
        onProgress,
      ),
    close: () => pool.close(),
  }
}

type Progress = (done: number, total: number) => void

const LEFT_BEHIND_MS = 3_600_000

/** Folders of children whose server was killed are removed; another server on the same folder may still use the newer ones. */
async function prepare(cacheDir: string, clock: Clock): Promise<void> {
  await mkdir(cacheDir, { recursive: true, mode: 0o700 })
  for (const name of await readdir(cacheDir)) {
    if (!name.startsWith('work-')) continue
    const about = await stat(join(cacheDir, name)).catch(() => null)
    if (about === null || clock.now() - about.mtimeMs < LEFT_BEHIND_MS) continue
    await rm(join(cacheDir, name), { recursive: true, force: true })
  }
}
