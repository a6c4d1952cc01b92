const BACKSLASH = 0x5c
const SLASH = 0x2f
const COMMA = 0x2c
const LETTER_U = 0x75

const BASE64 = new Uint8Array(256)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=') BASE64[char.charCodeAt(0)] = 1

/** Of a `data:` URL, its comma included. */
const MAX_HEAD = 500
const SCHEME = 'data:'
const DATA_HEAD = /^data:[^;,]*(?:;[^;,]*)*;base64,$/

/**
 * Reads the inside of a JSON string as it arrives: is it base64 so far, alone or in a `data:` URL? Many libraries escape what need
 * not be escaped (PHP `\/`, .NET `\u002B`, Gson `\u003d`), so escapes are undone. Where the padding stands is not looked at.
 */
export class Base64Scanner {
  /** Of the text, escapes undone; where it is base64 no more, of what came before. */
  chars = 0
  /** Of the head of a `data:` URL. */
  headChars = 0
  /** What may be one so far; null: there is none, or it is over. */
  #head: string | null = ''
  /** Characters of an escape that have come: 0 where none is open, 1 the backslash, 2 to 5 with `u` and digits. */
  #escape = 0
  #code = 0

  /** The string may end here: no escape is open, and a head is over. */
  get mayEnd(): boolean {
    return this.#escape === 0 && this.#head === null
  }

  /** Takes the next bytes and gives back the text: it is written over them. Null: it is no base64. */
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

  /** What a byte completes; `MORE` where an escape goes on. */
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

/** From here on the native way is the quicker one. */
const MANY_BYTES = 1024

function endOfBase64(bytes: Buffer, from: number, to: number): number {
  let at = from
  if (to - from >= MANY_BYTES) {
    const end = to - ((to - from) % 4)
    const text = bytes.toString('latin1', from, end)
    // Only base64 comes back as it was.
    if (Buffer.from(text, 'base64').toString('base64') === text) at = end
  }
  while (at < to && BASE64[bytes[at] ?? 0] === 1) at += 1
  return at
}
