// The answers of a model server as HTTP/1.1 frames them (RFC 9112), read by hand: node:http calls back for every chunk of a
// chunked body, and a model's tokens come as one chunk each. That was a fifth of the CPU of a run (bench/PROFILE.md). What is not
// certain is an error here, never a guess.

import { type AnswerHead, type Framing, framingOf, parseHead } from './answer-head.ts'
import { HttpFramingError } from './framing-error.ts'

export interface ResponseHandlers {
  head(head: AnswerHead): void
  /** To be read during the call: the memory is used again. */
  body(bytes: Buffer): void
}

export interface ResponseReader {
  /**
   * Reads on to the end of the answer at most, and moves the chunks of its body together in place: `bytes` is not the same
   * afterwards. Throws `HttpFramingError`.
   */
  push(bytes: Buffer): Progress
  /** The server has ended the connection. Throws `HttpFramingError` when that cut the answer short. */
  close(): void
}

/**
 * `reusable`: the answer is complete, and the connection may carry another one. `last`: it is complete, and the connection has to
 * be closed.
 */
export type Progress = 'open' | 'reusable' | 'last'

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const BEGINNING = 'HTTP/1.'
/** Of one answer, with all that only announces it. */
const MAX_HEAD_BYTES = 64 * 1024
/** Of one chunk's extension, or of all trailers together. */
const MAX_IGNORED_BYTES = 16 * 1024
/** Thirteen digits are more than a file system holds, and still exact as a number. */
const MAX_SIZE_DIGITS = 13

const CR = 0x0d
const LF = 0x0a
const SEMICOLON = 0x3b
const SPACE = 0x20
const TAB = 0x09
const DELETE = 0x7f

type State =
  | 'head'
  | 'body'
  | 'size'
  | 'extension'
  | 'size-lf'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'trailer'
  | 'trailer-line'
  | 'trailer-lf'
  | 'last-lf'
  | 'over'

/** Of one answer; the next one gets a new reader. */
export function createResponseReader(handlers: ResponseHandlers): ResponseReader {
  let state: State = 'head'
  let partialHead: Buffer | null = null
  let announcedBytes = 0
  let framing: Framing = { length: 0, reusable: false }
  /** Bytes of the body, or of the chunk, that are still to come. */
  let left = 0
  let digits = 0
  let ignored = 0

  function readHead(bytes: Buffer): number {
    const before = partialHead?.length ?? 0
    const all = partialHead === null ? bytes : Buffer.concat([partialHead, bytes])
    const end = all.indexOf(END_OF_HEAD, Math.max(0, before - END_OF_HEAD.length))
    if (announcedBytes + (end === -1 ? all.length : end) > MAX_HEAD_BYTES) {
      throw new HttpFramingError('its headers are too long')
    }
    if (end === -1) {
      expectHead(all, before)
      // Copied: the memory is used again.
      partialHead = all === bytes ? Buffer.from(bytes) : all
      return bytes.length
    }
    partialHead = null
    const head = parseHead(all.toString('latin1', 0, end))
    const next = end + END_OF_HEAD.length - before
    // 100, 102 and 103 only announce the answer.
    if (head.status < 200) {
      if (head.status === 101) throw new HttpFramingError('it changes the protocol without being asked')
      announcedBytes += end
      return next
    }
    framing = framingOf(head)
    left = framing.length === 'chunked' ? 0 : framing.length
    state = framing.length === 'chunked' ? 'size' : left === 0 ? 'over' : 'body'
    handlers.head(head)
    return next
  }

  function readBody(bytes: Buffer, at: number): number {
    const size = Math.min(left, bytes.length - at)
    left -= size
    if (left === 0) state = 'over'
    handlers.body(bytes.subarray(at, at + size))
    return at + size
  }

  /** The data of all chunks in `bytes` becomes one piece, so that what came in one read goes on as one. */
  function readChunks(bytes: Buffer, from: number): number {
    let at = from
    let to = from
    while (at < bytes.length && state !== 'over') {
      if (state === 'data') {
        const size = Math.min(left, bytes.length - at)
        if (to !== at) bytes.copyWithin(to, at, at + size)
        to += size
        at += size
        left -= size
        if (left === 0) state = 'data-cr'
      } else {
        readFrame(bytes[at] ?? 0)
        at += 1
      }
    }
    if (to > from) handlers.body(bytes.subarray(from, to))
    return at
  }

  function readFrame(byte: number): void {
    switch (state) {
      case 'size':
        readSize(byte)
        return
      case 'extension':
        if (byte === CR) state = 'size-lf'
        else skip(byte)
        return
      case 'size-lf':
        expectLf(byte, left === 0 ? 'trailer' : 'data')
        return
      case 'data-cr':
        if (byte !== CR) throw new HttpFramingError('a chunk is longer than it says')
        state = 'data-lf'
        return
      case 'data-lf':
        expectLf(byte, 'size')
        digits = 0
        return
      case 'trailer':
        if (byte === CR) state = 'last-lf'
        else {
          state = 'trailer-line'
          skip(byte)
        }
        return
      case 'trailer-line':
        if (byte === CR) state = 'trailer-lf'
        else skip(byte)
        return
      case 'trailer-lf':
        expectLf(byte, 'trailer')
        return
      default:
        expectLf(byte, 'over')
    }
  }

  function readSize(byte: number): void {
    const digit = hexDigit(byte)
    if (digit >= 0) {
      digits += 1
      if (digits > MAX_SIZE_DIGITS) throw new HttpFramingError('the size of a chunk is too large')
      left = left * 16 + digit
      return
    }
    if (digits === 0) throw new HttpFramingError('the size of a chunk is missing')
    if (byte === CR) state = 'size-lf'
    else if (byte === SEMICOLON) {
      state = 'extension'
      ignored = 0
    } else throw new HttpFramingError('the size of a chunk is no number')
  }

  function expectLf(byte: number, next: State): void {
    if (byte !== LF) throw new HttpFramingError('a line does not end with CR LF')
    if (next === 'trailer' && state === 'size-lf') ignored = 0
    state = next
  }

  function skip(byte: number): void {
    if ((byte < SPACE && byte !== TAB) || byte === DELETE)
      throw new HttpFramingError('a line has what belongs in no line')
    ignored += 1
    if (ignored > MAX_IGNORED_BYTES) throw new HttpFramingError('it has too much beside its content')
  }

  return {
    push(bytes) {
      let at = 0
      while (at < bytes.length && state !== 'over') {
        if (state === 'head') at = readHead(at === 0 ? bytes : bytes.subarray(at)) + at
        else if (state === 'body') at = readBody(bytes, at)
        else at = readChunks(bytes, at)
      }
      if (state !== 'over') return 'open'
      // What comes behind the answer was not asked for: whose it is cannot be known.
      return framing.reusable && at === bytes.length ? 'reusable' : 'last'
    },
    close() {
      if (state !== 'over' && !(state === 'body' && left === Number.POSITIVE_INFINITY)) {
        throw new HttpFramingError('the connection ended in the middle of it')
      }
      state = 'over'
    },
  }
}

/** Whoever speaks something else may never send the end of a head, and wait for us. */
function expectHead(all: Buffer, checked: number): void {
  if (!BEGINNING.startsWith(all.toString('latin1', 0, BEGINNING.length))) {
    throw new HttpFramingError('it does not begin like HTTP/1.1')
  }
  if (/[^\r]\n/.test(all.toString('latin1', Math.max(0, checked - 1)))) {
    throw new HttpFramingError('a line does not end with CR LF')
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
