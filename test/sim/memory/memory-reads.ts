// All reads of the memory store. The results may share parts with the state: `memory-store.ts` returns copies.

import { type AnyRecord, isSupervisedApproval, isWaiting } from '../../../src/domain/records/record.ts'
import { type StoredMessage, textOf } from '../../../src/domain/session/message.ts'
import { isFinished, type RunRecord, tokensOf } from '../../../src/domain/session/run.ts'
import { excerptOf, hasTerms, searchedSupervision, searchedText } from '../../../src/domain/session/search-words.ts'
import type { SessionRecord } from '../../../src/domain/session/session.ts'
import {
  activityOf,
  MOST_COUNTED,
  type SessionOverview,
  titleOf,
} from '../../../src/domain/session/session-overview.ts'
import { type AuditEntry, MAIN_CHAIN } from '../../../src/domain/supervision/audit.ts'
import type { StoredEntry } from '../../../src/store/ports/journal.ts'
import { MOST_ASIDE_CHARS, MOST_ASIDES, MOST_LOOKED_AT } from '../../../src/store/ports/messages.ts'
import {
  HITS_OF_A_SESSION,
  type SearchHit,
  type SearchPage,
  type SearchQuery,
} from '../../../src/store/ports/search.ts'
import type { SessionQuery } from '../../../src/store/ports/sessions.ts'
import type { StoreReads } from '../../../src/store/store.ts'
import type { MemoryDisk } from './memory-disk.ts'
import {
  headOf,
  instructionsOf,
  isGrantedAt,
  isShown,
  type MemorySession,
  type MemoryState,
  nameOf,
  openRunsOf,
} from './memory-state.ts'
import { memoryUsage } from './memory-usage.ts'

/** The same reads without promises. */
type AtOnce<Port> = {
  [K in keyof Port]: Port[K] extends (...args: infer Args) => Promise<infer Answer>
    ? (...args: Args) => Answer
    : AtOnce<Port[K]>
}

/** Few, so that runs meet the limit. */
const MOST_NEWS = 8

