import type { SessionRecord } from '../../../domain/session.ts'
import type { Wait } from '../../../domain/wait.ts'
import type { StoredEntry } from '../../../store/ports/entry.ts'
import type { StoreReads } from '../../../store/store-reads.ts'
import type { ArchivedSession } from './session-archive.ts'

const PAGE = 1000

/** All that the store knows about a session: log, runs, what they waited for, and every message, superseded ones too. */
export async function exportSession(store: StoreReads, listed: SessionRecord): Promise<ArchivedSession> {
  // A list gives sessions without their state.
  const session = (await store.sessions.get(listed.id)) ?? listed
  const entries: StoredEntry[] = []
  for (;;) {
    const page = await store.entries(session.id, entries.at(-1)?.seq ?? 0, PAGE)
    entries.push(...page)
    if (page.length < PAGE) break
  }
  const runs = await store.runs.list(session.id)
  const messages = await store.messages.all(session.id)
  return { session, runs, messages, entries, waits: await waitsOf(store, session.id) }
}

/** Oldest first. What was granted in the session is not among them: a yes holds where it was given. */
async function waitsOf(store: StoreReads, sessionId: string): Promise<Wait[]> {
  const waits: Wait[] = []
  for (;;) {
    const before = waits.at(-1)
    const page = await store.waits.list({ sessionId, limit: PAGE, ...(before === undefined ? {} : { before }) })
    waits.push(...page)
    if (page.length < PAGE) return waits.reverse()
  }
}
