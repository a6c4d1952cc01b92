// Reads the rows that the rules ask for, inside the transaction of `sqlite-store.ts`.

import type { DatabaseSync } from 'node:sqlite'
import { isSupervised } from '../../../domain/records/record.ts'
import type { MessageRole } from '../../../domain/session/message.ts'
import type { RunRecord } from '../../../domain/session/run.ts'
import type { SessionStatus } from '../../../domain/session/session.ts'
import { OPEN_RECORD } from '../../packing/conditions.ts'
import type { RowReads } from '../../rules/rows.ts'
import { isOwned } from '../../rules/run-rules.ts'
import { fileById, toFile } from '../../tables/files.ts'
import { outboxStatements, toCursor, toDelivery, toNote } from '../../tables/outbox.ts'
import { instructionById, instructionList, toInstruction, waitingInstructions } from '../../tables/supervised.ts'
import { toWait, WAIT_COLUMNS, waitById } from '../../tables/waits.ts'
import type { EntryWriter } from '../entry-writer.ts'
import type { LiveState } from '../live-sessions.ts'
import { createStatements, sqliteDialect } from '../statements.ts'
import { OPEN, prepareSessions, RUN_COLUMNS, readSession, toMark, toRun } from './rows.ts'
import type { CommandSession } from './session-table.ts'

