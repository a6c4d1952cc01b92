// Reads the body of a request and checks its limits while it arrives. An ordinary body is one chunk: one Buffer, one string, one parse.

import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { ClientGone } from '../client-gone.ts'
import type { Pace } from './body-chunks.ts'
import { JsonMeter, parseJson, refuseRepeatedKeys } from './parse-json.ts'

interface BodyLimits {
  maxBytes: number
  /** The body must be complete after this time. */
  totalMs: number
  /** After `graceMs`, the average speed must be at least `minBytesPerSecond`. */
  graceMs: number
  minBytesPerSecond: number
}

/** Bytes of all bodies that are being read right now. All requests of a server share it. */
interface BodyBudget {
  used: number
  readonly max: number
}

export interface BodyReader {
  limits: BodyLimits
  budget: BodyBudget
  /** The speed limit for uploads, which have no total time limit. */
  pace: Pace
  clock: Clock
  /** Whether a body must not have a key twice, because it decides something; undefined: it may. */
  hasKeysOnce?: ((body: unknown) => boolean) | undefined
  /** Called when the headers are accepted and the body is wanted. This is the moment to send `100 Continue`. */
  onBegin?: (() => void) | undefined
}

/** Throws `unsupported_media_type`, `body_too_large`, `malformed_json`, `request_timeout`, `rate_limited` or `ClientGone`. */
export async function readJson(request: IncomingMessage, reader: BodyReader): Promise<unknown> {
  checkMediaType(request)
  if ((declaredLength(request) ?? 0) > reader.limits.maxBytes) throw tooLarge(reader.limits.maxBytes)
  reader.onBegin?.()
  const meter = new JsonMeter()
  const bytes = await readBytes(request, reader, meter)
  if (bytes.length === 0) throw new ServerError('malformed_json', 'The body is empty; send a JSON object.')
  const value = parseJson(decodeUtf8(bytes))
  if (reader.hasKeysOnce?.(value) === true) refuseRepeatedKeys(value, meter.members)
  return value
}

/** The Content-Length, or null if the client sends chunks. */
export function declaredLength(request: IncomingMessage): number | null {
  const header = request.headers['content-length']
  return header === undefined ? null : Number(header)
}

const JSON_TYPE = /^application\/json(?: ?; ?charset=(?:utf-8|"utf-8"))?$/i

/** Throws `unsupported_media_type` for a body that is not JSON, or is compressed. */
export function checkMediaType(request: IncomingMessage): void {
  const type = request.headers['content-type']
  if (type === undefined) throw unsupported('The request has no Content-Type; send application/json.')
  if (type !== 'application/json' && !JSON_TYPE.test(type)) {
    throw unsupported(`Content-Type ${JSON.stringify(type)} is not supported here; send application/json.`)
  }
  refuseEncoding(request)
}

/** Throws `unsupported_media_type` for a compressed body. */
export function refuseEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupported('Compressed bodies are not supported; send the body without Content-Encoding.')
  }
}

const unsupported = (detail: string): ServerError => new ServerError('unsupported_media_type', detail)

export function tooLarge(maxBytes: number): ServerError {
  return new ServerError('body_too_large', `The body is larger than ${maxBytes} bytes.`, {
    details: { max_bytes: maxBytes },
  })
}

export const tooSlow = (): ServerError =>
  new ServerError('request_timeout', 'The body arrived too slowly; send it again on a faster connection.')

export const tooManyBodies = (): ServerError =>
  new ServerError('rate_limited', 'Too many large bodies at once; try again.')

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws `malformed_json`. */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new ServerError('malformed_json', 'The body is not valid UTF-8.')
  }
}

function readBytes(request: IncomingMessage, { limits, budget, clock }: BodyReader, meter: JsonMeter): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(new ClientGone())
    const chunks: Buffer[] = []
    const startedAt = clock.mono()
    let size = 0
    let cancelCheck = clock.after(Math.min(limits.graceMs, limits.totalMs), checkPace)

    function checkPace(): void {
      const elapsed = clock.mono() - startedAt
      if (elapsed >= limits.totalMs || size < (limits.minBytesPerSecond * elapsed) / 1000) {
        stop(tooSlow())
      } else {
        cancelCheck = clock.after(Math.min(1_000, limits.totalMs - elapsed), checkPace)
      }
    }

    function onData(chunk: Buffer): void {
      size += chunk.length
      budget.used += chunk.length
      try {
        if (size > limits.maxBytes) throw tooLarge(limits.maxBytes)
        if (budget.used > budget.max) throw tooManyBodies()
        meter.take(chunk)
        chunks.push(chunk)
      } catch (error) {
        stop(error)
      }
    }

    function onEnd(): void {
      release()
      const [first] = chunks
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size))
    }

    const onGone = () => stop(new ClientGone())

    function stop(error: unknown): void {
      release()
      request.pause()
      reject(error)
    }

    function release(): void {
      cancelCheck()
      budget.used -= size
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
    }

    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
}
