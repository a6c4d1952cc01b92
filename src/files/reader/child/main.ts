// The child process that reads files. It has no secrets, may write only into its own folder, and is killed when a file takes too
// much time or memory. `reader-child.ts` is the server's side of it.

import { writeFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { tidyExtract } from '../../formats/extract-limit.ts'
import { createOcr, type Ocr } from '../../formats/image/ocr.ts'
import { shrinkPicture } from '../../formats/image/shrink-picture.ts'
import { readByType } from '../../formats/read-by-type.ts'
import { writeExtract } from '../extract-file.ts'
import type { ChildMessage, ReadJob } from '../read-job.ts'
import { jobFailure } from './job-failure.ts'
import { startWatchdog } from './watchdog.ts'

/** Share of the time limit for reading. The rest is for writing the result. */
const USABLE_TIME = 0.75
const PROGRESS_MS = 200

const send = (message: ChildMessage): void => void process.send?.(message)

// The server and its streams come first. Threads that start later inherit the priority.
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

process.on('message', (job: ReadJob) => {
  run(job).then(
    () => send({ type: 'done' }),
    (error) => send(jobFailure(error)),
  )
})
process.on('disconnect', () => process.exit())
// Parsers leave rejected promises behind when a file is damaged. The job still gets its answer, or runs into its time limit.
process.on('unhandledRejection', () => {})
