// Reads the rows that the rules ask for, inside the transaction of `sqlite-store.ts`.

import type { DatabaseSync } from 'node:sqlite'
import { isSupervised } from '../../../domain/records/record.ts'
import type { MessageRole } from '../../../domain/session/message.ts'
import type { RunRecord } from '../../../domain/session/run.ts'
import type { SessionStatus } from '../../../domain/session/session.ts'
import type { RowReads } from '../../rules/rows.ts'
import { isOwned } from '../../rules/run-rules.ts'
import { OPEN_RECORD } from '../../tables/conditions.ts'
import { fileById, toFile } from '../../tables/files.ts'
import { MARK_COLUMNS, toMark } from '../../tables/messages.ts'
import { outboxStatements, toCursor, toDelivery, toNote } from '../../tables/outbox.ts'
import { OPEN, toRun } from '../../tables/runs.ts'
import { SESSION_COLUMNS, type SessionRow, toSession } from '../../tables/sessions.ts'
import { instructionById, instructionList, toInstruction, waitingInstructions } from '../../tables/supervised.ts'
import { usageKey, WITH_USAGE_KEY } from '../../tables/usage.ts'
import { toWait, WAIT_COLUMNS, waitById } from '../../tables/waits.ts'
import type { EntryWriter } from '../entry-writer.ts'
import type { LiveState } from '../live-sessions.ts'
import { createStatements, sqliteDialect } from '../statements.ts'
import { LAST_USER_MESSAGE, NEWEST_OF_LANE, ROLES_AFTER } from './message-table.ts'
import { RUN_BY_ID, RUN_BY_WIRE_ID } from './run-table.ts'
import type { CommandSession } from './session-table.ts'

