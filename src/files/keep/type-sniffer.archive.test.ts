import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { docxOf, pptxOf, xlsxOf, zipOf } from './testing/office-zips.ts'
import { sniffArchive } from './type-sniffer.ts'

async function fileOf(bytes: Uint8Array): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-sniff-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'file')
  writeFileSync(path, bytes)
  return path
}

const sniffed = async (bytes: Uint8Array) => sniffArchive(await fileOf(bytes))

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const types = { '[Content_Types].xml': '<Types/>' }

test.each<[string, Buffer, string]>([
  ['a document', docxOf({ 'word/embeddings/sheet.xlsx': 'x' }), `${OFFICE}.wordprocessingml.document`],
  [
    'a document of another writer',
    zipOf({ ...types, 'word/document2.xml': 'x' }),
    `${OFFICE}.wordprocessingml.document`,
  ],
  ['a workbook', xlsxOf(), `${OFFICE}.spreadsheetml.sheet`],
  ['a workbook with other slashes', zipOf({ ...types, 'xl\\workbook.xml': 'x' }), `${OFFICE}.spreadsheetml.sheet`],
  ['slides', pptxOf({ 'ppt/embeddings/xl/workbook.xml': 'x' }), `${OFFICE}.presentationml.presentation`],
])('%s is recognized by the names in its directory', async (_what, bytes, type) => {
  expect(await sniffed(bytes)).toBe(type)
})

test.each<[string, Buffer]>([
  ['any other archive', zipOf({ 'readme.txt': 'hi' })],
  ['one without the list of its parts', zipOf({ 'word/document.xml': 'x' })],
  ['a list of parts alone', zipOf(types)],
  ['a binary workbook', zipOf({ ...types, 'xl/workbook.bin': 'x' })],
  ['two documents in one', docxOf({ 'xl/workbook.xml': 'x' })],
])('%s is not recognized', async (_what, bytes) => {
  expect(await sniffed(bytes)).toBe(null)
})

test.each<[string, () => Buffer]>([
  ['cut off', () => docxOf().subarray(0, -30)],
  ['only a signature', () => Buffer.from('PK\x03\x04')],
  ['a name that leads out of it', () => docxOf({ '../../etc/passwd': 'x' })],
  ['an absolute name', () => docxOf({ '/etc/passwd': 'x' })],
  ['more parts than it has', () => withCount(docxOf(), 9_999)],
  ['more parts than anybody needs', () => withCount(docxOf(), 10_001)],
  ['a directory that lies outside', () => withOffset(docxOf(), 0x7fff_ffff)],
])('an archive with %s cannot be read, and no file stays open', async (_what, make) => {
  const path = await fileOf(make())

  await expect(sniffArchive(path)).rejects.toMatchObject({
    code: 'file_unreadable',
    message: 'The archive is damaged, incomplete or malicious.',
  })

  await expect.poll(() => timesOpen(path), { timeout: 60_000 }).toBe(0)
})

/** Only Linux tells; elsewhere this proves nothing. Other tests open files too, so only this one counts. */
function timesOpen(path: string): number {
  if (process.platform !== 'linux') return 0
  return readdirSync('/proc/self/fd').filter((fd) => isLinkTo(`/proc/self/fd/${fd}`, path)).length
}

function isLinkTo(link: string, path: string): boolean {
  try {
    return readlinkSync(link) === path
  } catch {
    // It was closed meanwhile.
    return false
  }
}

function withCount(zip: Buffer, count: number): Buffer {
  zip.writeUInt16LE(count, zip.length - 12)
  return zip
}

function withOffset(zip: Buffer, offset: number): Buffer {
  zip.writeUInt32LE(offset, zip.length - 6)
  return zip
}
