// A session as the store has it, with everything that belongs to it, in the form of an archive.

import { pageByPage } from '../../../domain/page-by-page.ts'
import { present } from '../../../domain/present.ts'
import type { AnyRecord } from '../../../domain/records/record.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { ChannelNote } from '../../../domain/supervision/delivery.ts'
import type { Grant } from '../../../domain/supervision/grant.ts'
import {
  agentsProposalId,
  type Instruction,
  type PolicyPin,
  type Proposal,
} from '../../../domain/supervision/supervision.ts'
import { canonicalJson } from '../../../json/digest.ts'
import type { StoredEntry } from '../../../store/ports/journal.ts'
import type { UsageRow } from '../../../store/ports/usage.ts'
import type { StoreReads } from '../../../store/store.ts'
import type { ArchivedSession } from './session-archive.ts'

const PAGE = 1000
const PAGE_CHARS = 1_000_000
/** More than a session ever has. */
const ALL = 1_000_000

/** All of it but the log. What a session does not have is left out. */
export async function storedParts(
  store: StoreReads,
  session: SessionRecord,
): Promise<Omit<ArchivedSession, 'session' | 'entries'>> {
  const { id: sessionId, supervision } = session
  const [runs, messages] = [await store.runs.list(sessionId), await store.messages.all(sessionId)]
  const waits = await waitsOf(store, sessionId)
  const parts = {
    files: await store.files.ofSession(sessionId),
    notes: await store.outbox.notesOf(sessionId),
    feedback: await store.messages.feedback(sessionId),
    ...(supervision === undefined
      ? {}
      : {
          proposals: await proposalsOf(store, waits),
          instructions: await store.supervised.instructions({ sessionId, limit: ALL }),
          checkpoints: (await store.supervised.checkpoints({ sessionId, limit: ALL })).reverse(),
        }),
  }
  const there = Object.entries(parts).filter(([, records]) => records.length > 0)
  return { runs, messages, waits, ...Object.fromEntries(there) }
}

/** The log in pages: it can be larger than the memory should be. */
export async function* storedEntries(store: StoreReads, sessionId: string): AsyncGenerator<StoredEntry[]> {
  let seq = 0
  for (;;) {
    const page = await store.entries(sessionId, seq, PAGE, PAGE_CHARS)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    seq = last.seq
  }
}

/** Oldest first. */
async function waitsOf(store: StoreReads, sessionId: string): Promise<AnyRecord[]> {
  const newestFirst = pageByPage<AnyRecord>(PAGE, (before) =>
    store.waits.list({ sessionId, limit: PAGE, ...present({ before }) }),
  )
  const waits: AnyRecord[] = []
  for await (const wait of newestFirst) waits.push(wait)
  return waits.reverse()
}

async function proposalsOf(store: StoreReads, waits: readonly AnyRecord[]): Promise<Proposal[]> {
  const found: Proposal[] = []
  for (const wait of waits) {
    if (wait.wait !== 'approval' || (wait.kind !== 'diff' && wait.kind !== 'changes')) continue
    for (const id of [wait.id, agentsProposalId(wait.id)]) {
      const proposal = await store.supervised.proposal(id)
      if (proposal !== null) found.push(proposal)
    }
  }
  return found
}

/** What the store has in the place of an archived record that belongs to no session. Null: nothing. */
export const findersIn = (store: StoreReads) => ({
  grant: ({ id }: Grant) => store.grants.get(id),
  pin: ({ workspaceRoot }: PolicyPin) => store.supervised.pin(workspaceRoot),
  usage: (row: UsageRow) => store.usage.row(row),
  note: ({ channel, key }: ChannelNote) => store.outbox.note(channel, key),
  async task({ id, owner, workspaceRoot: root }: Instruction): Promise<Instruction | null> {
    const known = await store.supervised.instructions({ workspace: { owner, root }, limit: ALL })
    return known.find((one) => one.id === id) ?? null
  },
})

/** What differs between an archived session and the stored one, by the names of the parts. Null: there is no such session. */
export async function differences(store: StoreReads, archived: ArchivedSession): Promise<string[] | null> {
  const session = await store.sessions.get(archived.session.id)
  if (session === null || session.status === 'terminated') return null
  const entries: StoredEntry[] = []
  for await (const page of storedEntries(store, session.id)) entries.push(...page)
  const stored = comparable({ session, entries, ...(await storedParts(store, session)) })
  const wanted = comparable(archived)
  const names = [...new Set([...Object.keys(stored), ...Object.keys(wanted)])]
  return names.filter((name) => canonicalJson(stored[name] ?? []) !== canonicalJson(wanted[name] ?? [])).sort()
}

function comparable({ session, proposals = [], ...parts }: ArchivedSession): Record<string, unknown> {
  // A store counts the messages itself.
  const { messageCount: _, ...record } = session
  return { session: record, ...parts, proposals: proposals.map(asText) }
}

const asText = ({ after, ...rest }: Proposal) => ({
  ...rest,
  after: after === null ? null : Buffer.from(after).toString('base64'),
})

/** As one line in pieces. `readArchiveLine` reads it. */
export async function* sessionLine(store: StoreReads, session: SessionRecord): AsyncGenerator<string> {
  const { runs, messages, proposals, ...more } = await storedParts(store, session)
  yield `{"session":${JSON.stringify(session)},"runs":${JSON.stringify(runs)},"messages":${JSON.stringify(messages)}`
  yield ',"entries":['
  let separator = ''
  for await (const page of storedEntries(store, session.id)) {
    yield `${separator}${page.map((entry) => JSON.stringify(entry)).join(',')}`
    separator = ','
  }
  yield ']'
  for (const [name, records] of Object.entries(more)) yield `,"${name}":${JSON.stringify(records)}`
  if (proposals !== undefined) yield `,"proposals":${JSON.stringify(proposals.map(asText))}`
  yield '}\n'
}
