// The commands of sessions. Each checks its guard before it changes anything, so that a refused one leaves no trace.

import { ServerError } from '../../../src/domain/errors.ts'
import type { SessionRecord } from '../../../src/domain/session.ts'
import type {
  CompactSession,
  CreateSession,
  DeleteSession,
  ImportSession,
  PurgeSessions,
  UpdateSession,
} from '../../../src/store/ports/sessions.ts'
import { removeUnsentFiles } from './apply-file.ts'
import { isGrantedAt } from './apply-wait.ts'
import {
  addSession,
  type Done,
  findSession,
  headOf,
  insertMessages,
  type MemorySession,
  type MemoryState,
  nameOf,
  openRunsOf,
  reserve,
  touch,
} from './memory-state.ts'

export function createSession(state: MemoryState, command: CreateSession): Done {
  return { ok: true, firstSeq: 0, session: addSession(state, command.session).record }
}

export function updateSession(state: MemoryState, command: UpdateSession): Done {
  const session = findSession(state, command.sessionId)
  if (command.lastActivity !== undefined) touch(session, command.lastActivity)
  if (command.metadata !== undefined) session.record.metadata = command.metadata
  if (command.state !== undefined) session.record.state = command.state
  return { ok: true, firstSeq: 0, session: session.record }
}

export function deleteSession(state: MemoryState, command: DeleteSession): Done {
  const session = state.sessions.get(command.sessionId)
  if (session === undefined || session.record.status === 'terminated') return { ok: true, firstSeq: 0 }
  if (openRunsOf(session).length > 0) {
    throw new ServerError('conflict', 'The session has an open run; stop it, then delete the session.')
  }
  erase(state, session)
  delete session.record.label
  Object.assign(session.record, {
    activeAgent: null,
    status: 'terminated',
    terminatedAt: command.now,
    lastTool: null,
    metadata: {},
    alias: null,
    messageCount: 0,
    state: undefined,
  } satisfies Partial<SessionRecord>)
  return { ok: true, firstSeq: 0 }
}

export function purgeSessions(state: MemoryState, command: PurgeSessions): Done {
  let count = 0
  for (const session of [...state.sessions.values()]) {
    const { id, agent, unlisted, terminatedAt, lastActivity } = session.record
    if (command.agent !== undefined && command.agent !== agent) continue
    const before = unlisted ? command.unlistedBefore : command.before
    if (count === command.limit) break
    if (before === null || (terminatedAt ?? lastActivity) >= before || openRunsOf(session).length > 0) continue
    erase(state, session)
    state.sessions.delete(id)
    count += 1
  }
  for (const [name, { expiresAt }] of state.idempotency) {
    if (expiresAt <= command.now) state.idempotency.delete(name)
  }
  for (const [id, grant] of state.grants) if (!isGrantedAt(grant, command.now)) state.grants.delete(id)
  removeUnsentFiles(state, command.unsentBefore)
  return { ok: true, firstSeq: 0, count }
}

function erase(state: MemoryState, session: MemorySession): void {
  const { owner, alias } = session.record
  if (alias !== null) state.aliases.delete(nameOf(owner, alias))
  for (const [name, { runId }] of state.idempotency) {
    if (session.runs.some((run) => run.id === runId)) state.idempotency.delete(name)
  }
  for (const run of session.runs) state.runs.delete(run.id)
  for (const [id, wait] of state.waits) if (wait.sessionId === session.record.id) state.waits.delete(id)
  for (const [id, grant] of state.grants) if (grant.sessionId === session.record.id) state.grants.delete(id)
  for (const [id, file] of state.files) if (file.sessionId === session.record.id) state.files.delete(id)
  session.entries = []
  session.messages.clear()
  session.runs = []
}

export function compactSession(state: MemoryState, command: CompactSession): Done {
  const session = findSession(state, command.sessionId)
  if (headOf(session) !== command.head || openRunsOf(session).length > 0) {
    throw new ServerError('conflict', 'The session went on while it was compacted.')
  }
  const entries = new Map(session.entries.map((entry) => [entry.seq, entry]))
  for (const entry of command.entries) {
    for (const [seq] of entry.spans ?? []) entries.delete(seq)
    entries.set(entry.seq, entry)
  }
  session.entries = [...entries.values()].sort((a, b) => a.seq - b.seq)
  session.compactedTo = command.head
  return { ok: true, firstSeq: 0 }
}

export function importSession(state: MemoryState, command: ImportSession): Done {
  if (command.runs.some((run) => state.runs.has(run.id))) {
    throw new ServerError('conflict', 'A run of the imported session exists already in another one.')
  }
  if (command.waits?.some((wait) => state.waits.has(wait.id))) {
    throw new ServerError('conflict', 'A wait of the imported session exists already in another one.')
  }
  const session = addSession(state, { ...command.session, messageCount: 0 })
  for (const wait of command.waits ?? []) state.waits.set(wait.id, wait)
  session.entries = [...command.entries]
  session.runs = command.runs.map((run) => ({ ...run }))
  for (const run of session.runs) state.runs.set(run.id, run)
  insertMessages(session, command.messages)
  session.nextSeq = Math.max(headOf(session), ...session.runs.map((run) => run.lastSeq ?? 0)) + 1
  reserve(session)
  return { ok: true, firstSeq: 0, session: session.record }
}
