// The events that a supervised session's log is made of.

import { present } from '../../domain/present.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import type { ProgressItem } from '../../domain/supervision/supervision.ts'

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
export function noticeEvent(id: string, what: string, facts: Record<string, unknown>, timestamp: number): RunEvent {
  return { type: 'ACTIVITY_SNAPSHOT', messageId: id, activityType: what, content: facts, timestamp }
}