export function createRowReader(
  db: DatabaseSync,
  state: LiveState,
  writer: EntryWriter,
  session: CommandSession,
): RowReads {
  const sidOf = session.sid
  const { one, many, list } = createStatements(db)
  const waits = (name: string, rest: string) =>
    many({ name, text: `SELECT ${WAIT_COLUMNS} FROM waits WHERE ${rest} ORDER BY ord` }, toWait)
  const unusedApprovals = waits('unused_approvals', `continuation_run_id = $1 AND +status = 'approved'`)
  const pendingRecords = waits('pending_records', `session = $1 AND ${OPEN_RECORD}`)
  const instructions = list(toInstruction)
  const note = one(outboxStatements.note, toNote)
  const cursor = one(outboxStatements.cursor, toCursor)
  const deliveries = many(outboxStatements.deliveries, toDelivery)
  const sql = {
    session: prepareSessions(db, 'id = ?'),
    sessionByAlias: prepareSessions(db, 'owner = ? AND alias = ?'),
    sessionCount: db.prepare(`SELECT count(*) AS n FROM sessions WHERE status <> 'terminated'`),
    toPurge: db.prepare(
      `SELECT id, owner, agent, status FROM sessions
       WHERE (?4 IS NULL OR (agent = ?4 AND supervised_status IS NULL)) AND (?5 = 0 OR supervised_status IS NOT NULL)
         AND ((unlisted = 0 AND max(last_activity, coalesce(terminated_at, 0)) < ?1) OR (unlisted = 1 AND supervised_status IS NULL AND last_activity < ?2))
         AND (supervised_status IS NULL OR supervised_status IN ('terminated', 'interrupted'))
         AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN})
       ORDER BY last_activity LIMIT ?3 + 0`,
    ),
    run: db.prepare(`SELECT ${RUN_COLUMNS} WHERE runs.id = ?`),
    runByWireId: db.prepare(`SELECT ${RUN_COLUMNS} WHERE sid = ? AND wire_id = ?`),
    openRuns: db.prepare(`SELECT id, status FROM runs WHERE sid = ? AND ${OPEN}`),
    key: db.prepare('SELECT digest, run_id, expires_at FROM idempotency WHERE owner = ? AND key = ?'),
    head: db.prepare('SELECT max(last_seq) AS head FROM entries WHERE sid = ?'),
    mark: db.prepare('SELECT id, lane, superseded_by FROM messages WHERE sid = ? AND id = ?'),
    lastUserMessage: db.prepare(
      `SELECT id FROM messages WHERE sid = ? AND superseded_by IS NULL AND lane IS NULL AND role = 'user' ORDER BY mid DESC LIMIT 1`,
    ),
    rolesAfter: db.prepare(
      `SELECT role FROM messages WHERE sid = ?1 AND superseded_by IS NULL AND lane IS NULL AND mid > (SELECT mid FROM messages WHERE sid = ?1 AND id = ?2)`,
    ),
    openSupervised: db.prepare(
      `SELECT id, owner FROM sessions WHERE supervised_status IN ('created', 'active', 'paused') ORDER BY sid`,
    ),
    grant: db.prepare('SELECT 1 FROM grants WHERE id = ?'),
    checkpoint: db.prepare('SELECT 1 FROM checkpoints WHERE id = ?'),
    usage: db.prepare(
      `SELECT 1 FROM usage WHERE day = ? AND session_id = ? AND owner = ? AND agent = ? AND provider = ? AND model = ?`,
    ),
    auditEnd: db.prepare('SELECT n, hash FROM audit_imported WHERE chain = ? ORDER BY n DESC LIMIT 1'),
  }

  function runById(id: string): RunRecord | null {
    const live = state.runs.get(id)
    if (live !== undefined) return live.record
    const row = sql.run.get(id)
    return row === undefined ? null : toRun(row)
  }

  return {
    session(id) {
      const row = sql.session.get(id)
      const found = row === undefined ? null : readSession(row)
      session.found(id, found?.sid ?? null)
      return found?.session ?? null
    },
    sessionByAlias(owner, alias) {
      const row = sql.sessionByAlias.get(owner, alias)
      return row === undefined ? null : readSession(row).session
    },
    sessionCount: () => Number(sql.sessionCount.get()?.n),
    sessionsToPurge: ({ before, unlistedBefore, limit, agent, elsewhere = false }) =>
      sql.toPurge.all(before ?? 0, unlistedBefore, limit, agent ?? null, elsewhere ? 1 : 0).map((row) => ({
        id: String(row.id),
        owner: String(row.owner),
        agent: String(row.agent),
        status: String(row.status) as SessionStatus,
      })),

    run: runById,
    isExecuted(sessionId, runId, fence) {
      const run = runById(runId)
      return run?.sessionId === sessionId && isOwned(run, fence)
    },
    runByWireId(sessionId, wireId) {
      const row = sql.runByWireId.get(sidOf(sessionId), wireId)
      return row === undefined ? null : toRun(row)
    },
    openRuns: (sessionId) =>
      sql.openRuns
        .all(sidOf(sessionId))
        .map((row) => ({ id: String(row.id), status: String(row.status) as RunRecord['status'] })),
    idempotencyKey(owner, key) {
      const row = sql.key.get(owner, key)
      return row === undefined
        ? null
        : { digest: String(row.digest), runId: String(row.run_id), expiresAt: Number(row.expires_at) }
    },

    head: (sessionId) => state.sessions.get(sessionId)?.head ?? Number(sql.head.get(sidOf(sessionId))?.head ?? 0),
    nextSeq(sessionId) {
      const sid = sidOf(sessionId)
      return sid === null ? 1 : writer.live(sessionId, sid).head + 1
    },

    messageMarks(sessionId, ids) {
      const sid = sidOf(sessionId)
      if (sid === null) return []
      return ids.flatMap((id) => {
        const row = sql.mark.get(sid, id)
        return row === undefined ? [] : [toMark(row)]
      })
    },
    lastUserMessage(sessionId) {
      const row = sql.lastUserMessage.get(sidOf(sessionId))
      return row === undefined ? null : String(row.id)
    },
    rolesAfter: (sessionId, messageId) =>
      sql.rolesAfter.all(sidOf(sessionId), messageId).map((row) => String(row.role) as MessageRole),

    wait: one(waitById(sqliteDialect), toWait),
    pendingWaits: waits('pending_waits', `run_id = $1 AND +status = 'pending'`),
    unusedApprovals: (runId) => unusedApprovals(runId).filter((wait) => wait.wait === 'approval'),
    pendingRecords: (sessionId) => pendingRecords(sessionId).filter(isSupervised),
    openSupervised: () => sql.openSupervised.all().map(({ id, owner }) => ({ id: String(id), owner: String(owner) })),
    instruction: one(instructionById, toInstruction),
    waitingInstructions: (like) => instructions(instructionList(waitingInstructions(like))),
    hasGrant: (id) => sql.grant.get(id) !== undefined,
    hasCheckpoint: (id) => sql.checkpoint.get(id) !== undefined,
    hasNote: (channel, key) => note(channel, key) !== null,
    hasUsage: ({ day, sessionId, owner, agent, provider, model }) =>
      sql.usage.get(day, sessionId, owner, agent, provider, model) !== undefined,
    auditEnd(chain) {
      const row = sql.auditEnd.get(chain)
      return row === undefined ? null : { n: Number(row.n), hash: String(row.hash), isOwn: false }
    },
    file: one(fileById, toFile),
    outbox: (channel) => ({ cursor: cursor(channel), deliveries: deliveries(channel) }),
  }
}
