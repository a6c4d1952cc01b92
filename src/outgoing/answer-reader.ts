// Reads one answer of HTTP/1.1 (RFC 9112). What could be read in two ways is an error, never a guess.

import { BAD_HTTP } from './connection-failure.ts'

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

/** What undici's dispatcher tells a handler, as far as we need it. After an abort, what came with the same read may still follow. */
export interface AnswerHandler {
  /** Its connection has served a request before. */
  isReused: boolean
  onRequestStart(controller: Controller): void
  onResponseStarted(): void
  onResponseStart(controller: Controller, status: number, headers: AnswerHeaders): void
  onResponseData(controller: Controller, bytes: Buffer): void
  onResponseEnd(): void
  onResponseError(controller: Controller | null, error: Error): void
}

/** Not to be used after the end of the answer: then the connection belongs to the next request. */
export interface Controller {
  pause(): void
  resume(): void
  abort(reason: Error): void
}

class BadAnswer extends Error {
  readonly code = BAD_HTTP
  constructor(what: string) {
    super(`The answer is not valid HTTP: ${what}.`)
    this.name = 'BadAnswer'
  }
}

/** Of one answer, including the informational ones before it. */
const MAX_HEAD_BYTES = 64 * 1024
/** Of one chunk's extension, or of all trailers. */
const MAX_IGNORED_BYTES = 16 * 1024
/** More bytes than any disk holds, and still an exact number. */
const MAX_SIZE_DIGITS = 13

const BEGINNING = 'HTTP/1.'
const END_OF_HEAD = '\r\n\r\n'
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** A control character, or CR or LF alone. LF may still follow a CR at the end. */
const NOT_TEXT = /[^\t\r\n -~\x80-\xff]|\r(?!\n|$)|(?<!\r)\n/

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const SEMICOLON = 0x3b
const DELETE = 0x7f

/** `rest` is the part of a line that is ignored. After `lf` comes `#next`. */
type State = 'head' | 'body' | 'size' | 'rest' | 'lf' | 'data' | 'data-end' | 'trailer' | 'over'

export class AnswerReader {
  /** The connection may carry another answer after this one. */
  isReusable = false
  /** How long the server keeps an idle connection, if it says so. */
  keptMs: number | null = null
  #state: State = 'head'
  #next: State = 'head'
  /** What has come of the head. */
  #head = ''
  #announcedBytes = 0
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0
  #digits = 0
  #ignored = 0
  readonly #handler: AnswerHandler
  readonly #controller: Controller