export function createMemoryReads(state: MemoryState, disk: Pick<MemoryDisk, 'synced'>): AtOnce<StoreReads> {
  const recordOf = (id: string | undefined): SessionRecord | null =>
    id === undefined ? null : (state.sessions.get(id)?.record ?? null)

  return {
    entries: (sessionId, seq, limit, maxChars) =>
      firstChars(entriesAfter(state.sessions.get(sessionId)?.entries ?? [], seq, limit), maxChars),

    entriesBefore: (sessionId, seq, limit, maxChars) =>
      firstChars(
        (state.sessions.get(sessionId)?.entries ?? [])
          .filter((entry) => entry.seq < seq)
          .reverse()
          .slice(0, limit),
        maxChars,
      ),

    head(sessionId) {
      const session = state.sessions.get(sessionId)
      return session === undefined ? 0 : headOf(session)
    },

    news: (after) =>
      new Map(
        [...after].flatMap(([id, seq]) => {
          const session = state.sessions.get(id)
          if (session === undefined || session.record.status === 'terminated') return []
          const entries = entriesAfter(session.entries, seq, MOST_NEWS + 1)
          return [[id, entries.length > MOST_NEWS ? null : entries]]
        }),
      ),

    sessions: {
      get: recordOf,
      byAlias: (owner, alias) => recordOf(state.aliases.get(nameOf(owner, alias))),

      list: ({ order = 'newest', limit, before, ...query }) => {
        const newest = foundBy(state, query).sort((a, b) => newestFirst(a.record, b.record))
        const tokensIn = ({ runs }: MemorySession) => runs.reduce((sum, run) => sum + tokensOf(run), 0)
        // A list by tokens is one by the newest activity in which the tokens stand in its place.
        const placed = newest.map((session) => {
          const { id, lastActivity } = session.record
          return { session, place: { id, lastActivity: order === 'tokens' ? tokensIn(session) : lastActivity } }
        })
        const compare = order === 'oldest' ? (a: Place, b: Place) => newestFirst(b, a) : newestFirst
        const after = before && (order === 'tokens' ? { id: before.id, lastActivity: before.tokens ?? 0 } : before)
        return placed
          .slice(0, order === 'tokens' ? MOST_COUNTED : undefined)
          .filter(({ place }) => after === undefined || compare(place, after) > 0)
          .sort((a, b) => compare(a.place, b.place))
          .slice(0, limit)
          .map(({ session: { record } }) => ({ ...record, state: undefined }))
      },
      countFound: (query) => Math.min(MOST_COUNTED, foundBy(state, query).length),

      overview: (ids) =>
        ids.flatMap((id) => {
          const session = state.sessions.get(id)
          return session === undefined || session.record.status === 'terminated' ? [] : [overviewOf(state, session)]
        }),

      count: (since) =>
        [...state.sessions.values()].filter(
          ({ record }) =>
            record.status !== 'terminated' && Math.max(record.lastActivity, record.lastRead ?? 0) >= since,
        ).length,

      toCompact: (before, limit) =>
        [...state.sessions.values()]
          .filter((session) => session.record.lastActivity < before && isToCompact(session))
          .slice(0, limit)
          .map((session) => session.record.id),
    },

    runs: {
      get: (id) => state.runs.get(id) ?? null,
      byWireId: (sessionId, wireId) => state.sessions.get(sessionId)?.runs.find((run) => run.wireId === wireId) ?? null,
      byKey: (owner, key) => state.runs.get(state.idempotency.get(nameOf(owner, key))?.runId ?? '') ?? null,
      ofOwner: (owner, wireId) =>
        [...state.runs.values()].findLast((run) => run.owner === owner && run.wireId === wireId) ?? null,

      list: (sessionId) => [...(state.sessions.get(sessionId)?.runs ?? [])],
      latest(sessionId, limit, before) {
        const runs = state.sessions.get(sessionId)?.runs ?? []
        const end = before === undefined ? runs.length : runs.findIndex(({ id }) => id === before)
        return runs
          .slice(0, Math.max(0, end))
          .reverse()
          .slice(0, limit)
          .map(({ input: _input, ...summary }) => summary)
      },
      open(sessionId) {
        const session = state.sessions.get(sessionId)
        return session === undefined ? [] : openRunsOf(session)
      },

      owned: (leaseOwner) =>
        [...state.runs.values()]
          .filter((run) => run.status === 'running' && run.leaseOwner === leaseOwner)
          .map(({ id, sessionId, fence, cancelRequested }) => ({ id, sessionId, fence, cancelRequested })),

      orphans: (now, limit) =>
        [...state.sessions.values()].flatMap((session) => orphansOf(session, state.leases, now)).slice(0, limit),
    },

    messages: {
      page(sessionId, limit, { before, maxChars = Number.POSITIVE_INFINITY, asides = false } = {}) {
        const all = [...(state.sessions.get(sessionId)?.messages.values() ?? [])]
        const end =
          before === undefined
            ? all.length
            : Math.max(
                0,
                all.findIndex((message) => message.id === before),
              )
        const newest = limit === 0 ? [] : all.slice(0, end).filter(isShown).slice(-limit)
        let chars = 0
        const cut = newest.findLastIndex(({ content }) => {
          chars += typeof content === 'string' ? content.length : JSON.stringify(content).length
          return chars >= maxChars
        })
        const found = newest.slice(Math.max(0, cut))
        const [oldest] = found
        if (!asides || oldest === undefined) return found
        const since = all.slice(all.indexOf(oldest), end).filter(({ supersededBy }) => supersededBy === undefined)
        const newestAsides = since.filter((message) => !isShown(message)).slice(-MOST_ASIDES)
        let asideChars = 0
        const asideCut = newestAsides.findLastIndex((message) => {
          asideChars += JSON.stringify(message).length
          return asideChars >= MOST_ASIDE_CHARS
        })
        const beside = new Set(newestAsides.slice(Math.max(0, asideCut)))
        return since.filter((message) => isShown(message) || beside.has(message))
      },

      ofLane(sessionId, lane, limit) {
        const all = [...(state.sessions.get(sessionId)?.messages.values() ?? [])]
        const said = all.filter((message) => message.lane === lane && message.supersededBy === undefined)
        return limit === 0 ? [] : said.slice(-limit)
      },
      all: (sessionId) => [...(state.sessions.get(sessionId)?.messages.values() ?? [])],
      marks(sessionId, ids) {
        const wanted = new Set(ids)
        const all = [...(state.sessions.get(sessionId)?.messages.values() ?? [])]
        return all
          .filter(({ id }) => wanted.has(id))
          .map(({ id, lane, supersededBy }) => ({
            id,
            ...(lane === undefined ? {} : { lane }),
            ...(supersededBy === undefined ? {} : { supersededBy }),
          }))
      },
      lastWords: (of) =>
        of.map(({ sessionId, at }) => {
          const all = [...(state.sessions.get(sessionId)?.messages.values() ?? [])]
          const newest = all.filter((one) => isShown(one) && one.createdAt <= at).slice(-MOST_LOOKED_AT)
          const asked = newest.findLastIndex(({ role, content }) => role === 'user' && content !== '')
          const said = newest.slice(asked + 1).findLast(({ role, content }) => role === 'assistant' && content !== '')
          const wordsOf = (message: StoredMessage | undefined) => {
            if (message === undefined) return null
            const text = textOf(message.content)
            if (text.length <= 16_384) return text
            return text === message.content && !text.startsWith('\u0001') ? text.slice(0, 400) : null
          }
          return { user: wordsOf(newest[asked]), agent: wordsOf(said) }
        }),
      userSpokeAfter(sessionId, messageId) {
        const all = [...(state.sessions.get(sessionId)?.messages.values() ?? [])]
        const at = all.findIndex(({ id }) => id === messageId)
        return at >= 0 && all.slice(at + 1).some((message) => message.role === 'user' && isShown(message))
      },
      feedback: (sessionId) =>
        state.feedback
          .filter((one) => one.sessionId === sessionId)
          .map(({ sessionId: _, ...feedback }) => feedback)
          .sort((a, b) => a.at - b.at || (nameOf(a.messageId, a.by) < nameOf(b.messageId, b.by) ? -1 : 1)),
      sessionWithAnswer: (messageId) =>
        [...state.sessions.values()].findLast(({ messages }) => messages.get(messageId)?.role === 'assistant')?.record
          .id ?? null,
      known(sessionId, ids) {
        const messages = state.sessions.get(sessionId)?.messages
        return [...new Set(ids)].flatMap((id) => messages?.get(id) ?? [])
      },
    },

    waits: {
      get: (id) => state.waits.get(id) ?? null,
      list: ({ limit, before, ...query }) =>
        [...state.waits.values()]
          .filter((wait) => query.wait === undefined || wait.wait === query.wait)
          .filter((wait) => query.sessionId === undefined || wait.sessionId === query.sessionId)
          .filter((wait) => query.runId === undefined || wait.runId === query.runId)
          .filter((wait) => query.continuationRunId === undefined || wait.continuationRunId === query.continuationRunId)
          .filter((wait) => query.owner === undefined || wait.owner === query.owner)
          .filter((wait) => query.status === undefined || wait.status === query.status)
          .filter((wait) => query.isWaiting !== true || isWaiting(wait))
          .filter((wait) => query.isDone !== true || !isWaiting(wait))
          .map((wait) => ({ wait, id: wait.id, createdAt: query.isDone === true ? doneAt(wait) : wait.createdAt }))
          .filter((place) => before === undefined || byAge(before, place) > 0)
          .sort((a, b) => byAge(b, a))
          .slice(0, limit)
          .map(({ wait }) => wait),
      expired: (now, limit) =>
        [...state.waits.values()]
          .filter(({ status, expiresAt }) => status === 'pending' && expiresAt !== null && expiresAt <= now)
          .sort((a, b) => (a.expiresAt ?? 0) - (b.expiresAt ?? 0))
          .slice(0, limit),
    },

    grants: {
      get: (id) => state.grants.get(id) ?? null,
      list: ({ now, agent, sessionId }) =>
        [...state.grants.values()]
          .filter((grant) => isGrantedAt(grant, now))
          .filter((grant) => agent === undefined || grant.agent === agent)
          .filter((grant) => sessionId === undefined || grant.sessionId === null || grant.sessionId === sessionId)
          .sort(byAge),
    },

    supervised: {
      sessions: ({ owner, workspaceRoot, tokenId, mcpConnection, connectionFrom = '', statuses, limit }) =>
        [...state.sessions.values()]
          .map(({ record }) => record)
          .filter(({ supervision, unlisted }) => supervision !== undefined && !unlisted)
          .filter((record) => owner === undefined || record.owner === owner)
          .filter(({ supervision }) => workspaceRoot === undefined || supervision?.workspaceRoot === workspaceRoot)
          .filter(({ supervision }) => tokenId === undefined || supervision?.tokenId === tokenId)
          .filter(({ supervision }) => supervision?.connectionId?.startsWith(connectionFrom) ?? connectionFrom === '')
          .filter(
            ({ supervision }) =>
              mcpConnection === undefined || supervision?.mcp?.some(({ id }) => id === mcpConnection) === true,
          )
          .filter(
            ({ supervision }) =>
              statuses === undefined || (supervision !== undefined && statuses.includes(supervision.status)),
          )
          .sort(newestFirst)
          .slice(0, limit)
          .map((record) => ({ ...record, state: undefined })),
      proposal(approvalId) {
        const found = state.proposals.get(approvalId)
        return found === undefined ? null : { approvalId, diff: found.diff, after: found.after }
      },
      unapplied: (limit) =>
        [...state.waits.values()]
          .filter(isSupervisedApproval)
          .filter(({ kind, status, supervised }) => {
            const isOpen = supervised.appliedAt === null && supervised.notApplied === undefined
            return kind === 'diff' && status === 'consumed' && isOpen
          })
          .sort(byAge)
          .slice(0, limit),
      instructions: (query) => instructionsOf(state, query),
      checkpoint: (id) => state.checkpoints.get(id) ?? null,
      checkpoints: ({ sessionId, owner, limit }) =>
        [...state.checkpoints.values()]
          .filter((one) => sessionId === undefined || one.sessionId === sessionId)
          .filter((one) => owner === undefined || one.owner === owner)
          .reverse()
          .slice(0, limit),
      pin: (workspaceRoot) => state.pins.get(workspaceRoot) ?? null,
      pins: () => [...state.pins.values()].sort((a, b) => (a.workspaceRoot < b.workspaceRoot ? -1 : 1)),
    },

    files: {
      get: (id) => state.files.get(id) ?? null,
      ofSession: (sessionId) => [...state.files.values()].filter((file) => file.sessionId === sessionId),
      unsent(owner) {
        const unsent = [...state.files.values()].filter((file) => file.owner === owner && file.sessionId === null)
        const byHash = new Map(unsent.map(({ sha256, bytes }) => [sha256, bytes]))
        return {
          files: unsent.length,
          bytes: byHash.values().reduce((sum, bytes) => sum + bytes, 0),
          oldest: unsent.length === 0 ? null : Math.min(...unsent.map(({ createdAt }) => createdAt)),
        }
      },
      knownHashes(hashes) {
        const held = new Set(state.files.values().map(({ sha256 }) => sha256))
        return [...new Set(hashes)].filter((hash) => held.has(hash))
      },
    },

    feed: {
      items: (after, limit) =>
        state.feed
          .filter(({ item, batch }) => batch <= disk.synced && item.n > after)
          .slice(0, limit)
          .map(({ item }) => item),
      head: () => state.feed.findLast(({ batch }) => batch <= disk.synced)?.item.n ?? 0,
      oldest: () => state.feed[0]?.item.n ?? 1,
    },

    outbox: {
      cursor: (channel) => state.outboxes.get(channel)?.cursor ?? null,
      deliveries: (channel) => state.outboxes.get(channel)?.deliveries ?? [],
      note: (channel, key) => state.notes.find((one) => one.channel === channel && one.key === key) ?? null,
      notesOf: (sessionId) =>
        state.notes
          .filter((one) => one.session === sessionId)
          .sort((a, b) => (nameOf(a.channel, a.key) < nameOf(b.channel, b.key) ? -1 : 1)),
      notes: (channel) => state.notes.filter((one) => one.channel === channel).sort((a, b) => (a.key < b.key ? -1 : 1)),
    },

    search: {
      find(query) {
        const all = foundSessions(state, query)
        const from = query.before === undefined ? 0 : Number(query.before)
        const found = all.slice(from, from + query.limit)
        const next = all.length > from + query.limit ? String(from + query.limit) : null
        return { found, next, isComplete: true }
      },
    },

    usage: {
      sums: (query) => memoryUsage(state.usage).sums(query),
      ofSessions: (ids) => memoryUsage(state.usage).ofSessions(ids),
      totals: (range) => memoryUsage(state.usage).totals(range),
      rows: (after, limit) => memoryUsage(state.usage).rows(after, limit),
      row: (key) => memoryUsage(state.usage).row(key),
    },

    audit: {
      chains: () => [MAIN_CHAIN, ...[...state.importedAudit.keys()].sort()],
      ends: () =>
        [MAIN_CHAIN, ...state.importedAudit.keys()].sort().flatMap((chain) => chainOf(state, chain).slice(-1)),
      // Entry n has index n - 1.
      entries: (n, limit, chain = MAIN_CHAIN) => chainOf(state, chain).slice(n, n + limit),
      newest: (n, limit, chain = MAIN_CHAIN) =>
        chainOf(state, chain)
          .slice(0, n === null ? undefined : n - 1)
          .slice(-limit)
          .reverse(),
    },
  }
}

