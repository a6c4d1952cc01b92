// Fills the store of a server that does not run yet: 10,000 sessions, a conversation of 10,000 messages, 10,000 audit entries, and a
// session with 100,000 events.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { seed } from '../../../bench/seed.ts'
import { LOCAL_USER } from '../../../src/domain/session/session.ts'
import type { AuditRecord } from '../../../src/domain/supervision/audit.ts'
import { createSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'

export const MANY = 10_000
/** The session with `EVENTS` events. */
export const LONG_SESSION = '01940000-0000-7000-8000-0000000fffff'
export const EVENTS = 100_000

export async function seedMany(dataDir: string): Promise<void> {
  const store = createSqliteStore({
    path: join(dataDir, 'quarterdeck.db'),
    fatal(error) {
      throw error
    },
  })
  const now = Date.now()
  await seed(store, { sessions: MANY, history: MANY }, now)
  const audit = Array.from({ length: MANY }, (_, i): AuditRecord => auditRecord(now - MANY + i, i))
  for (let from = 0; from < MANY; from += 500) {
    const { results } = await store.commit([{ type: 'add_audit', audit: audit.slice(from, from + 500) }])
    for (const result of results) if (!result.ok) throw result.error
  }
  await addLongSession(store, now)
  await store.close()
}

const auditRecord = (at: number, i: number): AuditRecord => ({
  ...{ at, kind: 'operator_list', by: `operator-${i % 7}`, session: null, run: null, agent: '', tool: '', call: null },
  details: { what: 'sessions', page: i },
})

async function addLongSession(store: Pick<ReturnType<typeof createSqliteStore>, 'commit'>, now: number): Promise<void> {
  const [runId, messageId] = [randomUUID(), randomUUID()]
  const thread = { threadId: LONG_SESSION, runId }
  const delta = { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: 'A word or two. ' }
  const events = [
    { type: 'RUN_STARTED', ...thread },
    { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
    ...Array.from({ length: EVENTS - 4 }, () => delta),
    { type: 'TEXT_MESSAGE_END', messageId },
    { type: 'RUN_FINISHED', ...thread },
  ]
  const { results } = await store.commit([
    {
      type: 'import_session',
      session: {
        ...{ id: LONG_SESSION, owner: LOCAL_USER, agent: 'helper', activeAgent: null, status: 'active' },
        ...{ createdAt: now - 1_000_000, lastActivity: now, terminatedAt: null, lastTool: null, metadata: {} },
        ...{ alias: null, messageCount: 0, state: undefined, unlisted: false },
      },
      runs: [
        {
          ...{ id: runId, sessionId: LONG_SESSION, owner: LOCAL_USER, agent: 'helper', wireId: runId },
          ...{ parentRunId: null, status: 'completed', origin: 'reader' },
          input: { messages: [], instructions: [], context: [], clientTools: [] },
          ...{ createdAt: now - 1_000_000, startedAt: now - 1_000_000, finishedAt: now, usage: [], error: null },
          ...{ cancelRequested: false, firstSeq: 1, lastSeq: EVENTS, fence: 1, leaseOwner: null },
        },
      ],
      messages: [],
      entries: events.map((event, i) => ({
        ...{ seq: i + 1, runId, kind: 'event' as const },
        data: JSON.stringify({ ...event, timestamp: now - 1_000_000 + i * 10 }),
      })),
    },
  ])
  for (const result of results) if (!result.ok) throw result.error
}