  constructor(handler: AnswerHandler, controller: Controller) {
    this.#handler = handler
    this.#controller = controller
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** Reads the first `size` bytes of `buffer`, and overwrites them. Throws an error with the code `BAD_HTTP`. */
  push(buffer: Buffer, size: number): void {
    let at = 0
    while (this.#state === 'head' && at < size) at += this.#readHead(buffer.subarray(at, size))
    const start = at
    let end = at
    // The content of all chunks becomes one piece: a model sends each token as a chunk, and each call costs more than moving them.
    while (at < size && this.#state !== 'over') {
      if (this.#state === 'data' || this.#state === 'body') {
        const count = Math.min(this.#left, size - at)
        if (end !== at) buffer.copyWithin(end, at, at + count)
        end += count
        at += count
        this.#left -= count
        if (this.#left === 0) this.#state = this.#state === 'data' ? 'data-end' : 'over'
      } else {
        this.#state = this.#afterFrame(buffer[at] ?? 0)
        at += 1
      }
    }
    // Nobody asked for what follows the answer.
    if (at < size) this.isReusable = false
    if (end === start) return
    const body = Buffer.allocUnsafe(end - start)
    buffer.copy(body, 0, start, end)
    this.#handler.onResponseData(this.#controller, body)
  }

  /** The server has ended the connection. Returns whether the answer is complete. */
  close(): boolean {
    if (this.#state === 'body' && this.#left === Number.POSITIVE_INFINITY) this.#state = 'over'
    return this.isOver
  }

  /** Returns how many bytes belong to the head. */
  #readHead(bytes: Buffer): number {
    const before = this.#head.length
    const found = bytes.indexOf(END_OF_HEAD)
    this.#head += bytes.toString('latin1', 0, found === -1 ? bytes.length : found + END_OF_HEAD.length)
    const end = this.#head.indexOf(END_OF_HEAD, Math.max(0, before - END_OF_HEAD.length))
    const head = end === -1 ? this.#head : this.#head.slice(0, end)
    if (this.#announcedBytes + head.length > MAX_HEAD_BYTES) throw new BadAnswer('its headers are too long')
    // A server that speaks another protocol may never send the end of a head, so every part is checked.
    if (!head.startsWith(BEGINNING.slice(0, head.length))) throw new BadAnswer('it does not begin with HTTP/1.1')
    if (NOT_TEXT.test(head)) throw new BadAnswer('its head has a character that is not allowed')
    if (end === -1) return bytes.length
    this.#head = ''
    this.#takeHead(head)
    return end + END_OF_HEAD.length - before
  }

  #takeHead(head: string): void {
    const [first = '', ...lines] = head.split('\r\n')
    const [, version, digits] = STATUS_LINE.exec(first) ?? []
    if (digits === undefined) throw new BadAnswer('its first line has no status')
    const status = Number(digits)
    if (status === 101) throw new BadAnswer('it changes the protocol')
    const headers = headersOf(lines)
    if (status < 200) {
      // It only announces the answer.
      this.#announcedBytes += head.length
      return
    }
    this.#state = this.#framingOf(status, headers, version === '1')
    this.#handler.onResponseStart(this.#controller, status, headers)
  }

  #framingOf(status: number, headers: AnswerHeaders, isPersistent: boolean): State {
    const { 'content-length': length, 'transfer-encoding': encoding } = headers
    if (length !== undefined && !/^\d{1,15}$/.test(String(length))) throw new BadAnswer('its length is not clear')
    if (encoding !== undefined) {
      if (length !== undefined) throw new BadAnswer('it gives its length in two ways')
      if (String(encoding).toLowerCase() !== 'chunked') throw new BadAnswer('its transfer encoding is unknown')
    }
    const connection = String(headers.connection ?? '').toLowerCase()
    const seconds = /\btimeout=(\d{1,9})\b/i.exec(String(headers['keep-alive'] ?? ''))?.[1]
    if (seconds !== undefined) this.keptMs = Number(seconds) * 1000
    const isKept = isPersistent ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection)
    if (status === 204 || status === 304) {
      // A server that says how long the content would be may also send it.
      this.isReusable = isKept && encoding === undefined && !Number(length)
      return 'over'
    }
    if (encoding !== undefined) {
      // HTTP/1.0 has no chunks, so a proxy on the way may see another end.
      this.isReusable = isKept && isPersistent
      return 'size'
    }
    this.isReusable = isKept && length !== undefined
    this.#left = length === undefined ? Number.POSITIVE_INFINITY : Number(length)
    return this.#left === 0 ? 'over' : 'body'
  }

  /** The state after a byte that is not content. */
  #afterFrame(byte: number): State {
    switch (this.#state) {
      case 'size':
        return this.#afterSize(byte)
      case 'data-end':
        if (byte !== CR) throw new BadAnswer('a chunk is longer than it says')
        this.#next = 'size'
        return 'lf'
      case 'trailer':
        this.#next = byte === CR ? 'over' : 'trailer'
        return this.#afterRest(byte)
      case 'rest':
        return this.#afterRest(byte)
      default:
        if (byte !== LF) throw new BadAnswer('a line does not end with CR LF')
        return this.#next
    }
  }

  #afterSize(byte: number): State {
    const digit = hexDigit(byte)
    if (digit >= 0) {
      this.#digits += 1
      this.#left = this.#left * 16 + digit
      if (this.#digits > MAX_SIZE_DIGITS) throw new BadAnswer('a chunk is too large')
      return 'size'
    }
    if (this.#digits === 0 || (byte !== CR && byte !== SEMICOLON)) throw new BadAnswer('a chunk has no valid size')
    this.#digits = 0
    this.#ignored = 0
    this.#next = this.#left === 0 ? 'trailer' : 'data'
    return this.#afterRest(byte)
  }

  #afterRest(byte: number): State {
    if (byte === CR) return 'lf'
    if ((byte < SPACE && byte !== TAB) || byte === DELETE)
      throw new BadAnswer('a line has a character that is not allowed')
    this.#ignored += 1
    if (this.#ignored > MAX_IGNORED_BYTES) throw new BadAnswer('it has too much besides its content')
    return 'rest'
  }
}

function headersOf(lines: string[]): AnswerHeaders {
  // A server may send a header `__proto__`: without a prototype it is a header like any other.
  const headers: Record<string, string | string[]> = Object.create(null)
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).toLowerCase()
    if (!HEADER_NAME.test(name)) throw new BadAnswer('a header has no valid name')
    const value = line.slice(colon + 1).trim()
    const before = headers[name]
    if (before === undefined) headers[name] = value
    else if (typeof before === 'string') headers[name] = [before, value]
    else before.push(value)
  }
  return headers
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
