// Reads rows for the rules and writes their changes. A state depends only on the commands that were applied to it, so the objects
// of a command are never changed.

import { isSupervised, isWaiting } from '../../../src/domain/records/record.ts'
import type { StoredMessage } from '../../../src/domain/session/message.ts'
import type { RunRecord } from '../../../src/domain/session/run.ts'
import type { SessionRecord } from '../../../src/domain/session/session.ts'
import type { ChannelNote, QueuedDelivery } from '../../../src/domain/supervision/delivery.ts'
import { isOpen } from '../../../src/domain/supervision/supervision.ts'
import { unreachable } from '../../../src/domain/unreachable.ts'
import { EMPTY_CHAIN, nextEntry } from '../../../src/store/audit-chain.ts'
import { FEED_ITEMS, FEED_MS } from '../../../src/store/ports/feed.ts'
import { dayOf, USAGE_DAYS } from '../../../src/store/ports/usage.ts'
import type { Change, RowReads } from '../../../src/store/rules/rows.ts'
import { isOwned, patched } from '../../../src/store/rules/run-rules.ts'
import {
  headOf,
  instructionsOf,
  isGrantedAt,
  isShown,
  type MemorySession,
  type MemoryState,
  nameOf,
  openRunsOf,
  reserve,
} from './memory-state.ts'
import { usageKey } from './memory-usage.ts'

export function createRowReader(state: MemoryState): RowReads {
  const recordOf = (id: string | undefined): SessionRecord | null =>
    id === undefined ? null : (state.sessions.get(id)?.record ?? null)
  const messagesOf = (sessionId: string): StoredMessage[] => [
    ...(state.sessions.get(sessionId)?.messages.values() ?? []),
  ]

  return {
    session: recordOf,
    sessionByAlias: (owner, alias) => recordOf(state.aliases.get(nameOf(owner, alias))),
    sessionCount: () => [...state.sessions.values()].filter(({ record }) => record.status !== 'terminated').length,
    sessionsToPurge: ({ agent, elsewhere = false, before, unlistedBefore, limit }) =>
      [...state.sessions.values()]
        .filter(({ record }) => agent === undefined || (record.agent === agent && record.supervision === undefined))
        .filter(({ record }) => !elsewhere || record.supervision !== undefined)
        .filter(({ record: { unlisted, lastActivity, terminatedAt, supervision } }) =>
          unlisted
            ? supervision === undefined && lastActivity < unlistedBefore
            : Math.max(lastActivity, terminatedAt ?? 0) < (before ?? 0),
        )
        .filter(({ record }) => record.supervision === undefined || !isOpen(record.supervision))
        .filter((session) => openRunsOf(session).length === 0)
        .map(({ record }) => record)
        .sort((a, b) => a.lastActivity - b.lastActivity)
        .slice(0, limit),

    run: (id) => state.runs.get(id) ?? null,
    isExecuted(sessionId, runId, fence) {
      const run = state.runs.get(runId)
      return run?.sessionId === sessionId && isOwned(run, fence)
    },
    runByWireId: (sessionId, wireId) =>
      state.sessions.get(sessionId)?.runs.find((run) => run.wireId === wireId) ?? null,
    openRuns(sessionId) {
      const session = state.sessions.get(sessionId)
      return session === undefined ? [] : openRunsOf(session)
    },
    idempotencyKey: (owner, key) => state.idempotency.get(nameOf(owner, key)) ?? null,

    head(sessionId) {
      const session = state.sessions.get(sessionId)
      return session === undefined ? 0 : headOf(session)
    },
    nextSeq: (sessionId) => state.sessions.get(sessionId)?.nextSeq ?? 1,

    messageMarks(sessionId, ids) {
      const messages = state.sessions.get(sessionId)?.messages
      return ids.flatMap((id) => messages?.get(id) ?? [])
    },
    lastUserMessage: (sessionId) =>
      messagesOf(sessionId).findLast((message) => message.role === 'user' && isShown(message))?.id ?? null,
    newestOfLane: (sessionId, lane) =>
      messagesOf(sessionId).findLast((message) => message.lane === lane && message.supersededBy === undefined)?.id ??
      null,
    rolesAfter(sessionId, messageId) {
      const messages = messagesOf(sessionId)
      // An unknown one is `START`: everything follows it.
      const at = messages.findIndex(({ id }) => id === messageId)
      return messages
        .slice(at + 1)
        .filter(isShown)
        .map(({ role }) => role)
    },

    wait: (id) => state.waits.get(id) ?? null,
    pendingWaits: (runId) =>
      [...state.waits.values()].filter((wait) => wait.runId === runId && wait.status === 'pending'),
    unusedApprovals: (runId) =>
      [...state.waits.values()].flatMap((wait) =>
        wait.wait === 'approval' && wait.continuationRunId === runId && wait.status === 'approved' ? [wait] : [],
      ),
    pendingRecords: (sessionId) =>
      [...state.waits.values()].filter(isSupervised).filter((wait) => wait.sessionId === sessionId && isWaiting(wait)),
    openSupervised: () =>
      [...state.sessions.values()].flatMap(({ record: { id, owner, supervision } }) =>
        supervision !== undefined && isOpen(supervision) ? [{ id, owner }] : [],
      ),
    instruction: (id) => state.instructions.get(id) ?? null,
    waitingInstructions: ({ kind, sessionId, owner, workspaceRoot }) =>
      instructionsOf(state, {
        kind,
        ...(kind === 'steering' && sessionId !== null ? { sessionId } : { workspace: { owner, root: workspaceRoot } }),
        isWaiting: true,
        limit: Number.POSITIVE_INFINITY,
      }),
    hasGrant: (id) => state.grants.has(id),
    hasCheckpoint: (id) => state.checkpoints.has(id),
    note: (channel, key) => state.notes.find((one) => one.channel === channel && one.key === key) ?? null,
    hasUsage: (key) => state.usage.some((row) => usageKey(row) === usageKey(key)),
    auditEnd(chain) {
      const last = state.importedAudit.get(chain)?.at(-1)
      return last === undefined ? null : { ...last, isOwn: false }
    },
    file: (id) => state.files.get(id) ?? null,
    outbox: (channel) => state.outboxes.get(channel) ?? { cursor: null, deliveries: [] },
  }
}

