// Splits a multipart body into its parts. Busboy does the splitting. This file turns its streams and events into a sequence that is read
// part by part, and turns every kind of broken body into one error.

import type { Dicer } from '@fastify/busboy'
import { ServerError } from '../../domain/errors.ts'
import type { Chunks } from './body-chunks.ts'

export interface RawPart {
  /** Keyed by name in lower case. One character for each byte. If a name comes twice, the first one counts. */
  headers: ReadonlyMap<string, string>
  /** The unread rest is skipped when the next part is requested. */
  content: AsyncIterable<Buffer>
}

/** Limits for the headers of one part. Busboy would cut them off and keep reading. */
const HEADER_BYTES = 8 * 1024
const HEADERS = 32
/** Busboy shows a bit more than the limits, so that we notice when there is more. */
const SHOWN = { maxHeaderPairs: HEADERS + 1, maxHeaderSize: 2 * HEADER_BYTES }
/** Bytes of a part that are buffered while nobody reads it. */
const PART_BYTES = 64 * 1024

/** Throws `invalid_request` for a broken body or long headers, and what reading the body throws. Leaving the loop early stops the reading. */
export async function* splitMultipart(body: Chunks, boundary: string): AsyncGenerator<RawPart> {
  // Loaded only for requests with forms.
  const busboy = await import('@fastify/busboy')
  const options = { boundary, ...SHOWN, partHwm: PART_BYTES }
  const dicer = new busboy.Dicer(options)
  const begun: { part: Dicer.PartStream; headers: ReadonlyMap<string, string> }[] = []
  let current: Dicer.PartStream | null = null
  let failure: unknown = null
  let isInHeaders = false
  /** Bytes of the current headers, without the chunk in which they began. */
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
    // A broken body also emits an error on the part. We know it already, but without a listener it would end the process.
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

  // If a part is full when the last boundary arrives, busboy waits for its reader and then never reports that it took the chunk.
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
        // Busboy reports in the next turn how the body ended.
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

/** Resolves when the part has ended. */
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
  malformed(`The headers of a part may have at most ${HEADER_BYTES / 1024} KB and ${HEADERS} lines.`)

export const malformed = (detail: string): ServerError =>
  new ServerError('invalid_request', `The multipart body is malformed. ${detail}`)
