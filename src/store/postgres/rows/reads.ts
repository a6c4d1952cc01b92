// All reads of the store.

import type { Clock } from '../../../domain/clock.ts'
import type { StoreReads } from '../../store-reads.ts'
import { createSearchReads } from '../search.ts'
import type { Sql } from '../sql.ts'
import { createAuditReads } from './audit-table.ts'
import { createEntryReads } from './entry-table.ts'
import { createFeedReads } from './feed-table.ts'
import { createFileReads } from './file-table.ts'
import { createMessageReads } from './message-table.ts'
import { createOutboxReads } from './outbox-table.ts'
import { createRunReads } from './run-table.ts'
import { createSessionReads } from './session-table.ts'
import { createSupervisedReads } from './supervised-table.ts'
import { createUsageReads } from './usage-table.ts'
import { createGrantReads, createWaitReads } from './wait-table.ts'

export const createReads = (sql: Sql, clock: Pick<Clock, 'mono'>): StoreReads => ({
  ...createEntryReads(sql),
  sessions: createSessionReads(sql),
  messages: createMessageReads(sql),
  runs: createRunReads(sql),
  waits: createWaitReads(sql),
  grants: createGrantReads(sql),
  supervised: createSupervisedReads(sql),
  files: createFileReads(sql),
  feed: createFeedReads(sql),
  outbox: createOutboxReads(sql),
  audit: createAuditReads(sql),
  search: createSearchReads(sql, clock),
  usage: createUsageReads(sql),
})
