// Rows that were read in one transaction and have not changed since.

import type { AnyRecord } from '../../../domain/records/record.ts'
import type { MessageMark } from '../../../domain/session/message.ts'
import type { RunRecord } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Change, IdempotencyKey } from '../../rules/rows.ts'
import { patched } from '../../rules/run-rules.ts'
import { type MarkRow, toMark } from '../../tables/messages.ts'
import { aliasId } from '../rows/route.ts'
import type { Named } from './named.ts'
import { keyName } from './rows/keyed-rows.ts'

export type KeyRow = [owner: string, key: string, digest: string, runId: string, expiresAt: number]
export type SessionMarkRow = [session: string, ...MarkRow]
export type Pair = [string, string]

export type RowCache = ReturnType<typeof createRowCache>

/** Null: there is none. `seenKeys` learns which runs the idempotency keys belong to. */
export function createRowCache(seenKeys: Map<string, string>) {
  const sessions = new Map<string, SessionRecord | null>()
  const aliases = new Map<string, string | null>()
  const runs = new Map<string, RunRecord | null>()
  const sessionOfRun = new Map<string, string>()
  const open = new Map<string, RunRecord[]>()
  const wires = new Map<string, RunRecord | null>()
  const keys = new Map<string, IdempotencyKey | null>()
  const marks = new Map<string, Map<string, MessageMark | null>>()
  const waits = new Map<string, readonly AnyRecord[]>()

  function addRun(run: RunRecord): void {
    runs.set(run.id, run)
    sessionOfRun.set(run.id, run.sessionId)
  }

  function forget(session: string): void {
    sessions.delete(session)
    open.delete(session)
    marks.delete(session)
    waits.delete(session)
    // A removed session takes its runs, its keys and its name with it.
    runs.clear()
    wires.clear()
    keys.clear()
    aliases.clear()
  }

  return {
    sessions,
    aliases,
    runs,
    sessionOfRun,
    open,
    wires,
    keys,
    marks,
    waits,

    waitById(id: string): AnyRecord | undefined {
      for (const list of waits.values()) {
        const found = list.find((wait) => wait.id === id)
        if (found !== undefined) return found
      }
      return undefined
    },

    addSessions(asked: Iterable<string>, named: Named, found: readonly SessionRecord[]): void {
      for (const id of asked) sessions.set(id, null)
      for (const id of named.aliases) aliases.set(id, null)
      for (const session of found) {
        sessions.set(session.id, session)
        if (session.alias !== null) aliases.set(aliasId(session.owner, session.alias), session.id)
      }
    },
    addOpen(asked: Iterable<string>, found: readonly RunRecord[]): void {
      for (const session of asked) open.set(session, [])
      for (const run of found) {
        open.get(run.sessionId)?.push(run)
        addRun(run)
      }
    },
    addWaits(asked: Iterable<string>, found: readonly AnyRecord[]): void {
      const lists = new Map<string, AnyRecord[]>([...asked].map((session) => [session, []]))
      for (const wait of found) lists.get(wait.sessionId)?.push(wait)
      for (const [session, list] of lists) waits.set(session, list)
    },
    addKeys(found: readonly KeyRow[]): void {
      for (const [owner, key, digest, runId, expiresAt] of found) {
        keys.set(keyName(owner, key), { digest, runId, expiresAt })
        seenKeys.set(keyName(owner, key), runId)
      }
    },
    addMarks(asked: readonly Pair[], found: readonly SessionMarkRow[]): void {
      for (const [session, id] of asked) {
        const known = marks.get(session) ?? new Map<string, MessageMark | null>()
        known.set(id, null)
        marks.set(session, known)
      }
      for (const [session, ...row] of found) marks.get(session)?.set(row[0], toMark(row))
    },

    noteChange(change: Change): void {
      switch (change.write) {
        case 'insert_session':
        case 'update_supervision':
          sessions.set(change.session.id, change.session)
          if (change.session.alias !== null)
            aliases.set(aliasId(change.session.owner, change.session.alias), change.session.id)
          return
        case 'update_session': {
          const known = sessions.get(change.id)
          if (known != null) sessions.set(change.id, patched(known, change.patch))
          return
        }
        case 'bury_session':
        case 'remove_session':
          forget(change.session.id)
          return
        case 'insert_run':
        case 'update_run':
          addRun(change.run)
          open.delete(change.run.sessionId)
          wires.delete(keyName(change.run.sessionId, change.run.wireId))
          return
        case 'put_key':
          keys.set(keyName(change.owner, change.key), change.value)
          return
        case 'insert_messages':
        case 'supersede_messages':
          marks.delete(change.sessionId)
          return
        case 'insert_wait':
        case 'update_wait':
          waits.delete(change.wait.sessionId)
          return
        case 'remove_expired':
          keys.clear()
          return
        default:
      }
    },
  }
}
