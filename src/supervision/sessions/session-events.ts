// The events that a supervised session's log is made of, in AG-UI's words. Events need a run around them, so the log is a chain of runs:
// one is open while the agent works, and ends with the agent's questions as interrupts while a person has to answer.

import { isoTime } from '../../domain/clock.ts'
import type { Ids } from '../../domain/ids.ts'
import { present } from '../../domain/present.ts'
import { type AskedRecord, isAsked, type SupervisedRecord, wordsOfAgent } from '../../domain/records/record.ts'
import { recordKinds } from '../../domain/records/record-kinds.ts'
import { AG_UI_VERSION, type Interrupt, type RunEvent } from '../../domain/session/event.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import {
  isOpen,
  type ProgressItem,
  type SupervisedStatus,
  type Supervision,
} from '../../domain/supervision/supervision.ts'
import type { NewEntry } from '../../store/ports/journal.ts'

/** A call of the agent. `args` is what people see of its arguments: a large diff is named, not repeated. */
export function callEvents(callId: string, tool: string, args: unknown, timestamp: number): RunEvent[] {
  return [
    { type: 'TOOL_CALL_START', toolCallId: callId, toolCallName: tool, timestamp },
    { type: 'TOOL_CALL_ARGS', toolCallId: callId, delta: JSON.stringify(args), timestamp },
    { type: 'TOOL_CALL_END', toolCallId: callId, timestamp },
  ]
}

export function resultEvent(callId: string, answer: object, isError: boolean, timestamp: number): RunEvent {
  return {
    type: 'TOOL_CALL_RESULT',
    messageId: `${callId}-result`,
    toolCallId: callId,
    content: JSON.stringify(answer),
    role: 'tool',
    metadata: { quarterdeck: { status: isError ? 'error' : 'success' } },
    timestamp,
  }
}

/** The agent's checklist, replaced by each later one. */
export function progressEvent(progress: readonly ProgressItem[], note: string | null, timestamp: number): RunEvent {
  return {
    type: 'ACTIVITY_SNAPSHOT',
    messageId: 'progress',
    activityType: 'progress',
    content: present({ progress: [...progress], status_message: note ?? undefined }),
    replace: true,
    timestamp,
  }
}

/** Something that happened to the session: it was paused, steered, nudged, … */
export function activityEvent(id: string, what: string, facts: Record<string, unknown>, timestamp: number): RunEvent {
  return { type: 'ACTIVITY_SNAPSHOT', messageId: id, activityType: what, content: facts, timestamp }
}

/** In a session that is over, each event would stand in the log as a run of its own that was cancelled or failed. */
export const shownIn = ({ supervision }: { supervision: Supervision }, event: RunEvent): RunEvent[] =>
  isOpen(supervision) ? [event] : []

/**
 * The entries of one step: the events, with a start before them if no run is open, and an end after them if the session has ended or
 * `waiting` has questions. Null: there is nothing to show.
 */
export function showStep(
  session: SessionRecord & { supervision: Supervision },
  events: readonly RunEvent[],
  {
    waiting,
    status,
    at,
    ids,
  }: { waiting: readonly SupervisedRecord[]; status: SupervisedStatus; at: number; ids: Ids },
) {
  const { openRun, lastRun, hosted } = session.supervision
  // Its log is that of its runs.
  if (hosted !== undefined) return null
  const interrupts = waiting.filter(isAsked).map(interruptOf)
  const ends = status === 'terminated' || status === 'interrupted'
  if (events.length === 0 && (openRun === null || (!ends && interrupts.length === 0))) return null
  const runId = openRun ?? ids.uuid()
  const shown: RunEvent[] = [...(openRun === null ? [started(session.id, runId, lastRun, at)] : []), ...events]
  const last = ends ? ended(session.id, runId, status, at) : interrupted(session.id, runId, interrupts, at)
  if (last !== null) shown.push(last)
  return {
    entries: shown.map((event): NewEntry => ({ kind: 'event', data: JSON.stringify(event) })),
    runId,
    run: last === null ? { openRun: runId, lastRun } : { openRun: null, lastRun: runId },
  }
}

function started(threadId: string, runId: string, parentRunId: string | null, timestamp: number): RunEvent {
  const parent = parentRunId === null ? {} : { parentRunId }
  return {
    type: 'RUN_STARTED',
    threadId,
    runId,
    protocolVersion: AG_UI_VERSION,
    ...parent,
    input: { threadId, runId, ...parent, messages: [], tools: [], context: [], state: {} },
    timestamp,
  }
}

function ended(threadId: string, runId: string, status: SupervisedStatus, timestamp: number): RunEvent {
  if (status === 'terminated') {
    return { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'cancelled' }, timestamp }
  }
  const message =
    'The agent’s window was closed, its process has ended, or nobody has heard from it for a while. It can come back.'
  return { type: 'RUN_ERROR', message, code: 'interrupted', timestamp }
}

const interrupted = (
  threadId: string,
  runId: string,
  interrupts: readonly Interrupt[],
  timestamp: number,
): RunEvent | null =>
  interrupts.length === 0
    ? null
    : { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'interrupt', interrupts: [...interrupts] }, timestamp }

/** The question as an interrupt. What no agent asked is shown as an activity. */
function interruptOf(wait: AskedRecord): Interrupt {
  const { id, callId, expiresAt, supervised } = wait
  const shared = present({
    id,
    toolCallId: callId,
    expiresAt: expiresAt === null ? undefined : isoTime(expiresAt),
  })
  const quarterdeck = { host: supervised.host, kind: recordKinds[wait.wait].wire.kind }
  if (wait.wait !== 'approval') {
    const more = wait.wait === 'prompt' ? { promptType: wait.promptType } : {}
    const metadata = { quarterdeck: { ...quarterdeck, ...more } }
    return { ...shared, reason: 'input_required', message: wordsOfAgent(wait), metadata }
  }
  const { title, description, risk, digest, kind } = wait
  return {
    ...shared,
    reason: 'tool_call',
    message: description === '' ? title : `${title}\n${description}`,
    metadata: { quarterdeck: { ...quarterdeck, kind, risk, digest, answerableBy: 'operator' } },
  }
}
