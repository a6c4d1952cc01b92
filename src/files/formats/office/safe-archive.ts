// Checks the zip of an Office document before any parser sees it. Every entry is really inflated and counted, because the sizes
// written in an archive may be false: a few hundred kilobytes can unpack to gigabytes.

import { open } from 'node:fs/promises'
import { type Entry, getFileNameLowLevel, validateFileName, type ZipFile } from 'yauzl'
import { ServerError } from '../../../domain/errors.ts'
import { damaged, unreadable } from '../unreadable.ts'
import { openZip } from './open-zip.ts'
import { ENCODING_BYTES, xmlEncodingOf } from './xml-scanner.ts'

const archiveLimits = {
  entries: 10_000,
  /** Inflated size of all parts that a parser may open. */
  bytes: 50_000_000,
  /** Inflated size of pictures, fonts and embedded files. No parser opens them, but they must not be a zip bomb either. */
  sideBytes: 150_000_000,
  /** Inflated size divided by packed size, for one entry. Sheets of repeated numbers reach 50, zeros 200 to 1,000. */
  ratio: 150,
  /** The ratio is not checked below this size: an empty picture packs well too. */
  ratioFrom: 10_000_000,
} as const

/**
 * Throws `file_unreadable` if the file is not a zip, is damaged, locked with a password or too large when unpacked, or if it has
 * names that point outside, the same name twice, or a document type definition (which makes entity bombs possible). Archives
 * inside the archive are counted, but never opened.
 */
export async function openSafeArchive(path: string) {
  await refuseOldContainer(path)
  const zip = await openZip(path, { decodeStrings: false }).catch((error: unknown) => {
    throw damaged(error)
  })
  try {
    const entries = await lookThrough(zip)
    return {
      /** As they are written, without folders. */
      names: new Set(entries.keys()) as ReadonlySet<string>,
      /** The inflated bytes of one entry. Throws `file_unreadable` if there is no entry of that name. */
      read: (name: string): AsyncIterable<Buffer> => contentOf(zip, entries.get(name)),
      close: (): void => zip.close(),
    }
  } catch (error) {
    zip.close()
    throw error instanceof ServerError ? error : damaged(error)
  }
}

export type SafeArchive = Awaited<ReturnType<typeof openSafeArchive>>

async function lookThrough(zip: ZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > archiveLimits.entries) throw tooManyParts()
  const entries = new Map<string, Entry>()
  const totals = { bytes: 0, sideBytes: 0 }
  for await (const entry of zip.eachEntry()) {
    const name = nameOf(entry)
    if (name.endsWith('/')) continue
    if (entries.has(name)) throw unreadable('The file is damaged: it has the same part twice.')
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
  // A bomb that states its true size is refused without inflating anything.
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
        throw unreadable('The file has a document type definition, which Office files never have. It was not read.')
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
    throw unreadable('The file is compressed in an unknown way: save it again in Office and attach the new file.')
  try {
    const stream = await zip.openReadStreamPromise(entry)
    // The first piece must be long enough to tell the encoding.
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
    throw unreadable('The file has parts whose names point outside it. It was not read.')
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

/** Office stores encrypted documents, and all documents of versions before 2007, in a container of its own instead of a zip. */
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
    'The file is in the Office format from before 2007: save it as .docx, .xlsx or .pptx and attach that file.',
  )
}

const locked = () => unreadable('The file is locked with a password: save it without a password and attach it again.')

const tooManyParts = () =>
  unreadable(
    `The file has more than ${archiveLimits.entries.toLocaleString('en')} parts, which is too many to be read.`,
  )

const tooLarge = (kind: 'bytes' | 'sideBytes') =>
  unreadable(`The file is too large when unpacked: at most ${archiveLimits[kind] / 1_000_000} MB can be read.`)
