import { randomUUID } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { silentLogger } from '../../domain/logger.ts'
import { sampleReport } from '../../files/formats/office/testing/sample-text.ts'
import { writeDocx, writePptx, writeXlsx } from '../../files/formats/office/testing/written-documents.ts'
import { pdfOf } from '../../files/formats/pdf/testing/pdf.ts'
import { createFileReader, readerLimits } from '../../files/reader/create-file-reader.ts'
import { childProgram } from '../../files/reader/reader-child.ts'
import { createDocumentReader } from './read-document.ts'
import { scanSources } from './scan-sources.ts'
import { never } from './testing/test-updater.ts'
import { newFolder } from './testing/write-files.ts'

const report = sampleReport(1, 3)
const word = 'text'

describe('reading documents with the readers of attachments', () => {
  test('gives the text and the type of each, by its content and not by its ending', async () => {
    const folder = await newFolder()
    const [docx, pptx, xlsx] = await Promise.all([writeDocx(report), writePptx(report), writeXlsx(report)])
    const contents: Record<string, string | Uint8Array> = {
      'a.pdf': pdfOf([{ lines: ['The first page.'] }, { lines: ['The second page.'] }]),
      'b.docx': docx.bytes,
      'c.pptx': pptx.bytes,
      'd.xlsx': xlsx.bytes,
      'e.html': `<h1>Leave</h1><p>Some ${word}.</p>`,
      'f.md': `# Leave\n\nSome ${word}.`,
      'g.csv': 'name,days\nAda,14\n',
      'h.bin': pdfOf([{ lines: ['A page with another ending.'] }]),
      'i.pdf': 'This is no PDF.',
      'j.docx': docx.bytes.subarray(0, 2_000),
      'k.dat': Uint8Array.of(0, 1, 2, 3, 0, 0, 0, 0, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
      'l.pdf': '%PDF-1.7\nnothing',
    }
    for (const [name, content] of Object.entries(contents)) await writeFile(join(folder, name), content)
    const [clock, log] = [createSystemClock(), silentLogger]
    const { PATH, LANG } = process.env
    const cacheDir = join(folder, '.cache')
    const environment = { PATH, LANG }
    const reader = createFileReader({
      cacheDir,
      clock,
      log,
      environment,
      limits: readerLimits,
      program: childProgram(),
    })
    onTestFinished(() => reader.close())
    const documents = createDocumentReader({ reader, folder: join(folder, '.copies'), newId: randomUUID, clock, log })
    const { files } = await scanSources({ directory: folder, folders: ['/'], sources: ['.'], ignore: [] }, [], never)
    const found: Record<string, unknown> = {}
    for (const file of files) {
      const read = await documents.read(file, async () => false, never)
      found[file.path] =
        read.kind === 'read' ? [read.type.split('.').at(-1), read.extract.sections.map(({ label }) => label)] : read
    }

    expect(found).toEqual({
      'a.pdf': ['application/pdf', ['page 1', 'page 2']],
      'b.docx': ['document', ['']],
      'c.pptx': ['presentation', expect.arrayContaining(['slide 1', 'slide 2'])],
      'd.xlsx': ['sheet', expect.arrayContaining([expect.stringContaining('sheet ')])],
      'e.html': ['text/plain', ['']],
      'f.md': ['text/markdown', ['']],
      'g.csv': ['text/csv', ['']],
      'h.bin': ['application/pdf', ['page 1']],
      'i.pdf': ['text/plain', ['']],
      'j.docx': { kind: 'unread', isPassing: false, why: expect.stringMatching(/\.$/) },
      'k.dat': { kind: 'unread', isPassing: false, why: expect.stringContaining('text in a known encoding are read.') },
      'l.pdf': { kind: 'unread', isPassing: false, why: expect.stringMatching(/\.$/) },
    })
    expect(await readdir(join(folder, '.copies'))).toEqual([])
  })
})
