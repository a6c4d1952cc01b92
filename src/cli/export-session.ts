import type { SessionRecord } from '../domain/session.ts'
import type { Store, StoredEntry } from '../store/store.ts'
import type { ArchivedSession } from './session-archive.ts'

const PAGE = 1000

/** All that the store knows about a session: log, runs, and every message, superseded ones too. */
export async function exportSession(store: Store, session: SessionRecord): Promise<ArchivedSession> {
  const entries: StoredEntry[] = []
  for (;;) {
    const page = await store.entries(session.id, entries.at(-1)?.seq ?? 0, PAGE)
    entries.push(...page)
    if (page.length < PAGE) break
  }
  const runs = await store.runs(session.id)
  return { session, runs, messages: await store.allMessages(session.id), entries }
}
