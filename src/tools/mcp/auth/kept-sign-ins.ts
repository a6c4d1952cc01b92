// The sign-ins to MCP servers as they are kept among the shared records.

import { z } from 'zod'
import type { Logger } from '../../../domain/logger.ts'
import { AuthoritySchema, TokensSchema } from './oauth.ts'

/** The part of the shared records that is used; see `store/ports/shared.ts`. */
export interface SignInStore {
  get(kind: string, key: string): Promise<{ value: string; version: number } | null>
  put(record: {
    kind: string
    key: string
    value: string
    version: number | null
    expiresAt: number | null
  }): Promise<boolean>
  take(kind: string, key: string): Promise<{ value: string } | null>
}

interface ListedSignIns extends Pick<SignInStore, 'take'> {
  list(kind: string): Promise<{ key: string; value: string }[]>
}

export const SIGN_IN = 'mcp_sign_in'
/** A person is on the way. */
export const BEGUN = 'mcp_sign_in_begun'

const RecordSchema = z.object({
  /** The key again: records of the config folder are found by it. */
  key: z.string(),
  server: z.string(),
  url: z.string(),
  user: z.string().nullable(),
  by: z.string(),
  signed_in_at: z.number(),
  authority: AuthoritySchema.nullable(),
  tokens: TokensSchema.nullable(),
  refreshing_until: z.number().nullable(),
  /** When a refused token was renewed last. */
  renewed_at: z.number().nullable(),
  lacks: z.string().nullable(),
  problem: z.string().nullable(),
})
export type SignInRecord = z.infer<typeof RecordSchema>

export type KeptSignIns = ReturnType<typeof createKeptSignIns>

export function createKeptSignIns(store: () => Pick<SignInStore, 'get' | 'put'>, log: Logger) {
  async function read(key: string): Promise<{ record: SignInRecord; version: number } | null> {
    const found = await store().get(SIGN_IN, key)
    if (found === null) return null
    const record = RecordSchema.safeParse(JSON.parse(found.value))
    if (record.success) return { record: record.data, version: found.version }
    log.warn('A sign-in cannot be read, so it counts as none.', { key })
    return null
  }

  const write = (record: SignInRecord, version: number | null): Promise<boolean> =>
    store().put({ kind: SIGN_IN, key: record.key, value: JSON.stringify(record), version, expiresAt: null })

  /** Writes what `change` makes of the record, unless it is gone or `change` gives null. */
  async function update(key: string, change: (was: SignInRecord) => SignInRecord | null): Promise<void> {
    for (;;) {
      const found = await read(key)
      const next = found === null ? null : change(found.record)
      if (found === null || next === null || (await write(next, found.version))) return
    }
  }

  return { read, write, update }
}

const OwnedSchema = RecordSchema.pick({ server: true, url: true, user: true })

/**
 * Forgets the sign-ins of a user, also to servers that the settings no longer name, and those that they have only begun. Returns where
 * they were signed in.
 */
export async function forgetSignIns(store: ListedSignIns, user: string): Promise<{ server: string; url: string }[]> {
  const forgotten: { server: string; url: string }[] = []
  for (const kind of [BEGUN, SIGN_IN]) {
    for (const { key, value } of await store.list(kind)) {
      const { data } = OwnedSchema.safeParse(JSON.parse(value))
      if (data?.user === user && (await store.take(kind, key)) !== null && kind === SIGN_IN) forgotten.push(data)
    }
  }
  return forgotten
}
