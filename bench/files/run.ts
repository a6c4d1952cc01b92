// Measures how much of the text of documents is found again, by type and writer, and keeps it in RESULTS.md.
//   npm run bench:files
// Exit code 1: a target was missed. What could not be written on this machine is skipped, with a line that says how to get it.

import { createHash } from 'node:crypto'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { arch, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '../../src/domain/clock.ts'
import { silentLogger } from '../../src/domain/logger.ts'
import { createFileReader } from '../../src/files/create-file-reader.ts'
import type { FileReader } from '../../src/files/file-reader.ts'
import { markdownTable } from '../../src/files/office/markdown.ts'
import { wordRecall } from '../../src/files/office/testing/word-recall.ts'
import { type Case, cases } from './cases.ts'

const say = (text: string): void => void process.stdout.write(`${text}\n`)

interface Row {
  type: string
  writer: string
  recall: string
  target: string
  outcome: 'met' | 'missed' | 'skipped' | 'told'
  milliseconds: string
  note: string
}

async function measure(one: Case, reader: FileReader, folder: string): Promise<Row> {
  const row = { type: one.type, writer: one.writer, target: one.target === null ? '' : `≥ ${one.target}` }
  const written = await one.write(folder)
  if (typeof written === 'string') return { ...row, recall: '', outcome: 'skipped', milliseconds: '', note: written }
  const path = join(folder, 'document')
  await writeFile(path, written.bytes)
  const start = performance.now()
  const sha256 = createHash('sha256').update(written.bytes).digest('hex')
  const file = { path, mimeType: one.mimeType, bytes: written.bytes.length, sha256 }
  const extract = await reader.read(file, AbortSignal.timeout(120_000))
  const milliseconds = String(Math.round(performance.now() - start))
  const recall = wordRecall(written.text, extract.sections.map(({ text }) => text).join('\n'))
  const outcome = one.target === null ? 'told' : recall >= one.target ? 'met' : 'missed'
  return { ...row, recall: recall.toFixed(4), outcome, milliseconds, note: extract.notes.join(' ') }
}

async function main(): Promise<void> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'quarterdeck-bench-files-'))
  const reader = createFileReader({
    cacheDir: join(folder.path, 'cache'),
    clock: createSystemClock(),
    log: silentLogger,
    environment: process.env,
  })
  const rows: Row[] = []
  try {
    for (const [at, one] of cases.entries()) {
      const own = join(folder.path, String(at))
      await mkdir(own)
      const row = await measure(one, reader, own)
      rows.push(row)
      say(
        `${row.type.padEnd(5)} ${row.writer.padEnd(34)} ${row.recall.padEnd(7)} ${row.target.padEnd(7)} ${row.outcome.padEnd(8)} ${row.note}`,
      )
    }
    await keep(rows)
  } finally {
    await reader.close()
  }
  if (rows.some(({ outcome }) => outcome === 'missed')) process.exitCode = 1
}

async function keep(rows: readonly Row[]): Promise<void> {
  const head = ['type', 'written by', 'recall', 'target', '', 'ms', 'note']
  const table = markdownTable([
    head,
    ...rows.map((row) => [row.type, row.writer, row.recall, row.target, row.outcome, row.milliseconds, row.note]),
  ])
  await writeFile(
    join(import.meta.dirname, 'RESULTS.md'),
    `# Text recall\n\n\`npm run bench:files\`: the share of a document's words that are found again in the same order, read through the pool of child processes.\nNode ${process.version}, ${arch()}, ${cpus().length} cores.\n\n${table}\n`,
  )
}

await main()
