// Cuts arriving JSON in two: long base64 strings, and the rest. It knows only one thing about JSON: where strings begin and end. The
// parser gets the rest and decides whether it is valid JSON.

import { createHash, type Hash } from 'node:crypto'
import { ServerError } from '../../domain/errors.ts'
import { Base64Scanner } from './base64-scanner.ts'

export interface CutLimits {
  /** Largest size of the rest. */
  maxBytes: number
  /** Most characters of one text, without the head of a `data:` URL. */
  maxTextChars: number
  /** Makes the error for a text that is longer. */
  textTooLong: () => ServerError
}

interface CutterOptions extends CutLimits {
  /** Only longer texts are cut out. Must be longer than the head of a `data:` URL. */
  longChars: number
  /** The placeholder of a text is this mark and a number. Clients must not be able to guess it. */
  mark: string
  /** Receives the texts, one after the other. It may keep the bytes. */
  aside: (bytes: Buffer) => void
}

/** A text that was cut out. */
export interface Cut {
  placeholder: string
  /** Position in the bytes that `aside` received. */
  start: number
  chars: number
  /** The first 500 characters. */
  head: string
  /** The last two characters. */
  ending: string
  sha256: string
  /** Length in the body, including escapes. */
  sentChars: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const HEAD_CHARS = 500

type State = 'outside' | 'inside' | 'cutting'

/** A string that may have to be cut out. So far it is part of the rest. */
interface Candidate {
  scanner: Base64Scanner
  /** Characters that the scanner has seen. Each one is scanned once, even if they arrive in tiny pieces. */
  seen: number
  texts: Buffer[]
}

interface Cutting {
  scanner: Base64Scanner
  hash: Hash
  start: number
  head: string
  ending: string
  sentChars: number
}

export class LongStringCutter {
  readonly cuts: Cut[] = []
  readonly #options: CutterOptions
  #state: State = 'outside'
  #rest = Buffer.allocUnsafe(64 * 1024)
  #size = 0
  #asideBytes = 0
  /** Position in the rest where the content of the open string begins. */
  #stringAt = 0
  /** The open string is scanned when it has more characters than this. Infinite if it is not base64. */
  #lookAt = 0
  #candidate: Candidate | null = null
  #cutting: Cutting | null = null
  /** The last byte of the open string was a backslash. */
  #isEscaped = false
  /** Position of the next backslash in this chunk. Searched once, even if many strings come before it. */
  #backslash = -1

  constructor(options: CutterOptions) {
    this.#options = options
  }

  /** Everything except the long texts, with placeholders in their place. */
  get rest(): Buffer {
    return this.#rest.subarray(0, this.#size)
  }

  /** How many bytes of the rest are final. An open string may still be cut out. */
  get settled(): number {
    return this.#state === 'outside' ? this.#size : this.#stringAt
  }

  /** True inside a long text. */
  get isCutting(): boolean {
    return this.#state === 'cutting'
  }

  /** Overwrites the chunk. Throws `body_too_large`, the error of `textTooLong`, and `invalid_request` for a text that stops being base64. */
  take(chunk: Buffer): void {
    let at = 0
    /** Everything before it was kept or set aside. */
    let from = 0
    this.#backslash = -1
    while (at < chunk.length) {
      if (this.#state === 'outside') {
        const quote = chunk.indexOf(QUOTE, at)
        at = quote < 0 ? chunk.length : quote + 1
        if (quote >= 0) this.#open(this.#size + at - from)
        continue
      }
      const quote = this.#state === 'cutting' ? chunk.indexOf(QUOTE, at) : this.#endOfString(chunk, at)
      const end = quote < 0 ? chunk.length : quote
      if (this.#cutting !== null) {
        this.#setAside(this.#cutting, chunk.subarray(at, end))
        from = end
      } else if (this.#size + end - from - this.#stringAt > this.#lookAt) {
        this.#keep(chunk.subarray(from, end))
        from = end
        this.#look()
      }
      if (quote >= 0) this.#close()
      at = quote < 0 ? end : end + 1
    }
    this.#keep(chunk.subarray(from))
    this.#checkSize()
  }

  #open(stringAt: number): void {
    this.#state = 'inside'
    this.#stringAt = stringAt
    this.#lookAt = this.#options.longChars
    this.#candidate = null
    this.#isEscaped = false
  }