export function writeRow(state: MemoryState, change: Change): void {
  switch (change.write) {
    case 'insert_session':
      insertSession(state, change.session)
      return
    case 'update_session': {
      const session = sessionOf(state, change.id)
      session.record = patched(session.record, change.patch)
      return
    }
    case 'update_supervision': {
      const { owner, lastActivity, lastTool, supervision } = change.session
      const session = sessionOf(state, change.session.id)
      session.record = {
        ...session.record,
        owner,
        lastActivity,
        lastTool,
        ...(supervision === undefined ? {} : { supervision }),
      }
      return
    }
    case 'bury_session': {
      const session = sessionOf(state, change.session.id)
      erase(state, session)
      removeNotes(state, ({ session: id }) => id === change.session.id)
      const { label: _, supervision: __, title: ___, failure: ____, ...rest } = session.record
      session.record = {
        ...rest,
        activeAgent: null,
        status: 'terminated',
        terminatedAt: change.at,
        lastTool: null,
        metadata: {},
        alias: null,
        messageCount: 0,
        state: undefined,
      }
      return
    }
    case 'remove_session':
      erase(state, sessionOf(state, change.session.id))
      removeNotes(state, ({ session: id }) => id === change.session.id)
      state.sessions.delete(change.session.id)
      return

    case 'insert_run': {
      const session = sessionOf(state, change.run.sessionId)
      state.runs.set(change.run.id, change.run)
      session.runs.push(change.run)
      reserve(session)
      return
    }
    case 'update_run':
      updateRun(state, change.run)
      return
    case 'put_key':
      state.idempotency.set(nameOf(change.owner, change.key), change.value)
      return

    case 'append_entries': {
      const session = sessionOf(state, change.sessionId)
      for (const [i, { kind, data }] of change.entries.entries()) {
        session.entries.push({ seq: change.firstSeq + i, runId: change.runId, kind, data })
      }
      session.nextSeq = change.firstSeq + change.entries.length
      reserve(session)
      return
    }
    case 'import_entries': {
      const session = sessionOf(state, change.sessionId)
      session.entries = [...change.entries]
      session.nextSeq = Math.max(headOf(session), ...session.runs.map((run) => run.lastSeq ?? 0)) + 1
      reserve(session)
      return
    }
    case 'compact_entries':
      compact(sessionOf(state, change.sessionId), change)
      return
    case 'insert_messages':
      for (const message of change.messages) insertMessage(sessionOf(state, change.sessionId), message)
      return
    case 'supersede_messages':
      supersede(sessionOf(state, change.sessionId), change.after, change.byRun)
      return

    case 'put_feedback':
      removeFeedback(state, change.sessionId, change.feedback)
      state.feedback.push({ sessionId: change.sessionId, ...change.feedback })
      return
    case 'remove_feedback':
      removeFeedback(state, change.sessionId, change)
      return

    case 'insert_wait':
    case 'update_wait':
      state.waits.set(change.wait.id, change.wait)
      return
    case 'put_proposal':
      state.proposals.set(change.proposal.approvalId, { ...change.proposal, sessionId: change.sessionId })
      return
    case 'insert_instruction':
    case 'update_instruction':
      state.instructions.set(change.instruction.id, change.instruction)
      return
    case 'insert_checkpoint':
      state.checkpoints.set(change.checkpoint.id, change.checkpoint)
      return
    case 'put_pin':
      state.pins.set(change.pin.workspaceRoot, change.pin)
      return
    case 'put_grant':
      state.grants.set(change.grant.id, change.grant)
      return
    case 'remove_grant':
      state.grants.delete(change.id)
      return
    case 'end_session_grants':
      endGrants(state, change.sessionId)
      return

    case 'insert_file':
      state.files.set(change.file.id, change.file)
      return
    case 'attach_files':
      for (const id of change.ids) {
        const file = state.files.get(id)
        if (file?.sessionId === null) state.files.set(id, { ...file, sessionId: change.sessionId })
      }
      return

    case 'put_outbox_cursor': {
      const deliveries = state.outboxes.get(change.channel)?.deliveries ?? []
      state.outboxes.set(change.channel, { cursor: change.n, deliveries })
      return
    }
    case 'put_delivery':
      changeOutbox(state, change.delivery.channel, change.delivery.n, change.delivery)
      return
    case 'remove_delivery':
      changeOutbox(state, change.channel, change.n, null)
      return
    case 'put_note':
      removeNotes(state, ({ channel, key }) => channel === change.note.channel && key === change.note.key)
      state.notes.push(change.note)
      return
    case 'remove_note':
      removeNotes(state, ({ channel, key }) => channel === change.channel && key === change.key)
      return

    case 'add_audit':
      for (const record of change.records) {
        const last = state.audit.at(-1)
        const end = last === undefined ? EMPTY_CHAIN : { ...last, head: last.hash }
        state.audit.push(nextEntry(end, JSON.stringify(record)))
      }
      return
    case 'import_audit':
      for (const entry of change.entries) {
        state.importedAudit.set(entry.chain, [...(state.importedAudit.get(entry.chain) ?? []), entry])
      }
      return
    case 'add_usage':
      state.usage.push(...change.rows)
      return
    case 'renew_lease':
      state.leases.set(change.owner, change.until)
      return
    case 'end_other_leases':
      for (const owner of [...state.leases.keys()]) if (owner !== change.owner) state.leases.delete(owner)
      return
    case 'add_to_feed':
      for (const item of change.items) {
        const n = (state.feed.at(-1)?.item.n ?? 0) + 1
        state.feed.push({ item: { ...item, n }, batch: state.batches })
      }
      return
    case 'remove_expired':
      removeExpired(state, change)
      return
    default:
      unreachable(change)
  }
}

