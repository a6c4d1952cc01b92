// Writes the changes that the rules decided, inside the transaction of `decision-group.ts`. The rows of the tables that every run
// writes to are collected (`rows/`), and those of all commands are sent with one statement for each table.

import { tokensOf } from '../../../domain/session/run.ts'
import type { Change } from '../../rules/rows.ts'
import { isRowChange, type OtherWrites, rowWriteOf } from '../../tables/row-writes.ts'
import { type Route, routeOf, routesOfRun, routesOfSession } from '../rows/route.ts'
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

  const writes: OtherWrites<Promise<void> | void> = {
    insert_session({ session }) {
      heads.make(session.id)
      routes.add(...routesOfSession(session))
      sessions.insert(session)
      if (session.supervision !== undefined) rare.titleIsDue(session.id)
    },
    update_session: ({ id, patch }) => sessions.update(id, patch),
    update_supervision: ({ before, session }) => rarely(() => rare.updateSupervision(before, session)),
    bury_session: ({ session, at }) => rarely(() => rare.bury(session.id, at)),
    remove_session({ session }) {
      rarely(() => rare.remove(session.id))
      heads.drop(session.id)
    },

    insert_run({ run }) {
      runs.insert(run)
      routes.add(...routesOfRun(run))
      heads.setRun(run)
      sessions.addTokens(run.sessionId, tokensOf(run))
    },
    update_run({ before, run }) {
      runs.update(run)
      heads.setRun(run)
      sessions.addTokens(run.sessionId, tokensOf(run) - tokensOf(before))
    },
    put_key: ({ owner, key, value }) => keys.put(owner, key, value),

    append_entries(change) {
      log.append(change)
      heads.move(change.sessionId, change.firstSeq + change.entries.length - 1)
    },
    import_entries({ sessionId, entries }) {
      heads.move(sessionId, entries.at(-1)?.seq ?? 0)
      return wholeLog.insert(sessionId, entries)
    },
    async compact_entries({ sessionId, entries, isPart }) {
      await wholeLog.replace(sessionId, entries)
      if (!isPart) rare.setCompacted(sessionId)
    },
    insert_messages: ({ sessionId, messages: added }) => messages.insert(sessionId, added),
    supersede_messages: ({ sessionId, after, byRun }) => rarely(() => rare.supersede(sessionId, after, byRun)),

    insert_wait({ wait }) {
      waits.insert(wait)
      routes.add(routeOf('wait', wait))
    },
    update_wait: ({ wait }) => waits.update(wait),

    add_audit: ({ records }) => audit.add(records),
    add_usage({ rows }) {
      for (const row of rows) usage.add(row)
    },
    add_to_feed: ({ items }) => feed.add(...items),
    remove_expired: (change) => rarely(() => rare.removeExpired(change)),
    import_audit: ({ entries }) => rare.importAudit(entries),
  }

  return {
    flush,
    /** Some changes have to read before they write. */
    write(change: Change): Promise<void> | void {
      if (change.write === 'insert_checkpoint') routes.add(routeOf('checkpoint', change.checkpoint))
      if (isRowChange(change)) return sending.send(...rowWriteOf(change))
      return (writes[change.write] as (change: Change) => Promise<void> | void)(change)
    },
  }
}
