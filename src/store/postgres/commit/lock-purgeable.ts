// Old sessions that a purge may remove. They are locked before anything is decided about them.

import type { SessionStatus } from '../../../domain/session.ts'
import type { PurgeSessions } from '../../ports/sessions.ts'
import type { PurgedSession } from '../../rules/rows.ts'
import { OPEN } from '../rows/run-table.ts'
import type { Sql, Statement } from '../sql.ts'
import type { HeadRow, Heads } from './heads.ts'

/** `$1` agent or null, `$2` elsewhere, `$3` before, `$4` unlisted before. */
const PURGEABLE = `($1::text IS NULL OR (agent = $1 AND supervised_status IS NULL)) AND (NOT $2::boolean OR supervised_status IS NOT NULL)
  AND ((NOT unlisted AND greatest(last_activity, terminated_at) < $3) OR (unlisted AND supervised_status IS NULL AND last_activity < $4))
  AND last_activity < greatest($3::bigint, $4::bigint)
  AND (supervised_status IS NULL OR supervised_status IN ('terminated', 'interrupted'))
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session = sessions.id AND runs.${OPEN})`
/** Sessions that somebody else works on just now are left for the next time. */
const lockDue: Statement = {
  name: 'lock_purgeable',
  text: `SELECT heads.session, head, ceiling, run, fence FROM heads JOIN (
      SELECT id FROM sessions WHERE ${PURGEABLE} ORDER BY last_activity LIMIT $5) AS due ON due.id = heads.session
    ORDER BY heads.session FOR UPDATE OF heads SKIP LOCKED`,
}
const stillDue: Statement = {
  name: 'purgeable',
  text: `SELECT id, owner, agent, status FROM sessions WHERE id = ANY($5::text[]) AND ${PURGEABLE} ORDER BY last_activity`,
}

export async function lockPurgeable(sql: Sql, heads: Heads, command: PurgeSessions): Promise<PurgedSession[]> {
  const { before, unlistedBefore, limit, agent, elsewhere = false } = command
  const conditions = [agent ?? null, elsewhere, before ?? 0, unlistedBefore]
  const rows = await sql.rows<HeadRow>(lockDue, [...conditions, limit])
  heads.add(rows)
  const ids = rows.map(([session]) => session)
  const found = await sql.rows<[string, string, string, SessionStatus]>(stillDue, [...conditions, ids])
  return found.map(([id, owner, agentName, status]) => ({ id, owner, agent: agentName, status }))
}
