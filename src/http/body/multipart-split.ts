// A multipart body cut into its parts. The cutting is busboy's; here its streams and events become a sequence that is read part
// by part, and every way in which a body can be broken becomes one refusal.

import type { Dicer } from '@fastify/busboy'
import { ServerError } from '../../domain/errors.ts'
import type { Chunks } from './body-chunks.ts'

export interface RawPart {
  /** By name in lower case, one character for each byte; of two of one name the first. */
  headers: ReadonlyMap<string, string>
  /** What is not read of it is skipped when the next part is asked for. */
  content: AsyncIterable<Buffer>
}

/** Of one part; more is refused. Busboy would cut it off, and read on for as long as it comes. */
const HEADER_BYTES = 8 * 1024
const HEADERS = 32
/** What busboy is to show of them, so that it can be seen that there is more. */
const SHOWN = { maxHeaderPairs: HEADERS + 1, maxHeaderSize: 2 * HEADER_BYTES }
/** Of a part's content, held while nobody reads it. */
const PART_BYTES = 64 * 1024

/** Throws `invalid_request` for a broken body and for long headers, and what reading it throws. It may be left early; then no more is read. */
export async function* splitMultipart(body: Chunks, boundary: string): AsyncGenerator<RawPart> {
  // Only who sends files pays for it.
  const busboy = await import('@fastify/busboy')
  const options = { boundary, ...SHOWN, partHwm: PART_BYTES }
  const dicer = new busboy.Dicer(options)
  const begun: { part: Dicer.PartStream; headers: ReadonlyMap<string, string> }[] = []
  let current: Dicer.PartStream | null = null
  let failure: unknown = null
  let isInHeaders = false
  /** Of the headers that have not ended, without the chunk they began in. */
  let headerBytes = 0
  let hasEnded = false
  let isAllRead = false
  let wake = () => {}

  function fail(error: unknown): void {
    failure ??= error
    current?.destroy()
    wake()
  }

  dicer.on('part', (part) => {
    // A broken body is told to the part as well. It is nothing new, and without a listener it would end the process.
    part.on('error', () => {})
    if (isInHeaders) fail(malformed('A part has no headers.'))
    isInHeaders = true
    headerBytes = 0
    part.on('header', (header) => {
      isInHeaders = false
      if (isTooLong(header)) return fail(headersTooLong())
      begun.push({ part, headers: firstValues(header) })
      wake()
    })
  })
  dicer.on('error', () => fail(malformed('It breaks off before its last boundary.')))
  let accept = () => {}
  dicer.on('finish', () => {
    hasEnded = true
    accept()
  })

  // A part that is full when the last boundary comes waits to be read, and then busboy forgets to say that it took the chunk.
  const written = (chunk: Buffer) =>
    new Promise<void>((resolve) => {
      if (hasEnded) return resolve()
      accept = resolve
      dicer.write(chunk, () => resolve())
    })

  async function pump(): Promise<void> {
    try {
      for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) {
        const wasInHeaders = isInHeaders
        await written(chunk)
        if (!wasInHeaders || !isInHeaders) continue
        headerBytes += chunk.length
        if (headerBytes > SHOWN.maxHeaderSize) throw headersTooLong()
      }
      dicer.end()
      isAllRead = true
      wake()
    } catch (error) {
      fail(error)
    }
  }

  async function* contentOf(part: Dicer.PartStream): AsyncGenerator<Buffer> {
    try {
      yield* part.iterator({ destroyOnReturn: false })
    } catch (error) {
      throw failure ?? error
    }
    if (failure !== null) throw failure
  }

  void pump()
  try {
    for (;;) {
      if (failure !== null) throw failure
      const next = begun.shift()
      if (next !== undefined) {
        current = next.part
        yield { headers: next.headers, content: contentOf(current) }
        await skipRest(current)
        current = null
      } else if (isAllRead) {
        // Busboy says in the next turn how the body has ended.
        await new Promise<void>((resolve) => setImmediate(resolve))
        if (isInHeaders || !hasEnded) fail(malformed('A part has no headers.'))
        if (failure === null) return
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    body.stop()
    current?.destroy()
    dicer.destroy()
  }
}

/** Resolves when there is no more to come of it. */
function skipRest(part: Dicer.PartStream): Promise<void> {
  return new Promise((resolve) => {
    if (part.readableEnded || part.destroyed) return resolve()
    part.once('end', resolve).once('close', resolve)
    part.resume()
  })
}

function firstValues(header: object): ReadonlyMap<string, string> {
  const values = Object.entries(header).map(([name, all]): [string, string] => [name, Array.isArray(all) ? all[0] : ''])
  return new Map(values)
}

/** Browsers and libraries send two or three headers. */
function isTooLong(header: object): boolean {
  const pairs = Object.entries(header).flatMap(([name, values]) => values.map((value: string) => [name, value]))
  return pairs.length > HEADERS || pairs.flat().join('').length > HEADER_BYTES
}

const headersTooLong = (): ServerError =>
  malformed(`The headers of a part have at most ${HEADER_BYTES / 1024} KB and ${HEADERS} lines.`)

export const malformed = (detail: string): ServerError =>
  new ServerError('invalid_request', `The multipart body is malformed. ${detail}`)
