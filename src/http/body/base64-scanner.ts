const BACKSLASH = 0x5c
const SLASH = 0x2f
const COMMA = 0x2c
const LETTER_U = 0x75

const BASE64 = new Uint8Array(256)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=') BASE64[char.charCodeAt(0)] = 1

/** Characters of the head of a `data:` URL, including its comma. */
const MAX_HEAD = 500
const SCHEME = 'data:'
const DATA_HEAD = /^data:[^;,]*(?:;[^;,]*)*;base64,$/

/**
 * Reads a JSON string as it arrives and checks that it is base64 so far, alone or in a `data:` URL. Many libraries escape characters
 * that need no escape (PHP `\/`, .NET `\u002B`, Gson `\u003d`), so escapes are undone. The position of the padding is not checked.
 */
export class Base64Scanner {
  /** Characters of the text, with escapes undone, up to the first one that is not base64. */
  chars = 0
  /** Characters of the head of a `data:` URL. */
  headChars = 0
  /** What may be a head so far. Null: there is no head, or it has ended. */
  #head: string | null = ''
  /** How many characters of an escape have arrived: 0 outside an escape, 1 after the backslash, 2 to 5 with `u` and digits. */
  #escape = 0
  #code = 0

  /** True if the string may end here: not inside an escape or a head. */
  get mayEnd(): boolean {
    return this.#escape === 0 && this.#head === null
  }

  /** Takes the next bytes and returns the text, which overwrites them. Null: it is not base64. */
  take(bytes: Buffer): Buffer | null {
    let at = 0
    let to = 0
    while (at < bytes.length) {
      if (this.#escape > 0 || this.#head !== null) {
        const byte = this.#next(bytes[at] ?? 0)
        at += 1
        if (byte === MORE) continue
        if (!this.#allows(byte)) return null
        bytes[to] = byte
        to += 1
        this.chars += 1
        continue
      }
      const mark = bytes.indexOf(BACKSLASH, at)
      const end = mark < 0 ? bytes.length : mark
      const good = endOfBase64(bytes, at, end)
      this.chars += good - at
      if (good < end) return null
      if (to !== at) bytes.copyWithin(to, at, end)
      to += end - at
      at = end
      if (mark >= 0) {
        this.#escape = 1
        at += 1
      }
    }
    return bytes.subarray(0, to)
  }

  /** The character that this byte completes, or `MORE` inside an escape. */
  #next(byte: number): number {
    if (this.#escape === 0) {
      if (byte !== BACKSLASH) return byte
      this.#escape = 1
      return MORE
    }
    if (this.#escape === 1) {
      this.#escape = byte === LETTER_U ? 2 : 0
      this.#code = 0
      if (byte === LETTER_U) return MORE
      return byte === SLASH ? SLASH : NOTHING
    }
    const digit = hexDigit(byte)
    if (digit < 0) return NOTHING
    this.#code = this.#code * 16 + digit
    this.#escape += 1
    if (this.#escape < 6) return MORE
    this.#escape = 0
    return this.#code
  }

  #allows(byte: number): boolean {
    if (this.#head === null) return BASE64[byte] === 1
    if (byte < 0x20 || byte > 0x7e) return false
    this.#head += String.fromCharCode(byte).toLowerCase()
    if (SCHEME.startsWith(this.#head)) return true
    if (!this.#head.startsWith(SCHEME)) {
      this.#head = null
      return BASE64[byte] === 1
    }
    if (byte !== COMMA) return this.#head.length < MAX_HEAD
    const isHead = DATA_HEAD.test(this.#head)
    this.headChars = this.#head.length
    this.#head = null
    return isHead
  }
}

const MORE = -1
const NOTHING = -2

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** From this size on, native code is faster. */
const MANY_BYTES = 1024

function endOfBase64(bytes: Buffer, from: number, to: number): number {
  let at = from
  if (to - from >= MANY_BYTES) {
    const end = to - ((to - from) % 4)
    const text = bytes.toString('latin1', from, end)
    // Only valid base64 survives the round trip.
    if (Buffer.from(text, 'base64').toString('base64') === text) at = end
  }
  while (at < to && BASE64[bytes[at] ?? 0] === 1) at += 1
  return at
}
