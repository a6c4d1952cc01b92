// Reads a JSON body whose files are too large for memory. Its long base64 strings go to disk while it arrives. The rest is read like
// any other body.

import type { IncomingMessage } from 'node:http'
import { type BodyReader, checkMediaType, decodeUtf8, tooLarge, tooManyBodies } from './body.ts'
import { readChunks } from './body-chunks.ts'
import { type Cut, type CutLimits, LongStringCutter } from './long-string-cutter.ts'
import { LONG_CHARS, LongText } from './long-text.ts'
import { JsonMeter, malformed, parseJson, refuseRepeatedKeys } from './parse-json.ts'
import type { TempFile, TempFolder } from './temp-file.ts'

export interface LongBodyLimits extends Pick<CutLimits, 'maxTextChars' | 'textTooLong'> {
  /** Largest Content-Length of the whole body. */
  maxBytes: number
}

export interface LongBodyReader extends BodyReader {
  long: LongBodyLimits
  tempFolder: TempFolder
  /** Returns new letters and digits that nobody can guess. */
  secret: () => string
}

export interface LongBody {
  value: unknown
  /** The file that its `LongText`s are read from. Null: it has none. */
  tempFile: TempFile | null
}

/**
 * Throws what `readJson` throws, `file_too_large` as soon as a text is too long, `invalid_request` for a long text that starts as base64
 * and then is not, `storage_full`, `storage_failed`. The limits of an ordinary body apply to everything except its long texts.
 */
export async function readLongJson(
  request: IncomingMessage,
  declared: number,
  reader: LongBodyReader,
): Promise<LongBody> {
  const { long, limits, budget, pace, clock } = reader
  checkMediaType(request)
  if (declared > long.maxBytes) throw tooLarge(long.maxBytes)
  reader.onBegin?.()
  const mark = reader.secret()
  const aside = createAside(reader)
  const cutter = new LongStringCutter({
    ...long,
    maxBytes: limits.maxBytes,
    longChars: LONG_CHARS,
    mark,
    aside: (bytes) => aside.add(bytes),
  })
  const chunks = readChunks(request, { maxBytes: declared, tooLarge: () => tooLarge(declared), pace, clock })
  const meter = new JsonMeter()
  let metered = 0
  let counted = 0

  function count(bytes: number): void {
    budget.used += bytes - counted
    counted = bytes
  }

  try {
    for (;;) {
      const chunk = await chunks.next()
      if (chunk === null) break
      cutter.take(chunk)
      meter.take(cutter.rest.subarray(metered, cutter.settled))
      metered = cutter.settled
      count(cutter.rest.length + aside.size)
      if (budget.used > budget.max) throw tooManyBodies()
      if (aside.size >= WRITE_BYTES) await aside.write()
    }
    if (aside.size > 0) await aside.write()
    count(0)
    if (cutter.isCutting) throw malformed('The body is not valid JSON: it ends inside a string.')
    const { cuts } = cutter
    const text = decodeUtf8(cutter.rest)
    const value = parseJson(text, (position) => sentPosition(position, text, cuts))
    if (reader.hasKeysOnce?.(value) === true) refuseRepeatedKeys(value, meter.members)
    const { tempFile } = aside
    return { value: tempFile === null ? value : withLongTexts(value, mark, cuts, tempFile), tempFile }
  } catch (error) {
    await aside.tempFile?.close()
    throw error
  } finally {
    count(0)
    chunks.stop()
  }
}

/** Bytes that are written to disk at once. */
const WRITE_BYTES = 256 * 1024

/** Collects the long texts and writes them to a temporary file when there is enough. */
function createAside({ tempFolder, secret }: Pick<LongBodyReader, 'tempFolder' | 'secret'>) {
  const held: Buffer[] = []
  let size = 0
  let tempFile: TempFile | null = null
  return {
    /** Bytes that are not written yet. */
    get size(): number {
      return size
    },
    get tempFile(): TempFile | null {
      return tempFile
    },
    add(bytes: Buffer): void {
      held.push(bytes)
      size += bytes.length
    },
    async write(): Promise<void> {
      const bytes = Buffer.concat(held, size)
      held.length = 0
      size = 0
      tempFile ??= await tempFolder.create(secret())
      await tempFile.write(bytes)
    },
  }
}

/** Converts a position in the rest of the body into a position in the body as it was sent. */
function sentPosition(position: number, text: string, cuts: readonly Cut[]): number {
  let sent = position
  let at = 0
  for (const { placeholder, sentChars } of cuts) {
    at = text.indexOf(placeholder, at)
    if (at >= position) break
    sent += sentChars - placeholder.length
  }
  return sent
}

/** Puts the long texts in place of their placeholders. Throws `malformed_json` if a placeholder is a key. */
function withLongTexts(root: unknown, mark: string, cuts: readonly Cut[], tempFile: TempFile): unknown {
  const texts = new Map(cuts.map((cut) => [cut.placeholder, longTextOf(cut, tempFile)]))
  const textFor = (value: unknown): LongText | undefined =>
    typeof value === 'string' && value.startsWith(mark) ? texts.get(value) : undefined
  const open: object[] = []
  let missing = cuts.length

  /** Returns the long text if `value` is its placeholder, otherwise `value`. */
  function placed(value: unknown): unknown {
    if (typeof value === 'object' && value !== null) open.push(value)
    const text = textFor(value)
    if (text === undefined) return value
    missing -= 1
    return text
  }

  const value = placed(root)
  // The parser keeps only one of two members with the same name, so some texts may stay missing.
  for (let next = open.pop(); next !== undefined && missing > 0; next = open.pop()) {
    if (Array.isArray(next)) for (let i = 0; i < next.length; i += 1) next[i] = placed(next[i])
    else {
      for (const [key, member] of Object.entries(next)) {
        if (key.startsWith(mark)) throw malformed(`A key of the body is longer than ${LONG_CHARS} characters.`)
        const now = placed(member)
        if (now !== member) Reflect.set(next, key, now)
      }
    }
  }
  return value
}

const longTextOf = ({ start, chars, head, ending, sha256 }: Cut, tempFile: TempFile): LongText =>
  new LongText({
    chars,
    head,
    ending,
    sha256,
    fill: (position, bytes) => tempFile.fill(start + position, bytes),
  })