  /** Position of the quote that ends the open string, or -1. */
  #endOfString(chunk: Buffer, start: number): number {
    let at = this.#isEscaped ? start + 1 : start
    this.#isEscaped = false
    let quote = chunk.indexOf(QUOTE, at)
    for (;;) {
      if (this.#backslash < at) this.#backslash = placeOf(chunk, BACKSLASH, at)
      if (this.#backslash > (quote < 0 ? chunk.length - 1 : quote)) return quote
      at = this.#backslash + 2
      if (at > chunk.length) {
        this.#isEscaped = true
        return -1
      }
      if (quote >= 0 && quote < at) quote = chunk.indexOf(QUOTE, at)
    }
  }

  /** The open string is long enough now to be cut out. */
  #look(): void {
    const { longChars } = this.#options
    this.#candidate ??= { scanner: new Base64Scanner(), seen: 0, texts: [] }
    const { scanner, seen, texts } = this.#candidate
    // A copy, because the scanner overwrites its input.
    const sent = Buffer.from(this.#rest.subarray(this.#stringAt + seen, this.#size))
    const text = scanner.take(sent)
    const sentChars = seen + sent.length
    if (scanner.chars <= longChars) {
      if (text !== null) texts.push(text)
      this.#candidate.seen = sentChars
      // At least as many characters as are missing must still arrive.
      this.#lookAt = text === null ? Number.POSITIVE_INFINITY : sentChars + longChars - scanner.chars
      return
    }
    this.#candidate = null
    this.#size = this.#stringAt
    this.#state = 'cutting'
    const hash = createHash('sha256')
    this.#cutting = { scanner, hash, start: this.#asideBytes, head: '', ending: '', sentChars }
    for (const one of [...texts, text]) this.#takeText(this.#cutting, one)
  }

  #setAside(cutting: Cutting, sent: Buffer): void {
    cutting.sentChars += sent.length
    this.#takeText(cutting, cutting.scanner.take(sent))
  }

  #takeText(cutting: Cutting, text: Buffer | null): void {
    const { scanner, hash } = cutting
    if (scanner.chars - scanner.headChars > this.#options.maxTextChars) throw this.#options.textTooLong()
    if (text === null) throw goesOnOtherwise(this.#options.longChars)
    if (text.length === 0) return
    cutting.head += text.toString('latin1', 0, HEAD_CHARS - cutting.head.length)
    cutting.ending = (cutting.ending + text.toString('latin1', Math.max(0, text.length - 2))).slice(-2)
    hash.update(text)
    this.#asideBytes += text.length
    this.#options.aside(text)
  }

  #close(): void {
    this.#state = 'outside'
    if (this.#cutting === null) return
    const { scanner, hash, start, head, ending, sentChars } = this.#cutting
    if (!scanner.mayEnd) throw goesOnOtherwise(this.#options.longChars)
    this.#cutting = null
    const placeholder = `${this.#options.mark}${this.cuts.length}`
    const sha256 = hash.digest('hex')
    this.cuts.push({ placeholder, start, chars: scanner.chars, head, ending, sha256, sentChars })
    this.#keep(Buffer.from(placeholder, 'latin1'))
  }

  #keep(bytes: Buffer): void {
    const size = this.#size + bytes.length
    if (size > this.#rest.length) {
      const larger = Buffer.allocUnsafe(Math.max(size, 2 * this.#rest.length))
      this.#rest.copy(larger, 0, 0, this.#size)
      this.#rest = larger
    }
    bytes.copy(this.#rest, this.#size)
    this.#size = size
  }

  #checkSize(): void {
    const mayBeCut = this.#state === 'inside' && this.#lookAt !== Number.POSITIVE_INFINITY
    if ((mayBeCut ? this.#stringAt : this.#size) > this.#options.maxBytes) throw restTooLarge(this.#options.maxBytes)
  }
}

const placeOf = (chunk: Buffer, byte: number, from: number): number => {
  const place = chunk.indexOf(byte, from)
  return place < 0 ? Number.POSITIVE_INFINITY : place
}

const goesOnOtherwise = (longChars: number): ServerError =>
  new ServerError(
    'invalid_request',
    `A string of more than ${longChars} characters begins as base64 and then is something else. Send the whole file as base64 (letters, digits, + and /, padded with =, without line breaks), or upload it to /files as a form.`,
  )

const restTooLarge = (maxBytes: number): ServerError =>
  new ServerError(
    'body_too_large',
    `The body is larger than ${maxBytes} bytes without its files. Only base64 without line breaks counts as a file.`,
    { details: { max_bytes: maxBytes } },
  )
