// Rows of idempotency keys.

import type { IdempotencyKey } from '../../../rules/rows.ts'
import { columnsOf, insertRows } from '../batch.ts'
import type { Sending } from '../sending.ts'

const insertKeys = insertRows('insert_keys', 'idempotency', {
  owner: 'text',
  key: 'text',
  digest: 'text',
  run_id: 'text',
  expires_at: 'bigint',
})
// Only the key that the rules have seen, which has expired. One that somebody else wrote meanwhile must stay.
const removeKey = {
  name: 'remove_key_that_expired',
  text: 'DELETE FROM idempotency WHERE owner = $1 AND key = $2 AND run_id = $3',
}

/** One name for two texts, whatever characters they have. */
export const keyName = (owner: string, key: string): string => JSON.stringify([owner, key])

export function createKeyRows(sending: Sending, seenKeys: ReadonlyMap<string, string>) {
  const rows = new Map<string, readonly unknown[]>()

  return {
    put(owner: string, key: string, { digest, runId, expiresAt }: IdempotencyKey): void {
      const expired = seenKeys.get(keyName(owner, key))
      if (expired !== undefined) sending.send(removeKey, [owner, key, expired])
      rows.set(keyName(owner, key), [owner, key, digest, runId, expiresAt])
    },
    flush(): void {
      if (rows.size === 0) return
      sending.send(insertKeys, columnsOf([...rows.values()]))
      rows.clear()
    },
  }
}
