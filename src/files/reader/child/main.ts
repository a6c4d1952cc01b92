// The process that reads files. It holds no secret, may write into its own folder only, and is ended without ceremony when a file
// is too much for it: see `reader-child.ts` for the other side.

import { writeFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { ServerError } from '../../../domain/errors.ts'
import { tidyExtract } from '../../formats/extract-limit.ts'
import { createOcr, type Ocr } from '../../formats/image/ocr.ts'
import { shrinkPicture } from '../../formats/image/shrink-picture.ts'
import { readByType } from '../../formats/read-by-type.ts'
import { writeExtract } from '../extract-file.ts'
import type { ChildMessage, ReadJob } from '../read-job.ts'
import { isLastingFailure } from './job-failure.ts'
import { startWatchdog } from './watchdog.ts'

/** Of a job's time: what is left is for writing down what was read until then. */
const USABLE_TIME = 0.75
const PROGRESS_MS = 200

const send = (message: ChildMessage): void => void process.send?.(message)

// The server and its streams come first. Threads that start later inherit it.
setPriority(5)

let ocr: Ocr | null = null
const watchdog = startWatchdog()

async function run(job: ReadJob): Promise<void> {
  const start = performance.now()
  let toldAt = start
  watchdog.allow(job.busyMs)
  if (job.shrinkTo !== undefined) {
    await writeFile(job.resultPath, await shrinkPicture(job.path, job.shrinkTo), { mode: 0o600 })
    return
  }
  ocr ??= createOcr({ languages: job.languages, folder: process.cwd() })
  const extract = await readByType[job.mimeType](job.path, {
    ocr,
    characters: job.characters,
    scans: job.scans,
    ...(job.pages && { pages: job.pages }),
    timeLeft: () => job.timeMs * USABLE_TIME - (performance.now() - start),
    onProgress(done, total) {
      const now = performance.now()
      if (now - toldAt < PROGRESS_MS) return
      toldAt = now
      send({ type: 'progress', done, total })
    },
  })
  await writeExtract(job.resultPath, tidyExtract(extract, job.characters))
}

function failureOf(error: unknown): ChildMessage {
  const cause = error instanceof Error ? String(error.cause ?? error.stack ?? error).slice(0, 2_000) : String(error)
  const failed = { type: 'failed', cause, lasting: isLastingFailure(error) } as const
  if (error instanceof ServerError) return { ...failed, message: error.message }
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') {
    return { ...failed, message: "The server's disk is full: nothing can be read until there is room." }
  }
  return { ...failed, message: 'The file could not be read: it is damaged, or not what it seems to be.' }
}

process.on('message', (job: ReadJob) => {
  run(job).then(
    () => send({ type: 'done' }),
    (error) => send(failureOf(error)),
  )
})
process.on('disconnect', () => process.exit())
// Parsers leave promises behind when a file is damaged. The job has its own answer, or its time limit.
process.on('unhandledRejection', () => {})