function removeFeedback(state: MemoryState, sessionId: string, of: { messageId: string; by: string }): void {
  state.feedback = state.feedback.filter(
    (one) => one.sessionId !== sessionId || one.messageId !== of.messageId || one.by !== of.by,
  )
}

function removeNotes(state: MemoryState, isGone: (note: ChannelNote) => boolean): void {
  state.notes = state.notes.filter((note) => !isGone(note))
}

/** Puts the delivery in the place of the one with this number; null removes that. */
function changeOutbox(state: MemoryState, channel: string, n: number, delivery: QueuedDelivery | null): void {
  const outbox = state.outboxes.get(channel)
  if (outbox === undefined) throw new Error(`The rules change the outbox of ${channel}, which is not there.`)
  const others = outbox.deliveries.filter((one) => one.n !== n)
  const deliveries = delivery === null ? others : [...others, delivery].sort((a, b) => a.n - b.n)
  state.outboxes.set(channel, { ...outbox, deliveries })
}

function sessionOf(state: MemoryState, id: string): MemorySession {
  const session = state.sessions.get(id)
  if (session === undefined) throw new Error(`The rules change session ${id}, which does not exist.`)
  return session
}

function insertSession(state: MemoryState, record: SessionRecord): void {
  state.sessions.set(record.id, {
    record,
    entries: [],
    messages: new Map(),
    runs: [],
    nextSeq: 1,
    reservedTo: 0,
    compactedTo: 0,
  })
  if (record.alias !== null) state.aliases.set(nameOf(record.owner, record.alias), record.id)
}

