// Rows of messages. What people search in is also marked for the index.

import type { StoredMessage } from '../../../../domain/message.ts'
import { packMessage } from '../../../packing/stored-fields.ts'
import { columnsOf, insertRows } from '../batch.ts'
import type { Sending } from '../sending.ts'

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
