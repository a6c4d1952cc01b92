import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { declaredLength, readJson } from '../body/body.ts'
import { type LongBody, type LongBodyReader, readLongJson } from '../body/long-json.ts'
import { defaultMultipartLimits, type MultipartLimits, type MultipartPart, readMultipart } from '../body/multipart.ts'
import type { TempFile } from '../body/temp-file.ts'
import type { Principal, Request, Via } from '../route.ts'

export interface RequestContext
  extends Pick<Request, 'raw' | 'via' | 'path' | 'params' | 'principal' | 'correlationId' | 'log'> {
  response: ServerResponse
  query: string
  body: Omit<LongBodyReader, 'long' | 'onBegin'>
  /** False once the caller's credential has been revoked. */
  isAllowed: () => boolean
  /** Another program's server received the request. */
  isMounted: boolean
}

/** Query, signal and body are made on first use, because few handlers need them. */
export class HttpRequest implements Request {
  readonly raw: IncomingMessage
  readonly via: Via
  readonly method: string
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly principal: Principal
  readonly correlationId: string
  readonly log: Logger
  readonly #context: RequestContext
  #query: URLSearchParams | null = null
  #abort: AbortController | null = null
  #body: Promise<unknown> | null = null
  #gone = false
  #tempFile: TempFile | null = null
  #isReleased = false

  constructor(context: RequestContext) {
    this.raw = context.raw
    this.via = context.via
    this.method = context.raw.method ?? ''
    this.path = context.path
    this.params = context.params
    this.principal = context.principal
    this.correlationId = context.correlationId
    this.log = context.log
    this.#context = context
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#context.query)
    return this.#query
  }

  get signal(): AbortSignal {
    if (this.#abort === null) {
      this.#abort = new AbortController()
      if (this.#gone) this.#abort.abort()
    }
    return this.#abort.signal
  }

  header(name: string): string | undefined {
    const value = this.raw.headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }

  json(options: Parameters<Request['json']>[0] = {}): Promise<unknown> {
    this.#body ??= this.#read(options)
    return this.#body
  }

  /** What was read of it, for whoever comes later. Null: nobody has asked for it. */
  get body(): Promise<unknown> | null {
    return this.#body
  }

  releaseBody(): void {
    this.#isReleased = true
    void this.#tempFile?.close()
  }

  multipart(limits: Partial<MultipartLimits> = {}): AsyncIterable<MultipartPart> {
    const { body, raw } = this.#context
    refuseRead(raw)
    const onBegin = this.#onBegin()
    const parts = readMultipart(raw, {
      limits: { ...defaultMultipartLimits, ...limits },
      pace: body.pace,
      clock: body.clock,
      onBegin,
    })
    return this.#whileAllowed(parts)
  }

  /** The client has gone. */
  abort(): void {
    this.#gone = true
    this.#abort?.abort()
  }

  async #read({ long, hasKeysOnce }: NonNullable<Parameters<Request['json']>[0]>): Promise<unknown> {
    const { body, raw } = this.#context
    refuseRead(raw)
    const onBegin = this.#onBegin()
    const reader = { ...body, hasKeysOnce: body.hasKeysOnce ?? hasKeysOnce, onBegin }
    const declared = long === undefined ? null : declaredLength(raw)
    if (long === undefined || declared === null) return this.#ifAllowed(await readJson(raw, reader))
    if (declared > body.limits.maxBytes) {
      return this.#ifAllowed(this.#holdTempFile(await readLongJson(raw, declared, { ...reader, long })))
    }
    // A body that may be large has no total time limit, as long as it keeps arriving.
    const limits = { ...body.limits, totalMs: Number.POSITIVE_INFINITY }
    return this.#ifAllowed(await readJson(raw, { ...reader, limits }))
  }

  /** Reading a body can take long. If the token is revoked meanwhile, the body must not count. */
  #ifAllowed<T>(body: T): T {
    if (this.#context.isAllowed()) return body
    throw new ServerError('unauthorized', 'The token was revoked while the request was being sent.')
  }

  async *#whileAllowed(parts: AsyncIterable<MultipartPart>): AsyncGenerator<MultipartPart> {
    for await (const part of parts) yield this.#ifAllowed(part)
    this.#ifAllowed(null)
  }

  #holdTempFile({ value, tempFile }: LongBody): unknown {
    this.#tempFile = tempFile
    // The handler asked for the body and did not wait for it.
    if (this.#isReleased) void tempFile?.close()
    return value
  }

  /** Sends `100 Continue` when a handler wants the body, if the client waits for it. */
  #onBegin(): (() => void) | undefined {
    const { raw, response, isMounted } = this.#context
    // Another program's server has already sent it.
    const waitsForUs = !isMounted && raw.httpVersion === '1.1' && raw.headers.expect?.toLowerCase() === '100-continue'
    return waitsForUs ? () => response.writeContinue() : undefined
  }
}

/** Only another program can have read the body: its handlers run before ours. */
function refuseRead(raw: IncomingMessage): void {
  if (!raw.readableDidRead) return
  throw new ServerError(
    'config_invalid',
    'The body of this request was read before Quarterdeck got it. Mount Quarterdeck before express.json() and everything else that reads bodies.',
  )
}

// What to do with a body that is still arriving when its request has been answered. Closing at once would reset the connection, and
// a client that is still sending would never see the answer. Reading on forever is not possible either.

/** Node skips a rest this small and keeps the connection. */
const SMALL_BYTES = 64 * 1024
const MAX_SKIPPED_BYTES = 1024 * 1024
const MAX_SKIP_MS = 500

/** True when a body is still to come that nobody will read. Then the connection must be closed. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  if (request.complete) return false
  const { 'content-length': length, 'transfer-encoding': encoding, expect } = request.headers
  return encoding !== undefined || expect !== undefined || Number(length ?? 0) > SMALL_BYTES
}

/** Skips the rest of the body, at most 1 MiB or half a second of it, then ends the answer. All bytes of the answer must be written. */
export function endAfterSkipping(response: ServerResponse, clock: Clock): void {
  const request = response.req
  let skipped = 0

  function finish(): void {
    cancel()
    request.off('data', onData).off('end', finish).off('close', finish)
    response.end()
  }

  function onData(chunk: Buffer): void {
    skipped += chunk.length
    if (skipped > MAX_SKIPPED_BYTES) finish()
  }

  const cancel = clock.after(MAX_SKIP_MS, finish)
  request.on('data', onData).on('end', finish).on('close', finish)
  request.resume()
}

/** Closes the connection if the rest of an answered request does not arrive in time. Node skips the rest, but would wait forever. */
export function dropUnlessReceived(request: IncomingMessage, clock: Clock, ms: number): void {
  if (request.destroyed) return
  const cancel = clock.after(ms, () => request.socket.destroy())
  request.once('end', cancel).once('close', cancel)
}
