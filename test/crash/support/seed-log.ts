import { join } from 'node:path'
import { createIds } from '../../../src/domain/ids.ts'
import { LOCAL_USER } from '../../../src/domain/session/session.ts'
import { createSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'

const EVENTS_PER_SESSION = 1_000

/** Fills a data directory with finished conversations through the store. Returns how many bytes of text they hold. */
export async function seedLog(dataDir: string, events: number): Promise<number> {
  const ids = createIds(Date.now)
  const store = createSqliteStore({
    path: join(dataDir, 'quarterdeck.db'),
    fatal(error) {
      throw error
    },
  })
  let bytes = 0
  for (let done = 0; done < events; done += EVENTS_PER_SESSION) {
    const now = Date.now()
    const [id, runId, messageId] = [ids.uuid(), ids.uuid(), ids.uuid()]
    const delta = JSON.stringify({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta: 'A word or two. ', timestamp: now })
    bytes += delta.length * EVENTS_PER_SESSION
    const { results } = await store.commit([
      {
        type: 'import_session',
        session: {
          id,
          owner: LOCAL_USER,
          agent: 'crash',
          activeAgent: null,
          status: 'active',
          createdAt: now,
          lastActivity: now,
          terminatedAt: null,
          lastTool: null,
          metadata: {},
          alias: null,
          messageCount: 0,
          state: undefined,
          unlisted: false,
        },
        runs: [
          {
            id: runId,
            sessionId: id,
            owner: LOCAL_USER,
            agent: 'crash',
            wireId: runId,
            parentRunId: null,
            status: 'completed',
            origin: 'reader',
            input: { messages: [], instructions: [], context: [], clientTools: [] },
            createdAt: now,
            startedAt: now,
            finishedAt: now,
            usage: [],
            error: null,
            cancelRequested: false,
            firstSeq: 1,
            lastSeq: EVENTS_PER_SESSION,
            fence: 1,
            leaseOwner: null,
          },
        ],
        messages: [],
        entries: Array.from({ length: EVENTS_PER_SESSION }, (_, i) => ({
          seq: i + 1,
          runId,
          kind: 'event' as const,
          data: delta,
        })),
      },
    ])
    const refused = results.find((result) => !result.ok)
    if (refused !== undefined && !refused.ok) throw refused.error
  }
  await store.close()
  return bytes
}
