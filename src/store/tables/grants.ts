// Standing permissions. A grant's `scope` is the id of its session, or empty if it is for all sessions.

import type { Grant } from '../../domain/supervision/grant.ts'
import type { GrantReads } from '../ports/waits.ts'
import type { RowWrites } from './row-writes.ts'
import { asked, putRow, type Reading, removeRow, type Statement, select } from './statement.ts'

const EVERY_SESSION = ''

const GRANT_COLUMNS = 'id, agent, scope, created_at, expires_at, data'
type GrantRow = [id: string, agent: string, scope: string, createdAt: number, expiresAt: number | null, data: string]

const toGrant = ([id, agent, scope, createdAt, expiresAt, data]: GrantRow): Grant => ({
  id,
  agent,
  sessionId: scope === EVERY_SESSION ? null : scope,
  createdAt,
  expiresAt,
  ...JSON.parse(data),
})

export function createGrantReads({ one, list }: Reading): GrantReads {
  const found = list('grants_list', toGrant)

  return {
    get: one({ name: 'grant_by_id', text: `SELECT ${GRANT_COLUMNS} FROM grants WHERE id = $1` }, toGrant),
    list: ({ now, agent, sessionId }) =>
      found(
        select(
          `SELECT ${GRANT_COLUMNS} FROM grants`,
          [
            ['(expires_at IS NULL OR expires_at > $)', now],
            asked('agent = $', agent),
            sessionId !== undefined && ['scope IN ($, $)', sessionId, EVERY_SESSION],
          ],
          { order: 'created_at, id' },
        ),
      ),
  }
}

export const eraseSessionGrants: Statement = { name: 'erase_grants', text: 'DELETE FROM grants WHERE scope = $1' }

export const grantWrites: RowWrites<'put_grant' | 'remove_grant' | 'end_session_grants'> = {
  put_grant: {
    statement: putRow('grants', GRANT_COLUMNS, 'id'),
    values({ grant: { id, agent, sessionId, createdAt, expiresAt, ...data } }) {
      return [id, agent, sessionId ?? EVERY_SESSION, createdAt, expiresAt, JSON.stringify(data)]
    },
  },
  remove_grant: { statement: removeRow('grants', 'id'), values: ({ id }) => [id] },
  end_session_grants: { statement: eraseSessionGrants, values: ({ sessionId }) => [sessionId] },
}