export function createRowReader(
  db: DatabaseSync,
  state: LiveState,
  writer: EntryWriter,
  session: CommandSession,
): RowReads {
  const sidOf = session.sid
  const { one, many, list } = createStatements(db)
  const waits = (where: string) => many(`SELECT ${WAIT_COLUMNS} FROM waits WHERE ${where} ORDER BY ord`, toWait)
  const pendingWaits = waits(`run_id = $1 AND +status = 'pending'`)
  const unusedApprovals = waits(`continuation_run_id = $1 AND +status = 'approved'`)
  const pendingRecords = waits(`session = $1 AND ${OPEN_RECORD}`)
  const instructions = list(toInstruction)
  const note = one(outboxStatements.note.text, toNote)
  const cursor = one(outboxStatements.cursor.text, toCursor)
  const deliveries = many(outboxStatements.deliveries.text, toDelivery)
  const idOf = ([id]: [string]): string => id
  const sessionById = one(
    `SELECT sid, ${SESSION_COLUMNS} FROM sessions WHERE id = $1`,
    ([sid, ...row]: [sid: number, ...SessionRow]) => ({ sid, session: toSession(row) }),
  )
  const sessionCount = one(`SELECT count(*) FROM sessions WHERE status <> 'terminated'`, ([n]: [number]) => n)
  const toPurge = many(
    `SELECT id, owner, agent, status FROM sessions
     WHERE ($4 IS NULL OR (agent = $4 AND supervised_status IS NULL)) AND ($5 = 0 OR supervised_status IS NOT NULL)
       AND ((unlisted = 0 AND max(last_activity, coalesce(terminated_at, 0)) < $1) OR (unlisted = 1 AND supervised_status IS NULL AND last_activity < $2))
       AND last_activity < max($1, $2) AND (supervised_status IS NULL OR supervised_status IN ('terminated', 'interrupted'))
       AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.sid = sessions.sid AND runs.${OPEN})
     ORDER BY last_activity LIMIT $3`,
    ([id, owner, agent, status]: [string, string, string, SessionStatus]) => ({ id, owner, agent, status }),
  )
  const storedRun = one(RUN_BY_ID, toRun)
  const runByWireId = one(RUN_BY_WIRE_ID, toRun)
  const openRuns = many(
    `SELECT id, status FROM runs WHERE sid = $1 AND ${OPEN}`,
    ([id, status]: [string, RunRecord['status']]) => ({ id, status }),
  )
  const head = one('SELECT max(last_seq) FROM entries WHERE sid = $1', ([seq]: [number | null]) => seq)
  const mark = one(`SELECT ${MARK_COLUMNS} FROM messages WHERE sid = $1 AND id = $2`, toMark)
  const lastUserMessage = one(LAST_USER_MESSAGE, idOf)
  const newestOfLane = one(NEWEST_OF_LANE, idOf)
  const rolesAfter = many(ROLES_AFTER, ([role]: [MessageRole]) => role)
  const grant = one('SELECT id FROM grants WHERE id = $1', idOf)
  const checkpoint = one('SELECT id FROM checkpoints WHERE id = $1', idOf)
  const usage = one(`SELECT 1 FROM usage WHERE ${WITH_USAGE_KEY}`, () => true)

  const mayHaveWaits = (runId: string): boolean => state.runs.get(runId)?.mayHaveWaits ?? true
  const runById = (id: string): RunRecord | null => state.runs.get(id)?.record ?? storedRun(id)

  return {
    session(id) {
      const found = sessionById(id)
      session.found(id, found?.sid ?? null)
      return found?.session ?? null
    },
    sessionByAlias: one(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE owner = $1 AND alias = $2`, toSession),
    sessionCount: () => state.sessionCount(() => sessionCount() ?? 0),
    sessionsToPurge: ({ before, unlistedBefore, limit, agent, elsewhere = false }) =>
      toPurge(before ?? 0, unlistedBefore, limit, agent, elsewhere),

    run: runById,
    isExecuted(sessionId, runId, fence) {
      const run = runById(runId)
      return run?.sessionId === sessionId && isOwned(run, fence)
    },
    runByWireId: (sessionId, wireId) => runByWireId(sidOf(sessionId), wireId),
    openRuns: (sessionId) => openRuns(sidOf(sessionId)),
    idempotencyKey: one(
      'SELECT digest, run_id, expires_at FROM idempotency WHERE owner = $1 AND key = $2',
      ([digest, runId, expiresAt]: [string, string, number]) => ({ digest, runId, expiresAt }),
    ),

    head: (sessionId) => state.sessions.get(sessionId)?.head ?? head(sidOf(sessionId)) ?? 0,
    nextSeq(sessionId) {
      const sid = sidOf(sessionId)
      return sid === null ? 1 : writer.live(sessionId, sid).head + 1
    },

    messageMarks(sessionId, ids) {
      const sid = sidOf(sessionId)
      return sid === null ? [] : ids.flatMap((id) => mark(sid, id) ?? [])
    },
    lastUserMessage: (sessionId) => lastUserMessage(sidOf(sessionId)),
    newestOfLane: (sessionId, lane) => newestOfLane(sidOf(sessionId), lane),
    rolesAfter: (sessionId, messageId) => rolesAfter(sidOf(sessionId), messageId),

    wait: one(waitById(sqliteDialect).text, toWait),
    pendingWaits: (runId) => (mayHaveWaits(runId) ? pendingWaits(runId) : []),
    unusedApprovals: (runId) =>
      mayHaveWaits(runId) ? unusedApprovals(runId).filter((wait) => wait.wait === 'approval') : [],
    pendingRecords: (sessionId) => pendingRecords(sessionId).filter(isSupervised),
    openSupervised: many(
      `SELECT id, owner FROM sessions WHERE supervised_status IN ('created', 'active', 'paused') ORDER BY sid`,
      ([id, owner]: [string, string]) => ({ id, owner }),
    ),
    instruction: one(instructionById.text, toInstruction),
    waitingInstructions: (like) => instructions(instructionList(waitingInstructions(like))),
    hasGrant: (id) => grant(id) !== null,
    hasCheckpoint: (id) => checkpoint(id) !== null,
    note,
    hasUsage: (key) => usage(...usageKey(key)) !== null,
    auditEnd: one(
      'SELECT n, hash FROM audit_imported WHERE chain = $1 ORDER BY n DESC LIMIT 1',
      ([n, hash]: [number, string]) => ({ n, hash, isOwn: false }),
    ),
    file: one(fileById.text, toFile),
    outbox: (channel) => ({ cursor: cursor(channel), deliveries: deliveries(channel) }),
  }
}
