// All reads of the store.

import type { Clock } from '../../../domain/clock.ts'
import type { StoreReads } from '../../store.ts'
import { createFileReads } from '../../tables/files.ts'
import { createGrantReads } from '../../tables/grants.ts'
import { createOutboxReads } from '../../tables/outbox.ts'
import type { Statement } from '../../tables/statement.ts'
import { createSupervisedReads, toProposal } from '../../tables/supervised.ts'
import { createUsageReads } from '../../tables/usage.ts'
import { createWaitReads } from '../../tables/waits.ts'
import { createReading, type Sql } from '../sql.ts'
import { createAuditReads } from './audit-table.ts'
import { createEntryReads } from './entry-table.ts'
import { createFeedReads } from './feed-table.ts'
import { createMessageReads } from './message-table.ts'
import { sessionOfRoute } from './route.ts'
import { createRunReads } from './run-table.ts'
import { createSearchReads } from './search-table.ts'
import { createSessionReads, createSupervisedSessions } from './session-table.ts'

export function createReads(sql: Sql, clock: Pick<Clock, 'mono'>): StoreReads {
  const reading = createReading(sql)
  return {
    ...createEntryReads(sql),
    sessions: createSessionReads(sql, reading),
    messages: createMessageReads(reading),
    runs: createRunReads(reading),
    waits: createWaitReads(reading),
    grants: createGrantReads(reading),
    supervised: createSupervisedReads(reading, {
      sessions: createSupervisedSessions(reading),
      proposal: reading.one(proposalById, toProposal),
    }),
    files: createFileReads(reading),
    feed: createFeedReads(reading),
    outbox: createOutboxReads(reading),
    audit: createAuditReads(reading),
    search: createSearchReads(sql, clock),
    usage: createUsageReads(reading, {
      place: 'session_id, day, owner, agent, provider, model',
      values: '$2, $1, $3, $4, $5, $6',
    }),
  }
}

const proposalById: Statement = {
  name: 'proposal_by_id',
  // What the agent proposed is kept under a name that begins with the id of the approval.
  text: `SELECT approval_id, diff, after FROM proposals
    WHERE session = ${sessionOfRoute('wait', "split_part($1, '/', 1)")} AND approval_id = $1`,
}
