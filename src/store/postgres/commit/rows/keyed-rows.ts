// Rows that meet under a key before they are sent: messages, usage and idempotency keys.
import type { StoredMessage } from '../../../../domain/session/message.ts'
import type { UsageRow } from '../../../ports/usage.ts'
import type { IdempotencyKey } from '../../../rules/rows.ts'
import { messageValues, newMessageColumns, onKnownMessage } from '../../../tables/messages.ts'
import { ADD_USAGE, usageColumns, usageKey, usageSums } from '../../../tables/usage.ts'
import { insertRows, type Sending } from '../batch.ts'
import { createKeyed } from './collected-rows.ts'

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
  const { rows, flush } = createKeyed(sending, insertMessages)

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
    flush,
  }
}

const insertUsage = insertRows('insert_usage', 'usage', usageColumns, ADD_USAGE)

/** What has the same key is added up, here and in the table. */
export function createUsageRows(sending: Sending) {
  const { rows, flush } = createKeyed(sending, insertUsage)

  return {
    add(row: UsageRow): void {
      const key = usageKey(row)
      const name = JSON.stringify(key)
      const before = rows.get(name)?.slice(key.length) ?? []
      const added = usageSums(row).map((sum, i) =>
        typeof sum === 'string' ? `${before[i] ?? ''}${sum}` : sum + Number(before[i] ?? 0),
      )
      rows.set(name, [...key, ...added])
    },
    flush,
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
  const { rows, flush } = createKeyed(sending, insertKeys)

  return {
    put(owner: string, key: string, { digest, runId, expiresAt }: IdempotencyKey): void {
      const expired = seenKeys.get(keyName(owner, key))
      if (expired !== undefined) sending.send(removeKey, [owner, key, expired])
      rows.set(keyName(owner, key), [owner, key, digest, runId, expiresAt])
    },
    flush,
  }
}
