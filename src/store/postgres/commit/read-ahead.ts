// Locks the sessions that a group of commands names, and reads what the rules surely ask about them, for all commands at once. The
// statements are sent together, those that lock first.

import { unsettledStatuses } from '../../../domain/records/record-kinds.ts'
import type { Command } from '../../ports/command.ts'
import { among } from '../../tables/conditions.ts'
import { OPEN, type RunRow, toRun } from '../../tables/runs.ts'
import { SESSION_COLUMNS, type SessionRow, toSession } from '../../tables/sessions.ts'
import type { Statement } from '../../tables/statement.ts'
import { toWait, WAIT_COLUMNS, type WaitRow } from '../../tables/waits.ts'
import { RUN_COLUMNS } from '../rows/run-table.ts'
import type { Sql } from '../sql.ts'
import type { HeadRow, Heads } from './heads.ts'
import { addNamed, createNamed, type Named } from './named.ts'
import type { KeyRow, Pair, RowCache, SessionMarkRow } from './row-cache.ts'
import { keyName } from './rows/keyed-rows.ts'

/** Locks in the order of the numbers, as every transaction does. */
const lockNames: Statement = {
  name: 'lock_names',
  text: `SELECT pg_advisory_xact_lock(1903518052, key) FROM (
    SELECT DISTINCT hashtext(name) AS key FROM unnest($1::text[]) AS given (name) ORDER BY key) AS keys`,
}

/** The sessions that a group names: their own ids, and those behind ids of runs, waits and aliases. */
const NAMED = `ANY(ARRAY(
  SELECT unnest($1::text[])
  UNION SELECT session FROM routes WHERE kind = 'run' AND id = ANY($2::text[])
  UNION SELECT session FROM routes WHERE kind = 'wait' AND id = ANY($3::text[])
  UNION SELECT session FROM routes WHERE kind = 'alias' AND id = ANY($4::text[])))`

const HEADS = 'SELECT session, head, ceiling, run, fence FROM heads'
const lockNamed: Statement = {
  name: 'lock_named',
  text: `${HEADS} WHERE session = ${NAMED} ORDER BY session FOR UPDATE`,
}
export const lockOne: Statement = { name: 'lock_one', text: `${HEADS} WHERE session = $1 FOR UPDATE` }

const sessionsOf: Statement = {
  name: 'group_sessions',
  text: `SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = ${NAMED}`,
}
export const openRunsOf: Statement = {
  name: 'group_open_runs',
  text: `SELECT ${RUN_COLUMNS} FROM runs WHERE session = ${NAMED} AND ${OPEN} ORDER BY ord`,
}
export const openWaitsOf: Statement = {
  name: 'group_open_waits',
  text: `SELECT ${WAIT_COLUMNS} FROM waits WHERE session = ${NAMED}
    AND status ${among(unsettledStatuses)} ORDER BY ord`,
}
const wiresOf: Statement = {
  name: 'group_wires',
  text: `SELECT ${RUN_COLUMNS} FROM unnest($1::text[], $2::text[]) AS given (session, wire)
    JOIN runs ON runs.session = given.session AND runs.wire_id = given.wire`,
}
export const keysOf: Statement = {
  name: 'group_keys',
  text: `SELECT idempotency.owner, idempotency.key, digest, run_id, expires_at FROM unnest($1::text[], $2::text[]) AS given (owner, key)
    JOIN idempotency ON idempotency.owner = given.owner AND idempotency.key = given.key`,
}
const marksOf: Statement = {
  name: 'group_marks',
  text: `SELECT messages.session, messages.id, lane, superseded_by FROM unnest($1::text[], $2::text[]) AS given (session, id)
    JOIN messages ON messages.session = given.session AND messages.id = given.id`,
}

/** For commands that name a run and not its session. */
const marksOfRuns: Statement = {
  name: 'group_marks_of_runs',
  text: `SELECT messages.session, messages.id, lane, superseded_by FROM unnest($1::text[], $2::text[]) AS given (run, id)
    JOIN routes ON routes.kind = 'run' AND routes.id = given.run
    JOIN messages ON messages.session = routes.session AND messages.id = given.id`,
}

/** How often a group begins to read again because new sessions came up. */
const MOST_TRIES = 10

export interface ReadAheadDeps {
  connection: Sql
  heads: Heads
  /** Gets the sessions that were locked if they exist. */
  lockedIds: Set<string>
  cache: RowCache
}

export async function readAhead(commands: readonly Command[], deps: ReadAheadDeps): Promise<void> {
  const named = createNamed()
  for (const command of commands) addNamed(named, command)
  const asked = askedBy(commands)
  // A session that was made while we waited for the lock of another one is found, and not locked: once more from the start.
  for (let tries = 1; !(await tryReadAhead(named, asked, deps)); tries += 1) {
    if (tries === MOST_TRIES) throw new Error('Sessions could not be locked.')
  }
}