const chainOf = (state: MemoryState, chain: string): readonly AuditEntry[] =>
  chain === MAIN_CHAIN ? state.audit : (state.importedAudit.get(chain) ?? [])

function foundBy(
  state: MemoryState,
  { owner, label, agent, kind, activity, feedback, since, until, unlisted = false }: Omit<SessionQuery, 'limit'>,
): MemorySession[] {
  const rated = new Set(state.feedback.filter(({ value }) => value === feedback).map(({ sessionId }) => sessionId))
  return [...state.sessions.values()]
    .filter((session) => activity === undefined || overviewOf(state, session).activity === activity)
    .filter(({ record }) => agent === undefined || record.agent === agent)
    .filter(({ record }) => feedback === undefined || rated.has(record.id))
    .filter(({ record }) => kind === undefined || (record.supervision === undefined) === (kind === 'chat'))
    .filter(({ record }) => since === undefined || record.lastActivity >= since)
    .filter(({ record }) => until === undefined || record.lastActivity <= until)
    .filter(({ record }) => record.status !== 'terminated' && (unlisted || !record.unlisted))
    .filter(({ record }) => owner === undefined || record.owner === owner)
    .filter(({ record }) => label === undefined || (record.label ?? null) === label)
}

const doneAt = (wait: AnyRecord): number => ('decidedAt' in wait ? wait.decidedAt : null) ?? wait.createdAt

