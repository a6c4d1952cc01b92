// Rows that meet under a key before they are sent: messages, usage and idempotency keys.
import type { StoredMessage } from '../../../../domain/session/message.ts'
import type { UsageRow } from '../../../ports/usage.ts'
import type { IdempotencyKey } from '../../../rules/rows.ts'
import { messageValues, newMessageColumns, onKnownMessage } from '../../../tables/messages.ts'
import { ADD_USAGE, usageColumns, usageKey, usageSums } from '../../../tables/usage.ts'
import { columnsOf, insertRows, type Sending } from '../batch.ts'

/** What people search in is also marked for the index. */
const insertMessages = {
  name: 'insert_messages',
  text: `WITH added AS (${
    insertRows(
      '',
      'messages',
      { session: 'text', ...newMessageColumns },
      `${onKnownMessage('session')} RETURNING session, id, role`,
    ).text
  }) INSERT INTO search_due (session, source, message_id) SELECT session, 'm', id FROM added WHERE role IN ('user', 'assistant', 'tool') ON CONFLICT DO NOTHING`,
}

/** Places in a row. */
const ROLE = 2
const EXTRA = 8

export function createMessageRows(sending: Sending) {
  const rows = new Map<string, unknown[]>()

  return {
    insert(sessionId: string, messages: readonly StoredMessage[]): void {
      for (const message of messages) {
        const key = keyName(sessionId, message.id)
        const known = rows.get(key)
        const row = [sessionId, ...messageValues(message)]
        // The same as the statement does with a message that is in the table.
        if (known === undefined) rows.set(key, row)
        else if (known[ROLE] === 'activity' && message.role === 'activity') known[EXTRA] = row[EXTRA]
      }
    },
    flush(): void {
      if (rows.size === 0) return
      sending.send(insertMessages, columnsOf([...rows.values()]))
      rows.clear()
    },
  }
}

const insertUsage = insertRows('insert_usage', 'usage', usageColumns, ADD_USAGE)

/** What has the same key is added up, here and in the table. */
export function createUsageRows(sending: Sending) {
  const rows = new Map<string, { key: readonly unknown[]; sums: number[] }>()

  return {
    add(row: UsageRow): void {
      const key = usageKey(row)
      const sums = usageSums(row)
      const name = JSON.stringify(key)
      const known = rows.get(name)
      if (known === undefined) rows.set(name, { key, sums })
      else known.sums = known.sums.map((sum, i) => sum + (sums[i] ?? 0))
    },
    flush(): void {
      if (rows.size === 0) return
      sending.send(insertUsage, columnsOf([...rows.values()].map(({ key, sums }) => [...key, ...sums])))
      rows.clear()
    },
  }
}

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
