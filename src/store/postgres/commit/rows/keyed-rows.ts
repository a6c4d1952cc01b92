// Rows that meet under a key before they are sent: messages, usage and idempotency keys.
import type { StoredMessage } from '../../../../domain/session/message.ts'
import { packMessage } from '../../../packing/stored-fields.ts'
import type { UsageRow } from '../../../ports/usage.ts'
import type { IdempotencyKey } from '../../../rules/rows.ts'
import { columnsOf, insertRows, type Sending } from '../batch.ts'

/** What people search in is also marked for the index. */
const insertMessages = {
  name: 'insert_messages',
  text: `WITH added AS (${
    insertRows(
      '',
      'messages',
      {
        session: 'text',
        id: 'text',
        role: 'text',
        content: 'text',
        run_id: 'text',
        created_at: 'bigint',
        lane: 'text',
        superseded_by: 'text',
        extra: 'text',
      },
      `ON CONFLICT (session, id) DO UPDATE SET extra = excluded.extra
       WHERE messages.role = 'activity' AND excluded.role = 'activity' RETURNING session, id, role`,
    ).text
  }) INSERT INTO search_due (session, source, message_id) SELECT session, 'm', id FROM added WHERE role IN ('user', 'assistant', 'tool') ON CONFLICT DO NOTHING`,
}

/** The place of `extra` in a row. */
const EXTRA = 8

export function createMessageRows(sending: Sending) {
  const rows = new Map<string, unknown[]>()

  return {
    insert(sessionId: string, messages: readonly StoredMessage[]): void {
      for (const message of messages) {
        const { id, role, runId, createdAt, lane = null, supersededBy = null } = message
        const { content, extra } = packMessage(message)
        const key = JSON.stringify([sessionId, id])
        const known = rows.get(key)
        // The same as the statement does with a message that is in the table.
        if (known === undefined) {
          rows.set(key, [sessionId, id, role, content, runId, createdAt, lane, supersededBy, extra])
        } else if (known[2] === 'activity' && role === 'activity') known[EXTRA] = extra
      }
    },
    flush(): void {
      if (rows.size === 0) return
      sending.send(insertMessages, columnsOf([...rows.values()]))
      rows.clear()
    },
  }
}

const usageKeys = ['session_id', 'day', 'owner', 'agent', 'provider', 'model'] as const
const usageSums = ['runs', 'model_runs', 'input', 'output', 'cached_input', 'cache_write', 'reasoning'] as const
const insertUsage = insertRows(
  'insert_usage',
  'usage',
  {
    session_id: 'text',
    day: 'bigint',
    owner: 'text',
    agent: 'text',
    provider: 'text',
    model: 'text',
    runs: 'bigint',
    model_runs: 'bigint',
    input: 'bigint',
    output: 'bigint',
    cached_input: 'bigint',
    cache_write: 'bigint',
    reasoning: 'bigint',
  },
  `ON CONFLICT (${usageKeys.join(', ')}) DO UPDATE SET ${usageSums.map((one) => `${one} = usage.${one} + excluded.${one}`).join(', ')}`,
)

/** What has the same place is added up, here and in the table. */
export function createUsageRows(sending: Sending) {
  const rows = new Map<string, { place: readonly unknown[]; sums: number[] }>()

  return {
    add(row: UsageRow): void {
      const place = [row.sessionId, row.day, row.owner, row.agent, row.provider, row.model]
      const { runs, modelRuns, input, output, cachedInput, cacheWrite, reasoning } = row
      const sums = [runs, modelRuns, input, output, cachedInput, cacheWrite, reasoning]
      const key = JSON.stringify(place)
      const known = rows.get(key)
      if (known === undefined) rows.set(key, { place, sums })
      else known.sums = known.sums.map((sum, i) => sum + (sums[i] ?? 0))
    },
    flush(): void {
      if (rows.size === 0) return
      sending.send(insertUsage, columnsOf([...rows.values()].map(({ place, sums }) => [...place, ...sums])))
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
