// One-time codes that sign a browser in. They last for a few minutes: whoever opens the link first has it. Only their hashes are kept.

import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../../domain/clock.ts'
import type { Shared } from '../../../store/ports/shared.ts'
import { digestOf } from '../tokens/token.ts'

export interface Code {
  /** Owns the sessions that the new device starts. */
  user: string
  /** Somebody with a passkey made it, so the device that uses it needs none. */
  isVouched: boolean
}

export interface Codes {
  make(code: Code): Promise<{ text: string; expiresAt: number }>
  /** What the code is for. Null: it is wrong, used or too old. It can be looked at again. */
  find(text: string): Promise<Code | null>
  /** The same, and it is used up: of several who use it at the same time, one gets it. */
  take(text: string): Promise<Code | null>
}

const KIND = 'code'
const VALID_MS = 5 * 60_000
/** A new one drops the oldest: nobody can fill the store, and nobody can keep others from making one. */
const MOST_CODES = 100
const CODE_BYTES = 16

const CodeSchema = z.object({ user: z.string(), isVouched: z.boolean() })

/** A code is found by its hash, so the time that takes tells nothing about other codes. */
export function createCodes(shared: Pick<Shared, 'get' | 'list' | 'put' | 'take'>, clock: Pick<Clock, 'now'>): Codes {
  const codeOf = (record: { value: string } | null): Code | null =>
    record === null ? null : CodeSchema.parse(JSON.parse(record.value))
  return {
    async make({ user, isVouched }) {
      const text = randomBytes(CODE_BYTES).toString('base64url')
      const expiresAt = clock.now() + VALID_MS
      const value = JSON.stringify({ user, isVouched })
      await shared.put({ kind: KIND, key: digestOf(text), value, version: null, expiresAt })
      const all = (await shared.list(KIND)).sort((a, b) => a.version - b.version)
      for (const { key } of all.slice(0, Math.max(0, all.length - MOST_CODES))) await shared.take(KIND, key)
      return { text, expiresAt }
    },
    find: async (text) => codeOf(await shared.get(KIND, digestOf(text))),
    take: async (text) => codeOf(await shared.take(KIND, digestOf(text))),
  }
}
