// What is written when a run begins: its RUN_STARTED, and the messages it brings.

import { AG_UI_VERSION, type RunEventOf } from '../../domain/event.ts'
import type { StoredMessage } from '../../domain/message.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { RunStart } from '../../store/ports/runs.ts'
import { type Middleware, middlewareScope } from '../middleware/middleware.ts'
import { toWireMessage } from './messages-snapshot.ts'

export function runStart(run: RunRecord, session: SessionRecord, now: number, middleware: Middleware | null): RunStart {
  const messages = messagesOf(run, now)
  const started = startedEvent(run, session, messages, now)
  const scope = middlewareScope(run)
  // The first event of a run can be changed but not dropped.
  const event = middleware?.(started, scope) ?? started
  return {
    entries: [{ kind: 'event', data: JSON.stringify(event) }],
    messages,
    ...(run.input.state === undefined ? {} : { state: run.input.state }),
    ...(run.input.regenerateAfter === undefined ? {} : { supersedeAfter: run.input.regenerateAfter }),
  }
}

/** As they are stored when the run begins. */
export const messagesOf = (run: RunRecord, now: number): StoredMessage[] =>
  run.input.messages.map((message) => ({ ...message, runId: run.id, createdAt: now }))

/** `input` shows watchers what was asked: only the messages that are new, for the history is theirs already. */
export function startedEvent(
  run: RunRecord,
  session: SessionRecord,
  messages: readonly StoredMessage[],
  timestamp: number,
): RunEventOf<'RUN_STARTED'> {
  const threadId = run.input.wireThreadId ?? session.alias ?? session.id
  const parent = run.parentRunId === null ? {} : { parentRunId: run.parentRunId }
  return {
    type: 'RUN_STARTED',
    threadId,
    runId: run.wireId,
    protocolVersion: AG_UI_VERSION,
    ...parent,
    // 0.x readers want the lists to be there.
    input: {
      threadId,
      runId: run.wireId,
      ...parent,
      messages: messages.map(toWireMessage),
      tools: [],
      context: [],
      state: {},
    },
    timestamp,
  }
}
