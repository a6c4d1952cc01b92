// Documents as LibreOffice and pandoc write them. On Debian: apt-get install -y --no-install-recommends libreoffice-writer
// libreoffice-calc libreoffice-impress pandoc

import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chapterText, type Report, reportText } from '../../src/files/formats/office/testing/sample-text.ts'
import type { WrittenDocument } from '../../src/files/formats/office/testing/written-documents.ts'

const run = promisify(execFile)

export async function isInstalled(program: string): Promise<boolean> {
  return await run('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  )
}

const markdownOf = ({ title, chapters }: Report): string =>
  [
    `# ${title}`,
    ...chapters.flatMap(({ heading, paragraphs, points, table: [head = [], ...body] }) => [
      `## ${heading}`,
      ...paragraphs,
      points.map(({ text, below }) => [`- ${text}`, ...below.map((item) => `    - ${item}`)].join('\n')).join('\n'),
      [head, head.map(() => '---'), ...body].map((row) => `| ${row.join(' | ')} |`).join('\n'),
    ]),
  ].join('\n\n')

/** Word or PowerPoint by pandoc. In a presentation every heading below the first is a slide. */
export async function byPandoc(report: Report, folder: string, to: 'docx' | 'pptx'): Promise<WrittenDocument> {
  const source = join(folder, 'pandoc.md')
  const written = join(folder, `pandoc.${to}`)
  // pandoc puts one thing on each slide. What does not fit goes on a slide without a title.
  await writeFile(source, markdownOf(report))
  await run('pandoc', ['-f', 'markdown', source, '-o', written, ...(to === 'pptx' ? ['--slide-level=2'] : [])])
  return { bytes: await readFile(written), text: reportText(report) }
}

/** The same document, opened and saved by LibreOffice. */
export async function byLibreOffice(
  from: WrittenDocument & { ending: string },
  folder: string,
  to: 'docx' | 'pptx' | 'xlsx' | 'pdf',
): Promise<WrittenDocument> {
  const source = join(folder, `libreoffice-in.${from.ending}`)
  await writeFile(source, from.bytes)
  const out = join(folder, 'out')
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`
  // Commas, double quotes, UTF-8. Otherwise LibreOffice reads a CSV as Latin-1.
  const reading = from.ending === 'csv' ? ['--infilter=CSV:44,34,76'] : []
  const options = [profile, '--headless', ...reading, '--convert-to', to, '--outdir', out, source]
  await run('soffice', options, { timeout: 120_000 })
  return { bytes: await readFile(join(out, `libreoffice-in.${to}`)), text: from.text }
}

export const csvOf = (report: Report): WrittenDocument => {
  const [first] = report.chapters
  const rows = first?.table ?? []
  return {
    bytes: Buffer.from(rows.map((row) => row.join(',')).join('\n')),
    text: rows.map((row) => row.join(' ')).join('\n'),
  }
}

export const htmlOf = (report: Report): WrittenDocument => {
  const list = (items: string[]) => `<ul>${items.map((text) => `<li>${text}</li>`).join('')}</ul>`
  const chapters = report.chapters.map(
    ({ heading, paragraphs, points, table }) =>
      `<h2>${heading}</h2>${paragraphs.map((text) => `<p>${text}</p>`).join('')}` +
      `<ul>${points.map(({ text, below }) => `<li>${text}${list(below)}</li>`).join('')}</ul>` +
      `<table border="1">${table.map((row) => `<tr>${row.map((text) => `<td>${text}</td>`).join('')}</tr>`).join('')}</table>`,
  )
  return {
    bytes: Buffer.from(
      `<html><head><meta charset="utf-8"></head><body><h1>${report.title}</h1>${chapters.join('')}</body></html>`,
    ),
    text: [report.title, ...report.chapters.map(chapterText)].join('\n'),
  }
}
