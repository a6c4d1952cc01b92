// Fills the store of a server that is not running, through the store's own port, as `sessions import` would.
//   node bench/seed.ts --data-dir D [--sessions 100000] [--history 10000 [--copies 1]]

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { factText } from '../src/domain/session/entry.ts'
import type { StoredMessage } from '../src/domain/session/message.ts'
import type { RunRecord } from '../src/domain/session/run.ts'
import { LOCAL_USER } from '../src/domain/session/session.ts'
import type { StoredEntry } from '../src/store/ports/journal.ts'
import type { ImportSession } from '../src/store/ports/sessions.ts'
import { createSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../src/store/store.ts'

export interface SeedPlan {
  /** Sessions of one exchange each, named `seed-0`, `seed-1`, … */
  sessions: number
  /** Messages in the session named `HISTORY_THREAD`. 0: there is no such session. */
  history: number
  /** More sessions with as many messages, named `seed-history-0`, `seed-history-1`, … */
  copies?: number
}

export const HISTORY_THREAD = 'seed-history'

const AGENT = 'bench'
const SESSIONS_PER_COMMIT = 200
const QUESTION = 'What did we say about the harbour, the tide tables and the order of the watches? '.repeat(2)
const ANSWER =
  'The tide turns at four, the second watch has the deck, and the pilot comes aboard off the mole. '.repeat(8)
/** Younger than the sessions' time to live, so that the server does not compact them during the measurement. */
const SPREAD_MS = 600_000

export async function seed(store: Pick<Store, 'commit'>, plan: SeedPlan, now: number): Promise<void> {
  const { copies = 0 } = plan
  if (plan.history > 0) await importAll(store, [sessionOf(HISTORY_THREAD, -1, plan.history / 2, now)])
  for (let copy = 0; copy < copies; copy += 1) {
    await importAll(store, [sessionOf(`${HISTORY_THREAD}-${copy}`, plan.sessions + copy, plan.history / 2, now)])
  }
  for (let from = 0; from < plan.sessions; from += SESSIONS_PER_COMMIT) {
    const size = Math.min(SESSIONS_PER_COMMIT, plan.sessions - from)
    const at = now - Math.floor((SPREAD_MS * (plan.sessions - from)) / plan.sessions)
    await importAll(
      store,
      Array.from({ length: size }, (_, index) => sessionOf(`seed-${from + index}`, from + index, 1, at)),
    )
  }
}

async function importAll(store: Pick<Store, 'commit'>, commands: ImportSession[]): Promise<void> {
  const { results, synced } = await store.commit(commands)
  for (const result of results) if (!result.ok) throw result.error
  await synced
}

function sessionOf(alias: string, number: number, exchanges: number, at: number): ImportSession {
  const id = uuid(0, number)
  const runs: RunRecord[] = []
  const messages: StoredMessage[] = []
  const entries: StoredEntry[] = []
  for (let exchange = 0; exchange < exchanges; exchange += 1) {
    const runId = uuid(exchange + 1, number)
    const wireId = `${alias}-run-${exchange}`
    const question = { id: `${alias}-${exchange}-q`, role: 'user' as const, content: QUESTION }
    const answer = { id: `${alias}-${exchange}-a`, role: 'assistant' as const, content: ANSWER }
    messages.push({ ...question, runId, createdAt: at }, { ...answer, runId, createdAt: at, agentName: AGENT })
    const events = [
      { type: 'RUN_STARTED', threadId: alias, runId: wireId },
      { type: 'TEXT_MESSAGE_START', messageId: answer.id, role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: answer.id, delta: ANSWER },
      { type: 'TEXT_MESSAGE_END', messageId: answer.id },
      { type: 'RUN_FINISHED', threadId: alias, runId: wireId },
    ]
    const firstSeq = entries.length + 2
    entries.push({
      seq: entries.length + 1,
      runId,
      kind: 'fact',
      data: factText({ fact: 'run_accepted', run: runId, message_ids: [question.id], at }),
    })
    for (const event of events)
      entries.push({ seq: entries.length + 1, runId, kind: 'event', data: JSON.stringify(event) })
    runs.push({
      id: runId,
      sessionId: id,
      owner: LOCAL_USER,
      agent: AGENT,
      wireId,
      parentRunId: null,
      status: 'completed',
      origin: 'reader',
      input: { messages: [question], instructions: [], context: [], clientTools: [] },
      createdAt: at,
      startedAt: at,
      finishedAt: at,
      usage: [],
      error: null,
      cancelRequested: false,
      firstSeq,
      lastSeq: entries.length,
      fence: 1,
      leaseOwner: null,
    })
  }
  return {
    type: 'import_session',
    session: {
      id,
      owner: LOCAL_USER,
      agent: AGENT,
      activeAgent: null,
      status: 'active',
      createdAt: at,
      lastActivity: at,
      terminatedAt: null,
      lastTool: null,
      metadata: {},
      alias,
      messageCount: messages.length,
      state: undefined,
      unlisted: false,
    },
    runs,
    messages,
    entries,
  }
}

/** A UUIDv7 from 2025, so that it differs from every id that the server makes. The numbers make it unique. */
function uuid(kind: number, number: number): string {
  const low = (number + 1).toString(16).padStart(12, '0')
  return `0194${kind.toString(16).padStart(4, '0')}-0000-7000-8000-${low}`
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      'data-dir': { type: 'string' },
      sessions: { type: 'string', default: '0' },
      history: { type: 'string', default: '0' },
      copies: { type: 'string', default: '0' },
    },
  })
  if (values['data-dir'] === undefined) throw new Error('Name the data directory: --data-dir D')
  const store = createSqliteStore({
    path: join(values['data-dir'], 'quarterdeck.db'),
    fatal: (error) => {
      throw error
    },
  })
  const plan = { sessions: Number(values.sessions), history: Number(values.history), copies: Number(values.copies) }
  await seed(store, plan, Date.now())
  await store.close()
}