function overviewOf(state: MemoryState, session: MemorySession): SessionOverview {
  const { record, runs, messages } = session
  const pending = [...state.waits.values()].filter((wait) => wait.sessionId === record.id && isWaiting(wait)).length
  const supervised = record.supervision?.status ?? null
  const first = [...messages.values()]
    .filter(isShown)
    .slice(0, 10)
    .find(({ role }) => role === 'user')
  const isRunning = runs.some(({ status }) => status === 'running')
  const hasQueued = runs.some(({ status }) => status === 'queued')
  const failure = record.failure ?? null
  return {
    id: record.id,
    title:
      record.title ?? titleOf(supervised === null ? textOf(first?.content ?? '') : (record.supervision?.title ?? '')),
    activity: activityOf({ supervised, isRunning, hasQueued, pending, failure }),
    failure,
    pending,
    tokens: runs.reduce((sum, run) => sum + tokensOf(run), 0),
    elsewhere: record.supervision ?? null,
  }
}

/** Titles first, then by the newest message that was found. */
function foundSessions(
  state: MemoryState,
  { terms, owner, agent, since = 0, until = Number.POSITIVE_INFINITY }: SearchQuery,
): SearchPage['found'] {
  const isWanted = (text: string | null, at: number): text is string =>
    text !== null && at >= since && at <= until && hasTerms(terms, text)
  if (terms.length === 0) return []
  return [...state.sessions.values()]
    .filter(({ record }) => record.status !== 'terminated' && !record.unlisted)
    .filter(({ record }) => (owner ?? record.owner) === record.owner && (agent ?? record.agent) === record.agent)
    .flatMap(({ record, messages }) => {
      const title = record.supervision === undefined ? null : searchedSupervision(record.supervision)
      const ofTitle: SearchHit[] = isWanted(title, record.createdAt)
        ? [{ messageId: null, role: null, at: record.createdAt, ...excerptOf(terms, title) }]
        : []
      const ofMessages = [...messages.values()].reverse().flatMap((message): SearchHit[] => {
        const text = message.supersededBy === undefined ? searchedText(message) : null
        if (!isWanted(text, message.createdAt)) return []
        return [{ messageId: message.id, role: message.role, at: message.createdAt, ...excerptOf(terms, text) }]
      })
      const hits = [...ofTitle, ...ofMessages.slice(0, HITS_OF_A_SESSION)]
      return hits.length === 0 ? [] : [{ session: { ...record, state: undefined }, hits }]
    })
    .reverse()
    .sort(({ hits: [a] }, { hits: [b] }) => {
      const byTitle = Number(b?.messageId === null) - Number(a?.messageId === null)
      return byTitle || (b?.at ?? 0) - (a?.at ?? 0)
    })
}

