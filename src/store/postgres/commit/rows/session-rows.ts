// Rows of sessions: new ones, and patches of those that are there.

import type { SessionRecord } from '../../../../domain/session/session.ts'
import type { SessionPatch } from '../../../rules/rows.ts'
import { patched } from '../../../rules/run-rules.ts'
import { jsonOrNull, mergedPatch, newSessionColumns, sessionValues } from '../../../tables/sessions.ts'
import { columnsOf, insertRows, type Sending, updateRows } from '../batch.ts'
import { setSupervision, supervisionValues } from './rare-rows.ts'

const insertSessions = insertRows('insert_sessions', 'sessions', {
  ...newSessionColumns,
  tokens: 'bigint',
  compacted: 'boolean',
})

/** A null keeps what is there. `grown`: the log has grown, so it can be compacted again. */
const updateSessions = updateRows(
  'update_sessions',
  'sessions',
  {
    id: 'text',
    last_activity: 'bigint',
    added: 'bigint',
    tokens: 'bigint',
    grown: 'boolean',
    metadata: 'text',
    state: 'text',
    last_tool: 'text',
    active_agent: 'text',
    sets_agent: 'boolean',
    last_read: 'bigint',
    title: 'text',
    sets_title: 'boolean',
    failure: 'text',
    sets_failure: 'boolean',
  },
  ['id'],
  `last_activity = greatest(sessions.last_activity, given.last_activity), message_count = sessions.message_count + given.added,
   tokens = sessions.tokens + given.tokens, compacted = sessions.compacted AND NOT given.grown,
   metadata = coalesce(given.metadata, sessions.metadata), state = coalesce(given.state, sessions.state),
   last_tool = coalesce(given.last_tool, sessions.last_tool),
   active_agent = CASE WHEN given.sets_agent THEN given.active_agent ELSE sessions.active_agent END,
   last_read = coalesce(given.last_read, sessions.last_read),
   title = CASE WHEN given.sets_title THEN given.title ELSE sessions.title END,
   failure = CASE WHEN given.sets_failure THEN given.failure ELSE sessions.failure END`,
)

export function createSessionRows(sending: Sending) {
  const made = new Map<string, { session: SessionRecord; tokens: number; grown: boolean }>()
  const patches = new Map<string, { patch: SessionPatch; tokens: number }>()

  return {
    insert(session: SessionRecord): void {
      made.set(session.id, { session, tokens: 0, grown: false })
    },
    update(id: string, patch: SessionPatch): void {
      const fresh = made.get(id)
      if (fresh !== undefined) {
        fresh.session = patched(fresh.session, patch)
        fresh.grown ||= patch.grows === true
        return
      }
      const known = patches.get(id)
      if (known === undefined) patches.set(id, { patch, tokens: 0 })
      else known.patch = mergedPatch(known.patch, patch)
    },
    addTokens(id: string, tokens: number): void {
      if (tokens === 0) return
      const known = made.get(id) ?? patches.get(id)
      if (known === undefined) patches.set(id, { patch: {}, tokens })
      else known.tokens += tokens
    },
    flush(): void {
      if (made.size > 0) {
        const rows = [...made.values()].map(({ session, tokens, grown }) => [...sessionValues(session), tokens, !grown])
        sending.send(insertSessions, columnsOf(rows))
        for (const { session } of made.values()) {
          if (session.supervision !== undefined) sending.send(setSupervision, supervisionValues(session))
        }
        made.clear()
      }
      if (patches.size > 0) {
        const rows = [...patches].map(([id, { patch, tokens }]) => [
          ...[id, patch.lastActivity ?? null, patch.messagesAdded ?? 0, tokens, patch.grows === true],
          ...[jsonOrNull(patch.metadata), jsonOrNull(patch.state), patch.lastTool ?? null],
          ...[patch.activeAgent ?? null, patch.activeAgent !== undefined, patch.lastRead ?? null],
          ...[patch.title ?? null, patch.title !== undefined, patch.failure ?? null, patch.failure !== undefined],
        ])
        sending.send(updateSessions, columnsOf(rows))
        patches.clear()
      }
    },
  }
}
