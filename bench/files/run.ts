// Measures how much of a document's text the readers find, by type and program, and how much reading a large file delays other
// streams. Writes RESULTS.md.
//   npm run bench:files [-- --only recall | streams]      only a complete run is written
// Exit code 1: a target was missed. Documents that this machine cannot write are skipped, with a line that says what to install.

import { createHash } from 'node:crypto'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { arch, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createSystemClock } from '../../src/domain/clock.ts'
import { silentLogger } from '../../src/domain/logger.ts'
import type { FileReader } from '../../src/files/file-reader.ts'
import { markdownTable } from '../../src/files/formats/markdown.ts'
import { wordRecall } from '../../src/files/formats/office/testing/word-recall.ts'
import { createFileReader, readerLimits } from '../../src/files/reader/create-file-reader.ts'
import { childProgram } from '../../src/files/reader/reader-child.ts'
import { type Case, cases } from './cases.ts'
import { ADDED_LIMIT_MS, measureOtherStreams, STREAMS } from './other-streams.ts'

const say = (text: string): void => void process.stdout.write(`${text}\n`)

interface Row {
  type: string
  writer: string
  recall: string
  target: string
  outcome: 'met' | 'missed' | 'skipped' | 'reported'
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
  const outcome = one.target === null ? 'reported' : recall >= one.target ? 'met' : 'missed'
  return { ...row, recall: recall.toFixed(4), outcome, milliseconds, note: extract.notes.join(' ') }
}

interface Streams {
  lines: string[]
  missed: boolean
}

async function recall(): Promise<Row[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'quarterdeck-bench-files-'))
  const reader = createFileReader({
    cacheDir: join(folder.path, 'cache'),
    clock: createSystemClock(),
    log: silentLogger,
    environment: process.env,
    limits: readerLimits,
    program: childProgram(),
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
    return rows
  } finally {
    await reader.close()
  }
}

async function streams(): Promise<Streams> {
  const { alone, besidePdf, pdfs, remarks, problems } = await measureOtherStreams()
  const added = besidePdf - alone
  // A load that failed or ran without a PDF has measured nothing.
  const isMeasured = problems.length === 0 && pdfs > 0 && Number.isFinite(added)
  const missed = !isMeasured || added > ADDED_LIMIT_MS
  const lines = [
    `${STREAMS} streams of 50 tokens a second while PDFs of 50 MB are uploaded and read: delay of a token at p99 ${alone.toFixed(1)} ms alone, ${besidePdf.toFixed(1)} ms beside them: ${added.toFixed(1)} ms added, target ≤ ${ADDED_LIMIT_MS} ms, ${missed ? 'missed' : 'met'}. ${pdfs} PDFs, 3 rounds; ${remarks.join('; ')}.`,
    ...problems,
  ]
  for (const line of lines) say(line)
  return { lines, missed }
}

async function main(): Promise<void> {
  const { only } = parseArgs({ options: { only: { type: 'string' } } }).values
  if (only !== undefined && only !== 'recall' && only !== 'streams') throw new Error('--only must be recall or streams')
  const rows = only === 'streams' ? [] : await recall()
  const others = only === 'recall' ? null : await streams()
  if (only === undefined && others !== null) await keep(rows, others)
  if (rows.some(({ outcome }) => outcome === 'missed') || others?.missed === true) process.exitCode = 1
}

async function keep(rows: readonly Row[], { lines }: Streams): Promise<void> {
  const head = ['type', 'written by', 'recall', 'target', '', 'ms', 'note']
  const table = markdownTable([
    head,
    ...rows.map((row) => [row.type, row.writer, row.recall, row.target, row.outcome, row.milliseconds, row.note]),
  ])
  await writeFile(
    join(import.meta.dirname, 'RESULTS.md'),
    `# Text recall\n\n\`npm run bench:files\`: the share of a document's words that the readers find, in the same order. Files are read by the child processes, as in the server.\nNode ${process.version}, ${arch()}, ${cpus().length} cores.\n\n${table}\n\n# Other streams\n\n${lines.join('\n')}\n`,
  )
}

await main()