function updateRun(state: MemoryState, run: RunRecord): void {
  const session = sessionOf(state, run.sessionId)
  state.runs.set(run.id, run)
  session.runs = session.runs.map((one) => (one.id === run.id ? run : one))
  reserve(session)
}

function compact(
  session: MemorySession,
  { entries: compacted, isPart }: Extract<Change, { write: 'compact_entries' }>,
): void {
  const entries = new Map(session.entries.map((entry) => [entry.seq, entry]))
  for (const entry of compacted) {
    for (const [seq] of entry.spans ?? []) entries.delete(seq)
    entries.set(entry.seq, entry)
  }
  if (!isPart) session.compactedTo = headOf(session)
  session.entries = [...entries.values()].sort((a, b) => a.seq - b.seq)
}

function insertMessage(session: MemorySession, message: StoredMessage): void {
  const known = session.messages.get(message.id)
  if (known === undefined) session.messages.set(message.id, message)
  else if (known.role === 'activity' && message.role === 'activity') {
    // It keeps its place and takes the new content.
    const { activity: _, ...rest } = known
    const { activity } = message
    session.messages.set(message.id, activity === undefined ? rest : { ...rest, activity })
  }
}

function supersede(session: MemorySession, after: string, byRun: string): void {
  let follows = !session.messages.has(after)
  for (const message of session.messages.values()) {
    if (follows && message.supersededBy === undefined) {
      session.messages.set(message.id, { ...message, supersededBy: byRun })
    }
    follows ||= message.id === after
  }
}

function erase(state: MemoryState, session: MemorySession): void {
  const { id, owner, alias } = session.record
  if (alias !== null) state.aliases.delete(nameOf(owner, alias))
  const runIds = new Set(session.runs.map((run) => run.id))
  for (const [name, { runId }] of state.idempotency) if (runIds.has(runId)) state.idempotency.delete(name)
  for (const runId of runIds) state.runs.delete(runId)
  for (const [waitId, { sessionId }] of state.waits) if (sessionId === id) state.waits.delete(waitId)
  endGrants(state, id)
  state.feedback = state.feedback.filter(({ sessionId }) => sessionId !== id)
  for (const [fileId, { sessionId }] of state.files) if (sessionId === id) state.files.delete(fileId)
  for (const one of [state.proposals, state.instructions, state.checkpoints]) {
    for (const [key, { sessionId }] of one) if (sessionId === id) one.delete(key)
  }
  session.entries = []
  session.messages.clear()
  session.runs = []
}

function endGrants(state: MemoryState, id: string): void {
  for (const [grantId, { sessionId }] of state.grants) if (sessionId === id) state.grants.delete(grantId)
}

function removeExpired(state: MemoryState, { now, unsentBefore }: Extract<Change, { write: 'remove_expired' }>): void {
  for (const [name, { expiresAt }] of state.idempotency) if (expiresAt <= now) state.idempotency.delete(name)
  for (const [id, grant] of state.grants) if (!isGrantedAt(grant, now)) state.grants.delete(id)
  for (const [id, { sessionId, createdAt }] of state.files) {
    if (sessionId === null && createdAt < unsentBefore) state.files.delete(id)
  }
  state.usage = state.usage.filter(({ day }) => day >= dayOf(now) - USAGE_DAYS)
  // The newest item stays, because the next number follows it.
  const young = state.feed.findIndex(({ item }) => item.at >= now - FEED_MS)
  const old = Math.max(young < 0 ? state.feed.length : young, state.feed.length - FEED_ITEMS)
  state.feed.splice(0, Math.min(old, state.feed.length - 1))
}
