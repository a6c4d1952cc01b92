// Writes the changes that the rules decided, inside the transaction of `decision-group.ts`. The rows of the tables that every run
// writes to are collected (`rows/`), and those of all commands are sent with one statement for each table.

import { tokensOf } from '../../../domain/session/run.ts'
import type { Change } from '../../rules/rows.ts'
import { rowWriteOf } from '../../tables/row-writes.ts'
import { type Route, routesOfCheckpoint, routesOfRun, routesOfSession, routesOfWait } from '../rows/route.ts'
import type { Sql } from '../sql.ts'
import { insertRows, type Sending } from './batch.ts'
import type { Heads } from './heads.ts'
import { type AuditChain, createAuditRows, createFeedRows, createLogRows } from './rows/added-rows.ts'
import { createList, createRunRows, createWaitRows } from './rows/collected-rows.ts'
import { createKeyRows, createMessageRows, createUsageRows } from './rows/keyed-rows.ts'
import { createRareRows } from './rows/rare-rows.ts'
import { createSessionRows } from './rows/session-rows.ts'
import { createWholeLog } from './whole-log.ts'

export interface RowWriterDeps {
  /** The connection of the transaction, for reads. */
  sql: Sql
  sending: Sending
  heads: Heads
  chain: AuditChain
  /** The runs of the idempotency keys that the rules have seen in this transaction. */
  seenKeys: ReadonlyMap<string, string>
  writerId: string
}

const insertRoutes = insertRows('insert_routes', 'routes', { kind: 'text', id: 'text', session: 'text' })

export function createRowWriter(deps: RowWriterDeps) {
  const { sql, sending, heads, seenKeys } = deps
  const sessions = createSessionRows(sending)
  const runs = createRunRows(sending)
  const waits = createWaitRows(sending)
  const messages = createMessageRows(sending)
  const log = createLogRows(sending)
  const routes = createList<Route>(sending, insertRoutes, ({ kind, id, session }) => [kind, id, session])
  const feed = createFeedRows(sending)
  const usage = createUsageRows(sending)
  const keys = createKeyRows(sending, seenKeys)
  const audit = createAuditRows(sending, deps)
  const collected = [routes, sessions, runs, waits, messages, log, feed, usage, keys, audit]
  const rare = createRareRows(sending, deps)
  const wholeLog = createWholeLog({ sql, sending, add: log.addPacked, flush })

  /** Sends what was collected. Call it before each read, so that the read sees it. */
  function flush(): void {
    for (const rows of collected) rows.flush()
    heads.flush(sending)
  }

  /** For changes of rows that may be among those that were collected. */
  function rarely(send: () => void): void {
    flush()
    send()
  }

  return {
    flush,
    /** Some changes have to read before they write. */
    write(change: Change): Promise<void> | void {
      switch (change.write) {
        case 'insert_session':
          heads.make(change.session.id)
          routes.add(...routesOfSession(change.session))
          sessions.insert(change.session)
          if (change.session.supervision !== undefined) rare.titleIsDue(change.session.id)
          return
        case 'update_session':
          sessions.update(change.id, change.patch)
          return
        case 'update_supervision':
          rarely(() => rare.updateSupervision(change.before, change.session))
          return
        case 'bury_session':
          rarely(() => rare.bury(change.session.id, change.at))
          return
        case 'remove_session':
          rarely(() => rare.remove(change.session.id))
          heads.drop(change.session.id)
          return

        case 'insert_run':
          runs.insert(change.run)
          routes.add(...routesOfRun(change.run))
          heads.setRun(change.run)
          sessions.addTokens(change.run.sessionId, tokensOf(change.run))
          return
        case 'update_run':
          runs.update(change.run)
          heads.setRun(change.run)
          sessions.addTokens(change.run.sessionId, tokensOf(change.run) - tokensOf(change.before))
          return
        case 'put_key':
          keys.put(change.owner, change.key, change.value)
          return

        case 'append_entries':
          log.append(change)
          heads.move(change.sessionId, change.firstSeq + change.entries.length - 1)
          return
        case 'import_entries':
          heads.move(change.sessionId, change.entries.at(-1)?.seq ?? 0)
          return wholeLog.insert(change.sessionId, change.entries)
        case 'compact_entries':
          return wholeLog.replace(change.sessionId, change.entries).then(() => {
            if (!change.isPart) rare.setCompacted(change.sessionId)
          })
        case 'insert_messages':
          messages.insert(change.sessionId, change.messages)
          return
        case 'supersede_messages':
          rarely(() => rare.supersede(change.sessionId, change.after, change.byRun))
          return

        case 'insert_wait':
          waits.insert(change.wait)
          routes.add(...routesOfWait(change.wait))
          return
        case 'update_wait':
          waits.update(change.wait)
          return
        case 'insert_checkpoint':
          routes.add(...routesOfCheckpoint(change.checkpoint))
          sending.send(...rowWriteOf(change))
          return

        case 'add_audit':
          return audit.add(change.records)
        case 'add_usage':
          for (const row of change.rows) usage.add(row)
          return
        case 'add_to_feed':
          feed.add(...change.items)
          return
        case 'remove_expired':
          rarely(() => rare.removeExpired(change))
          return
        case 'import_audit':
          rare.importAudit(change.entries)
          return
        default:
          sending.send(...rowWriteOf(change))
      }
    },
  }
}
