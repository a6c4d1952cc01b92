import type { DatabaseSync } from 'node:sqlite'
import { ServerError } from '../../domain/errors.ts'
import type { Grant } from '../../domain/grant.ts'
import { EVERY_SESSION, grantData } from './rows.ts'

export interface GrantTable {
  /** The first of an id stays. Returns those that are new. */
  insert(grants: readonly Grant[]): Grant[]
  /** Throws `conflict` when there is no such grant. */
  remove(grantId: string): void
  removeOfSession(sid: number): void
  removeExpired(now: number): void
}

export function createGrantTable(db: DatabaseSync): GrantTable {
  const insert = db.prepare(
    'INSERT INTO grants (id, agent, scope, created_at, expires_at, data) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const remove = db.prepare('DELETE FROM grants WHERE id = ?')
  const removeOfSession = db.prepare('DELETE FROM grants WHERE scope = (SELECT id FROM sessions WHERE sid = ?)')
  const removeExpired = db.prepare('DELETE FROM grants WHERE expires_at <= ?')

  return {
    insert: (grants) =>
      grants.filter((grant) => {
        const { id, agent, sessionId, createdAt, expiresAt } = grant
        const scope = sessionId ?? EVERY_SESSION
        return Number(insert.run(id, agent, scope, createdAt, expiresAt, grantData(grant)).changes) === 1
      }),
    remove(grantId) {
      if (Number(remove.run(grantId).changes) === 0) {
        throw new ServerError(
          'conflict',
          `There is no grant ${JSON.stringify(grantId)}; it has been revoked or has expired.`,
        )
      }
    },
    removeOfSession: (sid) => void removeOfSession.run(sid),
    removeExpired: (now) => void removeExpired.run(now),
  }
}
