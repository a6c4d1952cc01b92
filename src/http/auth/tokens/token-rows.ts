// Stored tokens. Each is a record of its own, as a hash.

import { z } from 'zod'
import type { Logger } from '../../../domain/logger.ts'
import { scopes, tokenRoles } from '../../../domain/supervision/token-role.ts'
import { USER_NAME } from '../../../domain/supervision/user-name.ts'
import type { SharedChanges } from '../../../replicas/shared-changes.ts'
import type { Shared, SharedRecord } from '../../../store/ports/shared.ts'
import type { RecordFormat } from '../config-folder/record-file.ts'
import type { TokenRecord } from './token.ts'

export type TokenRows = ReturnType<typeof createTokenRows>

export interface TokensPlace {
  shared: Pick<Shared, 'get' | 'list' | 'put' | 'take'>
  changes: Pick<SharedChanges, 'tell' | 'heard' | 'keep'>
}

const KIND = 'token'
/** Says that tokens were stored here before, also when all of them are revoked. */
const BEGUN = { kind: 'tokens', key: 'begun' } as const
const TOPIC = 'tokens'

/** Strict: a key that this version does not know may be a limit. */
const TokenRecordSchema = z
  .strictObject({
    id: z.string().min(1).max(64),
    name: z.string().max(200),
    user: z.string().regex(USER_NAME),
    role: z.enum(tokenRoles),
    workspace: z.string().min(1).max(4_096).exactOptional(),
    channel: z.string().min(1).max(200).exactOptional(),
    scopes: z.array(z.enum(scopes)).min(1).exactOptional(),
    agent: z.string().min(1).max(128).exactOptional(),
    expires_at: z.iso.datetime().exactOptional(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    created_at: z.iso.datetime(),
  })
  .refine(({ role, workspace }) => (role === 'agent') === (workspace !== undefined))

/** The token file in the config folder. */
export const tokenFormat: RecordFormat<TokenRecord> = {
  name: 'tokens',
  schema: TokenRecordSchema,
  maxBytes: 1_000_000,
  keyOf: ({ id }) => id,
  // One that has ended is shown for a while.
  expiresAt: () => null,
  unusable: (path, why) => `The token file ${path} cannot be used: ${why}.`,
  damaged: (problem) => `${problem}. Restore it, or remove it and create new tokens: quarterdeck tokens create`,
}

/** What a call has acknowledged is on disk. */
export function createTokenRows({ shared, changes }: TokensPlace, log: Logger) {
  /** Counts what this process changes. A list that was read before one of them is too old. */
  let own = 0

  const list = () => listTokenRows(shared, log)

  async function newest(): Promise<readonly TokenRecord[]> {
    for (;;) {
      const before = own
      const records = await list()
      if (own === before) return records
    }
  }

  return {
    /** All of them, oldest first. Null: there were never any. */
    async read() {
      const records = await list()
      return records.length === 0 && (await shared.get(BEGUN.kind, BEGUN.key)) === null ? null : records
    },
    async add(records: readonly TokenRecord[]) {
      await shared.put({ ...BEGUN, value: '', version: null, expiresAt: null })
      for (const record of records) {
        await shared.put({ kind: KIND, key: record.id, value: JSON.stringify(record), version: 0, expiresAt: null })
      }
      own += 1
      await changes.tell(TOPIC)
    },
    /** False: there is no such record, or somebody else was faster. */
    async remove(id: string) {
      const taken = await shared.take(KIND, id)
      own += 1
      return taken !== null
    },
    /** Tells the other processes, and resolves when what was removed before counts at none of them. */
    async heard() {
      await changes.tell(TOPIC)
      await changes.heard(TOPIC)
    },
    /** Calls `use` with all records after another process has changed them. */
    keep: (use: (records: readonly TokenRecord[]) => void) => changes.keep(TOPIC, async () => use(await newest())),
  }
}

/** Oldest first. */
export async function listTokenRows(shared: Pick<Shared, 'list'>, log: Logger): Promise<TokenRecord[]> {
  const rows = await shared.list(KIND)
  return rows.flatMap((row) => recordOf(row, log)).sort((a, b) => (a.created_at < b.created_at ? -1 : 1))
}

/** A record that a newer version wrote may have limits that this one does not know, so it does not count here. */
function recordOf({ key, value }: SharedRecord, log: Logger): TokenRecord[] {
  try {
    return [TokenRecordSchema.parse(JSON.parse(value))]
  } catch (error) {
    log.warn('a stored token cannot be read, so it is not valid here', { token_id: key, error })
    return []
  }
}
