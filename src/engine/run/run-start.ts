// What is written when a run begins: its RUN_STARTED, and the messages that it brings.

import { present } from '../../domain/present.ts'
import { AG_UI_VERSION, type RunEventOf } from '../../domain/session/event.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { RunStart } from '../../store/ports/runs.ts'
import type { Store } from '../../store/store.ts'
import { toWireMessage } from '../loop/messages-snapshot.ts'
import { type Middleware, middlewareScope } from '../middleware/middleware.ts'
import { threadIdOf } from './run-end.ts'

export function runStart(run: RunRecord, session: SessionRecord, now: number, middleware: Middleware | null): RunStart {
  const messages = messagesOf(run, now)
  const started = startedEvent(run, session, messages, now)
  const scope = middlewareScope(run)
  // The first event of a run can be changed but not dropped.
  const event = middleware?.(started, scope) ?? started
  return {
    entries: [{ kind: 'event', data: JSON.stringify(event) }],
    messages,
    state: run.input.state,
    supersedeAfter: run.input.regenerateAfter,
  }
}

/** What is written when a queued run begins. Some of its messages may be in the session by then; watchers are not shown them again. */
export async function queuedRunStart(
  store: Pick<Store, 'messages'>,
  run: RunRecord,
  session: SessionRecord,
  now: number,
  middleware: Middleware | null,
): Promise<RunStart> {
  const ids = run.input.messages.map(({ id }) => id)
  const known = new Set((await store.messages.marks(session.id, ids)).map(({ id }) => id))
  const input = { ...run.input, messages: run.input.messages.filter(({ id }) => !known.has(id)) }
  // The store gets all messages: it decides by them what the run answers.
  return { ...runStart({ ...run, input }, session, now, middleware), messages: messagesOf(run, now) }
}

const messagesOf = (run: RunRecord, now: number): StoredMessage[] =>
  run.input.messages.map((message) => ({ ...message, runId: run.id, createdAt: now }))

/** Its `input` shows watchers what was asked: only the new messages, because they have the history already. */
function startedEvent(
  run: RunRecord,
  session: SessionRecord,
  messages: readonly StoredMessage[],
  timestamp: number,
): RunEventOf<'RUN_STARTED'> {
  const threadId = threadIdOf(run, session)
  const parent = present({ parentRunId: run.parentRunId ?? undefined })
  const { regenerateAfter: after, model: triedModel } = run.input
  return {
    type: 'RUN_STARTED',
    threadId,
    runId: run.wireId,
    protocolVersion: AG_UI_VERSION,
    ...parent,
    // Clients of AG-UI 0.x insist on the lists.
    input: {
      threadId,
      runId: run.wireId,
      ...parent,
      messages: messages.map(toWireMessage),
      tools: [],
      context: [],
      state: {},
    },
    // The first one: without it, whoever reads the log could not tell which messages the run supersedes.
    ...(after === undefined && triedModel === undefined
      ? {}
      : { metadata: { quarterdeck: present({ after, triedModel }) } }),
    timestamp,
  }
}