/** Returns false if there are sessions that are not locked. Nothing is remembered then. */
async function tryReadAhead(
  named: Named,
  asked: ReturnType<typeof askedBy>,
  { connection, heads, lockedIds, cache }: ReadAheadDeps,
): Promise<boolean> {
  const at = [named.sessions, named.runs, named.waits, named.aliases]
  const isAny = at.some((ids) => ids.length > 0)
  const sent = [
    named.names.length === 0 ? [] : connection.rows(lockNames, [named.names]),
    isAny ? connection.rows<HeadRow>(lockNamed, at) : [],
    asked.sessions ? connection.rows<SessionRow>(sessionsOf, at) : [],
    asked.runs && isAny ? connection.rows<RunRow>(openRunsOf, at) : [],
    asked.waits ? connection.rows<WaitRow>(openWaitsOf, at) : [],
    asked.wires.length === 0 ? [] : connection.rows<RunRow>(wiresOf, pairs(asked.wires)),
    asked.keys.length === 0 ? [] : connection.rows<KeyRow>(keysOf, pairs(asked.keys)),
    asked.marks.length === 0 ? [] : connection.rows<SessionMarkRow>(marksOf, pairs(asked.marks)),
    asked.runMarks.length === 0 ? [] : connection.rows<SessionMarkRow>(marksOfRuns, pairs(asked.runMarks)),
  ] as const
  const [, headRows, sessions, open, waits, wires, keys, marks, runMarks] = await Promise.all(sent)
  heads.add(headRows)
  const found = sessions.map(toSession)
  const openRuns = open.map(toRun)
  const ids = [...found.map(({ id }) => id), ...openRuns.map(({ sessionId }) => sessionId)]
  if (ids.some((id) => heads.get(id) === undefined)) return false
  const all = new Set([...named.sessions, ...headRows.map(([session]) => session)])
  for (const session of all) lockedIds.add(session)
  if (asked.sessions) cache.addSessions(all, named, found)
  if (asked.runs && isAny) cache.addOpen(all, openRuns)
  if (asked.waits) cache.addWaits(all, waits.map(toWait))
  for (const pair of asked.wires) cache.wires.set(keyName(...pair), null)
  for (const run of wires.map(toRun)) cache.wires.set(keyName(run.sessionId, run.wireId), run)
  for (const pair of asked.keys) cache.keys.set(keyName(...pair), null)
  cache.addKeys(keys)
  const ofRuns = asked.runMarks.flatMap(([run, id]): Pair[] => {
    const session = cache.sessionOfRun.get(run)
    return session === undefined ? [] : [[session, id]]
  })
  cache.addMarks([...asked.marks, ...ofRuns], [...marks, ...runMarks])
  return true
}

const pairs = (list: readonly Pair[]): [string[], string[]] => [list.map(([one]) => one), list.map(([, two]) => two)]

/** What the rules of these commands ask about in nearly every case. */
function askedBy(commands: readonly Command[]) {
  const asked = {
    sessions: false,
    runs: false,
    waits: false,
    wires: [] as Pair[],
    keys: [] as Pair[],
    marks: [] as Pair[],
    runMarks: [] as Pair[],
  }
  const addMarks = (session: string, ids: readonly (string | undefined)[]) => {
    for (const id of ids) if (id !== undefined) asked.marks.push([session, id])
  }
  for (const command of commands) {
    asked.runs ||= command.type !== 'append'
    switch (command.type) {
      case 'accept_run': {
        const { session, run, start, idempotency } = command
        asked.sessions = true
        asked.waits ||= command.answers !== undefined
        asked.wires.push([session.id, run.wireId])
        if (idempotency !== undefined) asked.keys.push([run.owner, idempotency.key])
        addMarks(session.id, [...start.messages.map(({ id }) => id), start.supersedeAfter])
        break
      }
      case 'append':
        addMarks(command.sessionId, command.messages?.map(({ id }) => id) ?? [])
        asked.waits ||= command.consume !== undefined
        break
      case 'finish_run':
        for (const { id } of command.messages) asked.runMarks.push([command.runId, id])
        asked.waits = true
        break
      case 'settle_waits':
      case 'ask_again':
        asked.waits = true
        break
      case 'supervise':
        asked.sessions = true
        asked.waits = true
        break
      case 'add_audit':
      case 'add_usage':
      case 'renew_lease':
      case 'purge_sessions':
        break
      default:
        asked.sessions = true
    }
  }
  return asked
}
