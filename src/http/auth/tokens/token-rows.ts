// Tokens that several processes on one store share. Each token is a record of its own, as a hash, like in the file of a single process.

import type { Logger } from '../../../domain/logger.ts'
import type { Shared, SharedRecord } from '../../../store/ports/shared.ts'
import type { TokenRecord } from './token.ts'
import { TokenRecordSchema } from './token-file.ts'
import type { TokenCopy, TokenRecords } from './token-records.ts'

const KIND = 'token'
/** Says that tokens were stored here before, also when all of them are revoked. */
const BEGUN = { kind: 'tokens', key: 'begun' } as const
const TOPIC = 'tokens'

interface TokenRowsDeps {
  shared: Pick<Shared, 'get' | 'list' | 'put' | 'take'>
  /** Tells the other processes what this one changes. Without `keep`, as in a command, it does not hear what they change. */
  changes: {
    tell(topic: string): Promise<void>
    heard(topic: string): Promise<void>
    keep?(topic: string, read: () => Promise<void>): TokenCopy
  }
  log: Logger
}

export function createTokenRows({ shared, changes, log }: TokenRowsDeps): TokenRecords {
  /** Counts what this process changes. A list that was read before one of them is too old. */
  let own = 0

  const { keep } = changes
  const list = () => listTokenRows(shared, log)

  async function newest(): Promise<readonly TokenRecord[]> {
    for (;;) {
      const before = own
      const records = await list()
      if (own === before) return records
    }
  }

  return {
    async read() {
      const records = await list()
      return records.length === 0 && (await shared.get(BEGUN.kind, BEGUN.key)) === null ? null : records
    },
    async add(records) {
      await shared.put({ ...BEGUN, value: '', version: null, expiresAt: null })
      for (const record of records) {
        await shared.put({ kind: KIND, key: record.id, value: JSON.stringify(record), version: 0, expiresAt: null })
      }
      own += 1
      await changes.tell(TOPIC)
    },
    async remove(id) {
      const taken = await shared.take(KIND, id)
      own += 1
      return taken !== null
    },
    async heard() {
      await changes.tell(TOPIC)
      await changes.heard(TOPIC)
    },
    ...(keep === undefined ? {} : { keep: (use) => keep(TOPIC, async () => use(await newest())) }),
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
