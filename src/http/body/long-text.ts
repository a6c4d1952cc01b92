/** A base64 text that is too long for memory. It is on disk while its request needs it. The position of its padding is not checked. */
export interface LongTail {
  readonly chars: number
  /** Its last two characters. */
  readonly ending: string
  /** In order. Each piece has `size` characters, except the last one. */
  pieces(size: number): AsyncIterable<string>
}

interface LongTextParts {
  chars: number
  head: string
  ending: string
  sha256: string
  /** Fills `bytes` with the text from `position` on. One byte is one character. */
  fill(position: number, bytes: Buffer): Promise<void>
}

/** A base64 string that is longer than this may become a `LongText`. */
export const LONG_CHARS = 64 * 1024

/**
 * Replaces the string in a parsed body. Schemas and `JSON.stringify` cannot see its members: to code that does not expect it, it is an
 * empty object.
 */
export class LongText implements LongTail {
  readonly #parts: LongTextParts

  constructor(parts: LongTextParts) {
    this.#parts = parts
  }

  get chars(): number {
    return this.#parts.chars
  }

  /** The first characters, enough for the head of a `data:` URL. */
  get head(): string {
    return this.#parts.head
  }

  get ending(): string {
    return this.#parts.ending
  }

  /** Hash of the whole text. */
  get sha256(): string {
    return this.#parts.sha256
  }

  pieces(size: number): AsyncIterable<string> {
    return this.after(0).pieces(size)
  }

  /** The text after the first `start` characters. */
  after(start: number): LongTail {
    const { chars, ending, fill } = this.#parts
    return {
      chars: chars - start,
      ending,
      async *pieces(size) {
        const bytes = Buffer.allocUnsafe(size)
        for (let at = start; at < chars; at += size) {
          const piece = bytes.subarray(0, Math.min(size, chars - at))
          await fill(at, piece)
          yield piece.toString('latin1')
        }
      },
    }
  }
}
