// What an AG-UI run has opened and not closed yet. The client rejects a run that finishes with something open, so whoever ends
// a run early (cancel, failure, recovery) closes it from here.

import type { RunEvent } from '../domain/event.ts'

export interface OpenItems {
  see(event: RunEvent): void
  /** The events that close everything, in the order the protocol wants. `mark` is put on a message that broke off. */
  closing(timestamp: number, mark?: Record<string, unknown>): RunEvent[]
}

export function createOpenItems(): OpenItems {
  const text = new Set<string>()
  const toolCalls = new Set<string>()
  const reasoningMessages = new Set<string>()
  const reasoning = new Set<string>()
  const steps = new Set<string>()
  return {
    see(event) {
      switch (event.type) {
        case 'TEXT_MESSAGE_START':
          text.add(event.messageId)
          break
        case 'TEXT_MESSAGE_END':
          text.delete(event.messageId)
          break
        case 'TOOL_CALL_START':
          toolCalls.add(event.toolCallId)
          break
        case 'TOOL_CALL_END':
          toolCalls.delete(event.toolCallId)
          break
        case 'REASONING_START':
          reasoning.add(event.messageId)
          break
        case 'REASONING_END':
          reasoning.delete(event.messageId)
          break
        case 'REASONING_MESSAGE_START':
          reasoningMessages.add(event.messageId)
          break
        case 'REASONING_MESSAGE_END':
          reasoningMessages.delete(event.messageId)
          break
        case 'STEP_STARTED':
          steps.add(event.stepName)
          break
        case 'STEP_FINISHED':
          steps.delete(event.stepName)
          break
        default:
          break
      }
    },
    closing(timestamp, mark) {
      const metadata = mark === undefined ? {} : { metadata: mark }
      return [
        ...[...reasoningMessages].map(
          (messageId) => ({ type: 'REASONING_MESSAGE_END', messageId, timestamp }) as const,
        ),
        ...[...reasoning].map((messageId) => ({ type: 'REASONING_END', messageId, timestamp }) as const),
        ...[...text].map((messageId) => ({ type: 'TEXT_MESSAGE_END', messageId, timestamp, ...metadata }) as const),
        ...[...toolCalls].map((toolCallId) => ({ type: 'TOOL_CALL_END', toolCallId, timestamp, ...metadata }) as const),
        ...[...steps].map((stepName) => ({ type: 'STEP_FINISHED', stepName, timestamp }) as const),
      ]
    },
  }
}
