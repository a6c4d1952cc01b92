import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { fromRandomAccessReaderPromise, openPromise, RandomAccessReader, type ZipFile } from 'yauzl'

/** Opens a zip for reading. Bytes after its end are allowed, because some mail gateways add them. Throws if it is not a zip. */
export async function openZip(path: string, options: { decodeStrings: boolean }): Promise<ZipFile> {
  const how = { ...options, autoClose: false }
  try {
    return await openPromise(path, how)
  } catch (error) {
    const file = await open(path)
    try {
      const end = await findEnd(file)
      if (end === null) throw error
      return await fromRandomAccessReaderPromise(new OpenFile(file), end, how)
    } catch {
      await file.close()
      throw error
    }
  }
}

class OpenFile extends RandomAccessReader {
  readonly #file: FileHandle

  constructor(file: FileHandle) {
    super()
    this.#file = file
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(piecesOf(this.#file, start, end), { objectMode: false })
  }

  override close(done: (error: Error | null) => void): void {
    this.#file.close().then(() => done(null), done)
  }
}

const PIECE_BYTES = 65_536

/** Streams of Node itself would close the file when they are destroyed. */
async function* piecesOf(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, end - at))
    const { bytesRead } = await file.read(piece, 0, piece.length, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield piece.subarray(0, bytesRead)
  }
}

/** How many bytes may follow the end. */
const MAX_TRAILING = 1_000_000
const END_BYTES = 22
const END = Buffer.from('PK\x05\x06')

/** The position after the record that ends the archive; null if there is none. The directory must end where that record begins: otherwise the signature is part of something else. */
async function findEnd(file: FileHandle): Promise<number | null> {
  const { size } = await file.stat()
  const tail = Buffer.alloc(Math.min(size, MAX_TRAILING))
  const start = size - tail.length
  await file.read(tail, 0, tail.length, start)
  for (let at = tail.lastIndexOf(END); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(END, at - 1)) {
    if (at + END_BYTES > tail.length) continue
    const end = start + at + END_BYTES + tail.readUInt16LE(at + 20)
    const directoryEnd = tail.readUInt32LE(at + 12) + tail.readUInt32LE(at + 16)
    if (directoryEnd === start + at && end <= size) return end
  }
  return null
}
