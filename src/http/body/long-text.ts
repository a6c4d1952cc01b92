/** A text that is too long to be held: base64, but for the place of its padding. It lies on disk as long as its request needs it. */
export interface LongTail {
  readonly chars: number
  /** Its last two characters. */
  readonly ending: string
  /** In order; each has `size` characters, but for the last. */
  pieces(size: number): AsyncIterable<string>
}

export interface LongTextParts {
  chars: number
  head: string
  ending: string
  sha256: string
  /** Fills `bytes` with what is at `position` of the text: one byte is one character. */
  fill(position: number, bytes: Buffer): Promise<void>
}

/** Where a string is longer than this and reads like base64 from its first character on, it may be a `LongText`. */
export const LONG_CHARS = 64 * 1024

/**
 * Stands in a parsed body where the string was. Its members are no properties that a schema or `JSON.stringify` could see: where
 * nobody expects one, it is an object with nothing in it.
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

  /** Of the whole text. */
  get sha256(): string {
    return this.#parts.sha256
  }

  pieces(size: number): AsyncIterable<string> {
    return this.after(0).pieces(size)
  }

  /** What follows the first `start` characters. */
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
