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
  const random = (size: number): Uint8Array => {
    if (used + size > POOL_BYTES) {
      pool = fill(POOL_BYTES)
      used = 0
    }
    used += size
    return pool.subarray(used - size, used)
  }
  let lastMs = 0
  let counter = 0
  return {
    uuid() {
      const ms = now()
      if (ms > lastMs) {
        lastMs = ms
        // A random start with the top bit clear leaves space for 2^31 increments.
        counter = readUint32(random(4)) >>> 1
      } else {
        counter += 1
        if (counter > 0xffff_ffff) {
          lastMs += 1
          counter = 0
        }
      }
      return format(lastMs, counter, random(6))
    },
  }
}

// 48 bits of time, then a 32-bit counter spread over rand_a (12 bits) and the head of rand_b (20 bits), then 42 random bits.
function format(ms: number, counter: number, tail: Uint8Array): string {
  const time = ms.toString(16).padStart(12, '0')
  const high = (counter >>> 20).toString(16).padStart(3, '0')
  const low20 = counter & 0xfffff
  const variant = ((0b10 << 14) | (low20 >>> 6)).toString(16).padStart(4, '0')
  const rest = (((low20 & 0x3f) << 2) | ((tail[0] ?? 0) & 3)).toString(16).padStart(2, '0')
  const end = Buffer.from(tail.buffer, tail.byteOffset + 1, 5).toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${high}-${variant}-${rest}${end}`
}

function readUint32(bytes: Uint8Array): number {
  return (((bytes[0] ?? 0) << 24) | ((bytes[1] ?? 0) << 16) | ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0)) >>> 0
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The ULID with the same 16 bytes as `uuid`. */
export function ulidOf(uuid: string): string {
  let bits = BigInt(`0x${uuid.replaceAll('-', '')}`)
  let text = ''
  for (let i = 0; i < 26; i += 1) {
    text = (CROCKFORD[Number(bits & 31n)] ?? '') + text
    bits >>= 5n
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
