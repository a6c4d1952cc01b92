// Rules for whole sessions (create, change, remove, compact) and for uploaded files.

import { messageNotFound, sessionNotFound } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import { SUMMARIES } from '../../domain/session/summary.ts'
import { isOpen } from '../../domain/supervision/supervision.ts'
import type { AddFile } from '../ports/files.ts'
import type {
  CompactSession,
  CreateSession,
  DeleteSession,
  FeedbackChange,
  NewSummary,
  PurgeSessions,
  SessionCommand,
  UpdateSession,
} from '../ports/sessions.ts'
import { conflict, findSession, taken } from './find-rows.ts'
import { ask, type Change, type Decision, done, type Rule, type RulesOf } from './rows.ts'
import { appendTo, patched } from './run-rules.ts'
import { usageBesideRuns } from './usage-rows.ts'

export function* refuseTaken({ id, owner, alias }: SessionRecord): Rule<void> {
  const isTaken = (yield* ask('session', id)) !== null
  if (isTaken || (alias !== null && (yield* ask('sessionByAlias', owner, alias)) !== null)) {
    throw taken('session', JSON.stringify(isTaken ? id : alias))
  }
}

function* createSession({ session }: CreateSession): Rule<Decision> {
  yield* refuseTaken(session)
  return { result: { ok: true, firstSeq: 0, session }, changes: [{ write: 'insert_session', session }] }
}

function* updateSession(command: UpdateSession): Rule<Decision> {
  const { sessionId, lastRead, title, metadata, state, feedback, summary, entries = [] } = command
  const session = yield* findSession(sessionId)
  if (session.status === 'terminated') throw sessionNotFound(sessionId)
  const patch = present({ lastRead, title, metadata, state })
  const changes: Change[] = Object.keys(patch).length > 0 ? [{ write: 'update_session', id: sessionId, patch }] : []
  if (feedback !== undefined) changes.push(yield* feedbackChange(sessionId, feedback))
  if (summary !== undefined) changes.push(...(yield* summaryChanges(session, summary)))
  const firstSeq = yield* appendTo(changes, { sessionId, id: null }, entries)
  return { result: { ok: true, firstSeq, session: patched(session, patch) }, changes }
}

function* summaryChanges(session: SessionRecord, summary: NewSummary): Rule<Change[]> {
  const { message, upTo, after } = summary
  const sessionId = session.id
  if ((yield* ask('newestOfLane', sessionId, SUMMARIES)) !== after) throw conflict('Another summary was quicker.')
  const [covered] = yield* ask('messageMarks', sessionId, [upTo])
  if (covered === undefined || covered.supersededBy !== undefined) {
    throw conflict('The conversation has branched off before the end of what this summary covers.')
  }
  const write: Change = { write: 'insert_messages', sessionId, messages: [message] }
  const rows = usageBesideRuns(session, summary)
  return rows.length === 0 ? [write] : [write, { write: 'add_usage', rows }]
}

function* feedbackChange(sessionId: string, { value, ...given }: FeedbackChange): Rule<Change> {
  const { messageId, by } = given
  if ((yield* ask('messageMarks', sessionId, [messageId])).length === 0) throw messageNotFound(messageId)
  if (value === null) return { write: 'remove_feedback', sessionId, messageId, by }
  return { write: 'put_feedback', sessionId, feedback: { ...given, value } }
}

function* deleteSession({ sessionId, now }: DeleteSession): Rule<Decision> {
  const session = yield* ask('session', sessionId)
  if (session === null || session.status === 'terminated') return done([])
  if ((yield* ask('openRuns', sessionId)).length > 0) {
    throw conflict('The session has an open run. End the run, then delete the session.')
  }
  const { supervision } = session
  // The program of a hosted agent is ours, and ends with its session.
  if (supervision !== undefined && supervision.hosted === undefined && isOpen(supervision)) {
    throw conflict('An agent elsewhere works in this session. Terminate the session, then delete it.')
  }
  return done([{ write: 'bury_session', session, at: now }])
}

function* purgeSessions(command: PurgeSessions): Rule<Decision> {
  const { now, unsentBefore } = command
  const due = yield* ask('sessionsToPurge', command)
  return {
    result: { ok: true, firstSeq: 0, count: due.length },
    changes: [
      { write: 'remove_expired', now, unsentBefore },
      ...due.map((session): Change => ({ write: 'remove_session', session })),
    ],
  }
}

function* compactSession({ sessionId, head, entries, isPart = false }: CompactSession): Rule<Decision> {
  yield* findSession(sessionId)
  const isIdle = (yield* ask('openRuns', sessionId)).length === 0
  if (!isIdle || (yield* ask('head', sessionId)) !== head) {
    throw conflict('The session has changed since its log was read for compaction.')
  }
  return done([{ write: 'compact_entries', sessionId, entries, isPart }])
}

function* addFile({ file }: AddFile): Rule<Decision> {
  const { id, sessionId, owner } = file
  const session = sessionId === null ? null : yield* ask('session', sessionId)
  if (sessionId !== null && (session?.owner !== owner || session.status === 'terminated')) {
    throw sessionNotFound(sessionId)
  }
  if ((yield* ask('file', id)) !== null) throw taken('file', id)
  return done([{ write: 'insert_file', file }])
}

export const sessionRules: RulesOf<SessionCommand | AddFile> = {
  create_session: createSession,
  update_session: updateSession,
  delete_session: deleteSession,
  purge_sessions: purgeSessions,
  compact_session: compactSession,
  add_file: addFile,
}
