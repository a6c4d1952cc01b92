// Everything that can be read from a store, for tests that compare stores.

import { parseSearch } from '../../domain/session/search-words.ts'
import { sessionActivities } from '../../domain/session/session-overview.ts'
import { usageGroups } from '../ports/usage.ts'
import type { Store } from '../store.ts'
import type { RandomCommands } from './random-commands.contract.ts'
import { auditRecords, searchAll } from './samples.contract.ts'

const MANY = 1_000
/** Where seqs go on after a run had no owner depends on the store, so dumps and results are compared without them. */
const SEQS = new Set(['seq', 'head', 'firstSeq', 'lastSeq'])

export function withoutSeqs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSeqs)
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, SEQS.has(key) ? one === 0 : withoutSeqs(one)]),
  )
}

const LAST_DAY = 1_000_000

type Ids = ReturnType<RandomCommands['ids']>

export async function dumpOf(store: Store, ids: Ids, now: number) {
  const sessions: Record<string, unknown> = {}
  for (const id of ids.sessions) sessions[id] = await sessionDump(store, id)
  const all = await store.sessions.list({ limit: MANY, unlisted: true })
  const lists: Record<string, unknown> = {}
  for (const activity of sessionActivities)
    lists[activity] = idsOf(await store.sessions.list({ activity, limit: MANY }))
  const [middle] = all.slice(Math.floor(all.length / 2))
  const before = middle === undefined ? {} : { before: middle }
  for (const [name, query] of Object.entries({
    listed: {},
    ann: { owner: 'ann' },
    labelled: { owner: 'bob', label: 'one' },
    unlabelled: { owner: 'bob', label: null },
    agent: { agent: 'other', kind: 'chat' as const },
    elsewhere: { kind: 'supervised' as const, unlisted: true },
    page: { ...before, unlisted: true },
  })) {
    lists[name] = idsOf(await store.sessions.list({ ...query, limit: MANY }))
  }
  const finds: Record<string, unknown> = {}
  for (const query of ['quick fox', '"brown fox"', 'zuri', '東京', 'one', 'half', 'line '])
    finds[query] = await searchAll(store, { terms: parseSearch(query), limit: MANY })
  return {
    sessions,
    all,
    lists,
    finds,
    overview: await store.sessions.overview(ids.sessions),
    count: await store.sessions.count(now - 100_000),
    toCompact: (await store.sessions.toCompact(now, MANY)).sort(),
    runs: await Promise.all(ids.runs.map((id) => store.runs.get(id))),
    orphans: await store.runs.orphans(now, MANY),
    waits: await Promise.all(ids.waits.map((id) => store.waits.get(id))),
    waitLists: [
      await store.waits.list({ limit: MANY }),
      await store.waits.list({ limit: MANY, isWaiting: true }),
      await store.waits.list({ limit: MANY, isDone: true }),
      await store.waits.list({ limit: 5, wait: 'approval', owner: 'ann' }),
    ],
    expired: idsOf(await store.waits.expired(now, MANY)),
    grants: await store.grants.list({ now }),
    files: await Promise.all(ids.files.map((id) => store.files.get(id))),
    unsent: await store.files.unsent('ann'),
    hashes: (await store.files.knownHashes(['a', 'b', 'c'])).sort(),
    supervised: await store.supervised.sessions({ limit: MANY }),
    inWorkspace: idsOf(
      await store.supervised.sessions({
        limit: MANY,
        workspaceRoot: '/srv/shop',
        tokenId: 'token',
        statuses: ['active'],
      }),
    ),
    unapplied: await store.supervised.unapplied(MANY),
    instructions: await store.supervised.instructions({ limit: MANY }),
    checkpoints: await store.supervised.checkpoints({ limit: MANY }),
    pin: await store.supervised.pin('/srv/shop'),
    audit: await auditRecords(store),
    usage: await Promise.all(usageGroups.map((by) => store.usage.sums({ from: 0, to: LAST_DAY, by, limit: 3 }))),
    feed: await store.feed.items(0, 10 * MANY),
    outbox: await Promise.all(
      ['slack', 'push'].map(async (channel) => ({
        cursor: await store.outbox.cursor(channel),
        deliveries: await store.outbox.deliveries(channel),
        notes: (await store.outbox.notes(channel)).sort((a, b) => (a.key < b.key ? -1 : 1)),
      })),
    ),
  }
}

const idsOf = (records: readonly { id: string }[]): string[] => records.map(({ id }) => id)

async function sessionDump(store: Store, id: string) {
  const messages = await store.messages.all(id)
  const runs = await store.runs.list(id)
  const session = await store.sessions.get(id)
  return {
    session,
    byAlias: session?.alias == null ? null : (await store.sessions.byAlias(session.owner, session.alias))?.id,
    head: await store.head(id),
    entries: await store.entries(id, 0, MANY),
    backwards: await store.entriesBefore(id, Number.MAX_SAFE_INTEGER, 5),
    short: await store.entries(id, 1, MANY, 300),
    messages,
    page: await store.messages.page(id, 3, { asides: true, maxChars: 6_000 }),
    older: await store.messages.page(id, 2, { before: messages.at(-1)?.id }),
    lane: await store.messages.ofLane(id, 'sub', 2),
    runs,
    open: await store.runs.open(id),
    latest: await store.runs.latest(id, 2, runs.at(-1)?.id ?? 'none'),
    wires: await Promise.all(runs.map((run) => store.runs.byWireId(id, run.wireId))),
    owners: await Promise.all(runs.map((run) => store.runs.ofOwner(run.owner, run.wireId))),
    waits: await store.waits.list({ sessionId: id, limit: MANY }),
    files: await store.files.ofSession(id),
    spoke: await store.messages.userSpokeAfter(id, messages[0]?.id ?? ''),
  }
}
