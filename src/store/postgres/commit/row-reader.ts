// Reads the rows that the rules ask for, inside the transaction of `decision-group.ts`. Most were read ahead (`read-ahead.ts`).

import { type AnyRecord, type Approval, isSupervised, isWaiting } from '../../../domain/records/record.ts'
import type { MessageRole } from '../../../domain/session/message.ts'
import type { SessionRecord, SessionStatus } from '../../../domain/session/session.ts'
import type { Command } from '../../ports/command.ts'
import type { PurgeSessions } from '../../ports/sessions.ts'
import type { LaterRowReads, PurgedSession } from '../../rules/rows.ts'
import { fileById, toFile } from '../../tables/files.ts'
import { toMark } from '../../tables/messages.ts'
import { createOutboxReads } from '../../tables/outbox.ts'
import { OPEN, toRun } from '../../tables/runs.ts'
import { sessionById, toSession } from '../../tables/sessions.ts'
import type { Statement } from '../../tables/statement.ts'
import { instructionById, instructionList, toInstruction, waitingInstructions } from '../../tables/supervised.ts'
import { usageKey, WITH_USAGE_KEY } from '../../tables/usage.ts'
import { toWait, waitById } from '../../tables/waits.ts'
import { endOfChain } from '../rows/audit-table.ts'
import { lastSeq } from '../rows/entry-table.ts'
import { messageMarks } from '../rows/message-table.ts'
import { aliasId } from '../rows/route.ts'
import { runById, runByWireId } from '../rows/run-table.ts'
import { sessionByAlias } from '../rows/session-table.ts'
import { createReading, postgresDialect, type Sql } from '../sql.ts'
import type { HeadRow, Heads } from './heads.ts'
import { keysOf, lockOne, openRunsOf, openWaitsOf, readAhead } from './read-ahead.ts'
import { createRowCache, type KeyRow } from './row-cache.ts'
import { keyName } from './rows/keyed-rows.ts'

/** Others that want to count have to wait until the session that this one makes can be counted. */
const lockCount: Statement = { name: 'lock_session_count', text: 'SELECT pg_advisory_xact_lock(1903518055)' }
const sessionCount: Statement = {
  name: 'sessions_not_terminated',
  text: `SELECT count(*) FROM sessions WHERE status <> 'terminated'`,
}
const lastUserMessage: Statement = {
  name: 'last_user_message',
  text: `SELECT id FROM messages WHERE session = $1 AND superseded_by IS NULL AND lane IS NULL AND role = 'user'
    ORDER BY ord DESC LIMIT 1`,
}
const newestOfLane: Statement = {
  name: 'newest_of_lane',
  text: `SELECT id FROM messages WHERE session = $1 AND lane = $2 AND superseded_by IS NULL ORDER BY ord DESC LIMIT 1`,
}
const rolesAfter: Statement = {
  name: 'roles_after',
  text: `SELECT role FROM messages WHERE session = $1 AND superseded_by IS NULL AND lane IS NULL
    AND ord > coalesce((SELECT ord FROM messages WHERE session = $1 AND id = $2), 0)`,
}
const openSupervised: Statement = {
  name: 'open_supervised',
  text: `SELECT id, owner FROM sessions WHERE supervised_status IN ('created', 'active', 'paused') ORDER BY ord`,
}
const checkpointExists: Statement = {
  name: 'checkpoint_exists',
  text: `SELECT 1 FROM routes WHERE kind = 'checkpoint' AND id = $1`,
}
const usageExists: Statement = { name: 'usage_exists', text: `SELECT 1 FROM usage WHERE ${WITH_USAGE_KEY}` }
const anyWait = waitById(postgresDialect)
/** A purge must not remove it meanwhile, and no other process send it. */
const lockFile: Statement = { name: 'lock_file', text: `${fileById.text} FOR UPDATE` }
/** Nobody revokes it before the transaction is over. */
const grantExists: Statement = { name: 'grant_exists', text: 'SELECT 1 FROM grants WHERE id = $1 FOR KEY SHARE' }

