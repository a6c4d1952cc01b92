// Ids are UUIDv7. The same 16 bytes print as a ULID for protocols that want one, and both spellings are accepted everywhere.

import { randomBytes } from 'node:crypto'

export interface Ids {
  /** A new UUIDv7 (lower case, with dashes), greater than every earlier one from this source. */
  uuid(): string
}

/** Asking the kernel for random bytes is the most expensive part of an id, so one block serves about 400 ids. */
const POOL_BYTES = 4_096

/** The ids increase even within one millisecond and when the wall clock steps back. */
export function createIds(now: () => number, fill: (size: number) => Uint8Array = randomBytes): Ids {
  let pool = fill(POOL_BYTES)
  let used = 0
  const random = (): number => {
    if (used === POOL_BYTES) {
      pool = fill(POOL_BYTES)
      used = 0
    }
    used += 1
    return pool[used - 1] ?? 0
  }
  let lastMs = 0
  let counter = 0
  // An id is written digit by digit into these characters, which takes a third of the time of joining its parts.
  const text = Buffer.alloc(36, '-')
  const write = (at: number, digits: number, value: number): void => {
    for (let i = 0; i < digits; i += 1) text[at + i] = HEX[(value >>> (4 * (digits - 1 - i))) & 15] ?? 0
  }
  return {
    uuid() {
      const ms = now()
      if (ms > lastMs) {
        lastMs = ms
        // A random start with the top bit clear leaves space for 2^31 increments.
        counter = ((random() << 24) | (random() << 16) | (random() << 8) | random()) >>> 1
      } else {
        counter += 1
        if (counter > 0xffff_ffff) {
          lastMs += 1
          counter = 0
        }
      }
      // 48 bits of time, then a 32-bit counter spread over rand_a (12 bits) and the head of rand_b (20 bits), then 42 random bits.
      write(0, 8, lastMs / 0x1_0000)
      write(9, 4, lastMs)
      write(14, 4, 0x7000 | (counter >>> 20))
      write(19, 4, 0x8000 | ((counter >>> 6) & 0x3fff))
      write(24, 2, ((counter & 0x3f) << 2) | (random() & 3))
      for (let at = 26; at < 36; at += 2) write(at, 2, random())
      return text.toString('latin1')
    },
  }
}

const HEX = Buffer.from('0123456789abcdef')
const DASH = 0x2d
const NINE = 0x39
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The ULID with the same 16 bytes as `uuid`. */
export function ulidOf(uuid: string): string {
  let text = ''
  // 26 characters have room for 130 bits, so the first two are zero.
  let bits = 0
  let count = 2
  for (let i = 0; i < uuid.length; i += 1) {
    const code = uuid.charCodeAt(i)
    if (code === DASH) continue
    // Of a digit the low four bits are its value, of a letter they count from 1.
    bits = ((bits << 4) | (code > NINE ? (code & 15) + 9 : code & 15)) & 0xff
    count += 4
    if (count < 5) continue
    count -= 5
    text += CROCKFORD[(bits >>> count) & 31]
  }
  return text
}

/** The canonical UUID for a UUID or a ULID; null if `text` is neither. */
export function parseUuid(text: string): string | null {
  if (UUID.test(text)) return text.toLowerCase()
  if (!ULID.test(text)) return null
  let bits = 0n
  for (const char of text.toUpperCase()) bits = (bits << 5n) | BigInt(CROCKFORD.indexOf(char))
  const hex = bits.toString(16).padStart(32, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** An id chosen by a client: 1 to 128 printable characters, no lone surrogate. */
export function isClientId(text: string): boolean {
  return /^[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u.test(text) && text.trim().length > 0 && text.isWellFormed()
}
