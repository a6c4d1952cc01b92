import type { Fact } from '../../domain/session/entry.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { StoredEntry } from '../../store/ports/journal.ts'
import type { Store } from '../../store/store.ts'
import type { Stop } from './run-scope.ts'

const READ_BATCH = 1_000

/** What a run has written since it began. */
export async function runEntries(store: Pick<Store, 'entries'>, run: RunRecord): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = []
  let after = (run.firstSeq ?? 1) - 1
  for (;;) {
    const page = await store.entries(run.sessionId, after, READ_BATCH)
    entries.push(...page.filter((entry) => entry.runId === run.id))
    const last = page.at(-1)
    if (last === undefined || page.length < READ_BATCH) return entries
    after = last.seq
  }
}

/**
 * The request to stop a run, if the store has one. It may have come through another process, so the store is the only place to
 * look.
 */
export async function requestedStop(
  store: Pick<Store, 'entries' | 'runs'>,
  runId: string,
): Promise<Extract<Stop, { kind: 'cancelled' }> | null> {
  const run = await store.runs.get(runId)
  if (run === null || !run.cancelRequested) return null
  return { kind: 'cancelled', by: requestedBy(await runEntries(store, run)) }
}

/** Who asked the run to stop. A request that came before the run began is not among its entries. */
function requestedBy(entries: readonly StoredEntry[]): string {
  for (const { kind, data } of entries.toReversed()) {
    if (kind !== 'fact') continue
    const fact: Fact = JSON.parse(data)
    if (fact.fact === 'cancel_requested') return fact.by
  }
  return 'request'
}