export interface RowReaderDeps {
  sql: Sql
  heads: Heads
  /** Sends the changes that were collected, so that reads see them. */
  flush(): void
  /** Fills in which runs the keys belong to. */
  seenKeys: Map<string, string>
}

export function createRowReader({ sql: connection, heads, flush, seenKeys }: RowReaderDeps) {
  const cache = createRowCache(seenKeys)
  /** Sessions that were locked if they exist. */
  const lockedIds = new Set<string>()
  const sql: Sql = {
    rows(statement, values) {
      flush()
      return connection.rows(statement, values)
    },
  }
  const reading = createReading(sql)
  const { one, many } = reading
  const outbox = createOutboxReads(reading)
  const instructions = reading.list('instructions_list', toInstruction)

  const sessionOfId = one(sessionById, toSession)
  const sessionOfAlias = one(sessionByAlias, toSession)
  const storedRun = one(runById, toRun)
  const storedWait = one(anyWait, toWait)
  const runOfWireId = one(runByWireId, toRun)
  const openRuns = many(openRunsOf, toRun)
  const openWaits = many(openWaitsOf, toWait)
  const marks = many(messageMarks, toMark)

  async function lock(session: string): Promise<void> {
    lockedIds.add(session)
    heads.add(await sql.rows<HeadRow>(lockOne, [session]))
  }

  /** Reads a record, locks its session, and reads it again if somebody else may have changed it until then. */
  async function locked<T>(read: () => Promise<T | null>, sessionOf: (found: T) => string): Promise<T | null> {
    const found = await read()
    if (found === null || heads.get(sessionOf(found)) !== undefined) return found
    await lock(sessionOf(found))
    return read()
  }
  const lockedPart = <T extends { sessionId: string }>(read: () => Promise<T | null>) =>
    locked(read, ({ sessionId }) => sessionId)
  const lockedSession = (read: () => Promise<SessionRecord | null>) => locked(read, ({ id }) => id)

  const waitsOf = async (session: string): Promise<readonly AnyRecord[]> => {
    const known = cache.waits.get(session)
    if (known !== undefined) return known
    const waits = await openWaits([session], [], [], [])
    cache.waits.set(session, waits)
    return waits
  }
  /** Waits belong to the session of their run. */
  async function waitsOfRun(runId: string): Promise<readonly AnyRecord[]> {
    const session = cache.sessionOfRun.get(runId) ?? (await reads.run(runId))?.sessionId
    return session === undefined ? [] : waitsOf(session)
  }

  const reads: LaterRowReads = {
    session: (id) => knownOr(cache.sessions.get(id), () => lockedSession(() => sessionOfId(id))),
    sessionByAlias(owner, alias) {
      const known = cache.aliases.get(aliasId(owner, alias))
      if (known !== undefined) return known === null ? null : reads.session(known)
      return lockedSession(() => sessionOfAlias(aliasId(owner, alias)))
    },
    async sessionCount() {
      const [, [row]] = await Promise.all([sql.rows(lockCount), sql.rows<[number]>(sessionCount)])
      return row?.[0] ?? 0
    },
    sessionsToPurge: (command) => lockPurgeable(sql, heads, command),

    run: (id) => knownOr(cache.runs.get(id), () => lockedPart(() => storedRun(id))),
    // Whoever executes a run is in the head of its session. The run itself may have a message of megabytes.
    isExecuted(sessionId, runId, fence) {
      const isHead = () => heads.get(sessionId)?.run === runId && heads.get(sessionId)?.fence === fence
      return heads.get(sessionId) !== undefined || lockedIds.has(sessionId) ? isHead() : lock(sessionId).then(isHead)
    },
    runByWireId: (sessionId, wireId) =>
      knownOr(cache.wires.get(keyName(sessionId, wireId)), () => runOfWireId(sessionId, wireId)),
    openRuns: (sessionId) => knownOr(cache.open.get(sessionId), () => openRuns([sessionId], [], [], [])),
    idempotencyKey: (owner, key) =>
      knownOr(cache.keys.get(keyName(owner, key)), async () => {
        cache.addKeys(await sql.rows<KeyRow>(keysOf, [[owner], [key]]))
        return cache.keys.get(keyName(owner, key)) ?? null
      }),

    async head(sessionId) {
      const [row] = await sql.rows<[number]>(lastSeq, [sessionId])
      return row?.[0] ?? 0
    },
    nextSeq(sessionId) {
      const head = heads.get(sessionId)
      if (head !== undefined || lockedIds.has(sessionId)) return (head?.head ?? 0) + 1
      return lock(sessionId).then(() => (heads.get(sessionId)?.head ?? 0) + 1)
    },

    messageMarks(sessionId, ids) {
      const known = cache.marks.get(sessionId)
      const isKnown = known !== undefined && ids.every((id) => known.has(id))
      if (isKnown) return ids.flatMap((id) => known.get(id) ?? [])
      return marks(sessionId, ids)
    },
    lastUserMessage: one(lastUserMessage, ([id]: [string]) => id),
    newestOfLane: one(newestOfLane, ([id]: [string]) => id),
    rolesAfter: many(rolesAfter, ([role]: [MessageRole]) => role),

    wait: (id) => knownOr(cache.waitById(id), () => lockedPart(() => storedWait(id))),
    async pendingWaits(runId) {
      return (await waitsOfRun(runId)).filter((wait) => wait.runId === runId && wait.status === 'pending')
    },
    async unusedApprovals(runId) {
      return (await waitsOfRun(runId)).filter(
        (wait) => wait.wait === 'approval' && wait.continuationRunId === runId && wait.status === 'approved',
      ) as Approval[]
    },
    async pendingRecords(sessionId) {
      return (await waitsOf(sessionId)).filter(isSupervised).filter(isWaiting)
    },
    openSupervised: many(openSupervised, ([id, owner]: [string, string]) => ({ id, owner })),
    instruction: one(instructionById, toInstruction),
    waitingInstructions: (like) => instructions(instructionList(waitingInstructions(like))),
    async hasGrant(id) {
      return (await sql.rows(grantExists, [id])).length > 0
    },
    async hasCheckpoint(id) {
      return (await sql.rows(checkpointExists, [id])).length > 0
    },
    note: outbox.note,
    async hasUsage(key) {
      return (await sql.rows(usageExists, usageKey(key))).length > 0
    },
    auditEnd: one(endOfChain, ([n, hash, isOwn]: [number, string, boolean]) => ({ n, hash, isOwn })),
    file: one(lockFile, toFile),
    async outbox(channel) {
      return { cursor: await outbox.cursor(channel), deliveries: await outbox.deliveries(channel) }
    },
  }

  return {
    ...reads,
    /** Call it for each change, in order. */
    noteChange: cache.noteChange,
    /** Locks what the commands name, and reads ahead. */
    prepare: (commands: readonly Command[]): Promise<void> =>
      readAhead(commands, { connection, heads, lockedIds, cache }),
  }
}

const knownOr = <T>(known: T | undefined, read: () => Promise<T>): T | Promise<T> =>
  known === undefined ? read() : known

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

/** Old sessions that a purge may remove. They are locked before anything is decided about them. */
async function lockPurgeable(sql: Sql, heads: Heads, command: PurgeSessions): Promise<PurgedSession[]> {
  const { before, unlistedBefore, limit, agent, elsewhere = false } = command
  const conditions = [agent ?? null, elsewhere, before ?? 0, unlistedBefore]
  const rows = await sql.rows<HeadRow>(lockDue, [...conditions, limit])
  heads.add(rows)
  const ids = rows.map(([session]) => session)
  const found = await sql.rows<[string, string, string, SessionStatus]>(stillDue, [...conditions, ids])
  return found.map(([id, owner, agentName, status]) => ({ id, owner, agent: agentName, status }))
}