function entriesAfter(entries: readonly StoredEntry[], seq: number, limit: number): StoredEntry[] {
  // Readers page through long logs, so this is a binary search.
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle]?.seq ?? 0) > seq) high = middle
    else low = middle + 1
  }
  return entries.slice(low, low + limit)
}

function firstChars(entries: StoredEntry[], maxChars = Number.POSITIVE_INFINITY): StoredEntry[] {
  let chars = 0
  const enough = entries.findIndex(({ data }) => {
    chars += data.length
    return chars >= maxChars
  })
  return enough < 0 ? entries : entries.slice(0, enough + 1)
}

/** Oldest first. */
const byAge = (a: { createdAt: number; id: string }, b: { createdAt: number; id: string }): number =>
  a.createdAt - b.createdAt || (a.id === b.id ? 0 : a.id < b.id ? -1 : 1)

type Place = NonNullable<SessionQuery['before']>

const newestFirst = (a: Place, b: Place): number =>
  b.lastActivity - a.lastActivity || (a.id === b.id ? 0 : a.id < b.id ? 1 : -1)

const isToCompact = (session: MemorySession): boolean =>
  openRunsOf(session).length === 0 &&
  session.runs.some((run) => isFinished(run.status) && (run.lastSeq ?? 0) > session.compactedTo)

function orphansOf(session: MemorySession, leases: ReadonlyMap<string, number>, now: number): RunRecord[] {
  const isLive = (run: RunRecord): boolean => run.leaseOwner !== null && (leases.get(run.leaseOwner) ?? 0) > now
  // Only the first open run can be an orphan: the others wait behind it.
  const first = openRunsOf(session)[0]
  if (first === undefined || first.status === 'waiting' || (first.status === 'running' && isLive(first))) return []
  return [first]
}
