// The zip around an Office document, looked through before any parser sees it. Every entry is really inflated and counted,
// because the sizes in an archive are claims: a few hundred kilobytes can unpack to gigabytes and say that they do not.

import { open } from 'node:fs/promises'
import { type Entry, getFileNameLowLevel, validateFileName, type ZipFile } from 'yauzl'
import { ServerError } from '../../../domain/errors.ts'
import { damaged, unreadable } from '../unreadable.ts'
import { openZip } from './open-zip.ts'
import { ENCODING_BYTES, xmlEncodingOf } from './xml-scanner.ts'

export const archiveLimits = {
  entries: 10_000,
  /** Inflated, of the parts that a parser may open. */
  bytes: 50_000_000,
  /** Inflated, of pictures, fonts and embedded files: nobody opens them, but what is attached may not be a bomb either. */
  sideBytes: 150_000_000,
  /** Inflated to packed, of one entry. Sheets of repeated numbers come to 50, zeros to between 200 and 1,000. */
  ratio: 150,
  /** Below it a ratio says nothing: an empty picture packs well too. */
  ratioFrom: 10_000_000,
} as const

export interface SafeArchive {
  /** Names of the entries as they are written, folders left out. */
  names: ReadonlySet<string>
  /** The inflated bytes of one entry. Throws `file_unreadable` when there is none of that name. */
  read(name: string): AsyncIterable<Buffer>
  close(): void
}

/**
 * Throws `file_unreadable` for what is not a zip, is damaged, locked with a password, has names that lead out of it, the same
 * name twice, a document type definition (the door to entity bombs), or is too large when unpacked. Archives inside the archive
 * are counted and never opened.
 */
export async function openSafeArchive(path: string): Promise<SafeArchive> {
  await refuseOldContainer(path)
  const zip = await openZip(path, { decodeStrings: false }).catch((error: unknown) => {
    throw damaged(error)
  })
  try {
    const entries = await lookThrough(zip)
    return {
      names: new Set(entries.keys()),
      read: (name) => contentOf(zip, entries.get(name)),
      close: () => zip.close(),
    }
  } catch (error) {
    zip.close()
    throw error instanceof ServerError ? error : damaged(error)
  }
}

async function lookThrough(zip: ZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > archiveLimits.entries) throw tooManyParts()
  const entries = new Map<string, Entry>()
  const totals = { bytes: 0, sideBytes: 0 }
  for await (const entry of zip.eachEntry()) {
    const name = nameOf(entry)
    if (name.endsWith('/')) continue
    if (entries.has(name)) throw unreadable('The file is damaged: it holds the same part twice.')
    if (entries.size === archiveLimits.entries) throw tooManyParts()
    entries.set(name, entry)
    await inflate(zip, entry, name, totals)
  }
  return entries
}

async function inflate(
  zip: ZipFile,
  entry: Entry,
  name: string,
  totals: { bytes: number; sideBytes: number },
): Promise<void> {
  const kind = /^(word|xl|ppt)\/(media|embeddings|fonts)\//.test(name) ? 'sideBytes' : 'bytes'
  // An honest bomb is refused without inflating a byte of it.
  if (totals[kind] + entry.uncompressedSize > archiveLimits[kind]) throw tooLarge(kind)
  const isXml = /\.(xml|rels|vml)$/i.test(name)
  let bytes = 0
  let tail: Buffer = Buffer.alloc(0)
  let documentType = documentTypes['utf-8']
  for await (const chunk of contentOf(zip, entry)) {
    if (isXml) {
      if (bytes === 0) documentType = documentTypes[xmlEncodingOf(chunk)]
      // The keyword may lie across two chunks.
      const seam = Buffer.concat([tail, chunk.subarray(0, documentType.length)])
      if (chunk.includes(documentType) || seam.includes(documentType)) {
        throw unreadable('The file holds a document type definition, which Office files never do. It was not read.')
      }
      tail = chunk.subarray(-documentType.length)
    }
    bytes += chunk.length
    totals[kind] += chunk.length
    if (totals[kind] > archiveLimits[kind]) throw tooLarge(kind)
    if (bytes > archiveLimits.ratioFrom && bytes > entry.compressedSize * archiveLimits.ratio) throw tooLarge(kind)
  }
}

async function* contentOf(zip: ZipFile, entry: Entry | undefined): AsyncGenerator<Buffer> {
  if (entry === undefined) throw unreadable('The file is damaged: a part of it is missing.')
  if (entry.isEncrypted()) throw locked()
  if (!entry.canDecodeFileData())
    throw unreadable('The file is packed in a way that is not read: save it anew in Office.')
  try {
    const stream = await zip.openReadStreamPromise(entry)
    // The first piece is long enough to tell the encoding by it.
    let start: Buffer | null = Buffer.alloc(0)
    for await (const chunk of stream) {
      if (start !== null) start = Buffer.concat([start, chunk])
      if (start === null) yield chunk
      else if (start.length >= ENCODING_BYTES) {
        yield start
        start = null
      }
    }
    if (start !== null && start.length > 0) yield start
  } catch (error) {
    throw error instanceof ServerError ? error : damaged(error)
  }
}

function nameOf(entry: Entry): string {
  const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false)
  if (validateFileName(name) !== null || name.includes('\0')) {
    throw unreadable('The file holds parts whose names lead out of it. It was not read.')
  }
  return name
}

const documentTypes = {
  'utf-8': Buffer.from('<!DOCTYPE'),
  'utf-16le': Buffer.from('<!DOCTYPE', 'utf16le'),
  'utf-16be': Buffer.from('<!DOCTYPE', 'utf16le').swap16(),
} as const

const oleMagic = Buffer.from('d0cf11e0a1b11ae1', 'hex')
const encryptedPackage = Buffer.from('EncryptedPackage', 'utf16le')

/** Office keeps encrypted documents, and all documents before 2007, in a container of its own instead of a zip. */
async function refuseOldContainer(path: string): Promise<void> {
  await using file = await open(path)
  const start = Buffer.alloc(oleMagic.length)
  await file.read(start, 0, start.length, 0)
  if (!start.equals(oleMagic)) return
  let tail: Buffer = Buffer.alloc(0)
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false, highWaterMark: 1_000_000 })) {
    if (Buffer.concat([tail, chunk]).includes(encryptedPackage)) throw locked()
    tail = Buffer.from(chunk.subarray(-encryptedPackage.length))
  }
  throw unreadable(
    'The file is in the Office format of before 2007: save it as .docx, .xlsx or .pptx and attach it again.',
  )
}

const locked = () => unreadable('The file is locked with a password: save it without one and attach it again.')

const tooManyParts = () =>
  unreadable(`The file has more than ${archiveLimits.entries.toLocaleString('en')} parts, more than is read.`)

const tooLarge = (kind: 'bytes' | 'sideBytes') =>
  unreadable(`The file is too large when unpacked: at most ${archiveLimits[kind] / 1_000_000} MB are read.`)
