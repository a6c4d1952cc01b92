// One-time codes that sign a browser in. They exist only in memory and for a few minutes: whoever opens the link first has it.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../domain/clock.ts'
import { digestOf } from '../tokens/token.ts'

export interface Code {
  /** Owns the sessions that the new device starts. */
  user: string
  /** Somebody with a passkey made it, so the device that uses it needs none. */
  isVouched: boolean
}

export interface Codes {
  make(code: Code): { text: string; expiresAt: number }
  /** What the code is for. Null: it is wrong, used or too old. It can be looked at again. */
  find(text: string): Code | null
  /** The same, and it is used up. */
  take(text: string): Code | null
}

const VALID_MS = 5 * 60_000
/** A new one drops the oldest: nobody can fill the memory, and nobody can keep others from making one. */
const MOST_CODES = 100
const CODE_BYTES = 16

interface Kept extends Code {
  sha256: Buffer
  endsAt: number
}

export function createCodes(clock: Clock, random: (size: number) => Uint8Array = randomBytes): Codes {
  let codes: readonly Kept[] = []

  /** Compares with all of them in constant time, as tokens are. */
  function look(text: string): Kept | null {
    const now = clock.mono()
    codes = codes.filter(({ endsAt }) => endsAt > now)
    const sha256 = hashOf(text)
    let found: Kept | null = null
    for (const one of codes) if (timingSafeEqual(one.sha256, sha256)) found = one
    return found
  }

  return {
    make(code) {
      const text = Buffer.from(random(CODE_BYTES)).toString('base64url')
      const kept = { ...code, sha256: hashOf(text), endsAt: clock.mono() + VALID_MS }
      codes = [...codes, kept].slice(-MOST_CODES)
      return { text, expiresAt: clock.now() + VALID_MS }
    },
    find: (text) => look(text),
    take(text) {
      const found = look(text)
      codes = codes.filter((one) => one !== found)
      return found
    },
  }
}

const hashOf = (text: string): Buffer => Buffer.from(digestOf(text), 'hex')
