// What a run has opened on the wire and not closed yet. AG-UI clients reject a run that finishes with something open, so a run that
// ends early (cancel, failure, recovery) closes everything first.

import { present } from '../../domain/present.ts'
import type { RunEvent, RunEventOf } from '../../domain/session/event.ts'

export interface OpenItems {
  see(event: RunEvent): void
  /** The event that closes this step early will carry the metadata. */
  markStep(step: StepPlace, metadata: Record<string, unknown>): void
  /**
   * The events that close everything, in the order that the protocol wants. `mark` becomes the metadata of messages and calls
   * that broke off. With `owner` it closes only what that sub-agent has opened, and not the sub-agent itself.
   */
  closing(timestamp: number, mark?: Record<string, unknown>, owner?: string): RunEvent[]
}

type StepPlace = Pick<RunEventOf<'STEP_FINISHED'>, 'stepName' | 'subagentRunId'>

/** Ids of what is open, each with the sub-agent that opened it. */
type Open = Map<string, string | undefined>

export function createOpenItems(): OpenItems {
  const text: Open = new Map()
  const toolCalls: Open = new Map()
  const reasoningMessages: Open = new Map()
  const reasoning: Open = new Map()
  /** By sub-agent and name: each sub-agent counts its own steps. */
  const steps = new Map<string, StepPlace & { metadata?: Record<string, unknown> }>()
  const subagents = new Set<string>()
  return {
    see(event) {
      switch (event.type) {
        case 'TEXT_MESSAGE_START':
          text.set(event.messageId, event.subagentRunId)
          break
        case 'TEXT_MESSAGE_END':
          text.delete(event.messageId)
          break
        case 'TOOL_CALL_START':
          toolCalls.set(event.toolCallId, event.subagentRunId)
          break
        case 'TOOL_CALL_END':
          toolCalls.delete(event.toolCallId)
          break
        case 'REASONING_START':
          reasoning.set(event.messageId, event.subagentRunId)
          break
        case 'REASONING_END':
          reasoning.delete(event.messageId)
          break
        case 'REASONING_MESSAGE_START':
          reasoningMessages.set(event.messageId, event.subagentRunId)
          break
        case 'REASONING_MESSAGE_END':
          reasoningMessages.delete(event.messageId)
          break
        case 'STEP_STARTED':
          steps.set(stepKey(event), present({ stepName: event.stepName, subagentRunId: event.subagentRunId }))
          break
        case 'STEP_FINISHED':
          steps.delete(stepKey(event))
          break
        case 'SUBAGENT_STARTED':
          subagents.add(event.subagentRunId)
          break
        case 'SUBAGENT_FINISHED':
        case 'SUBAGENT_ERROR':
          subagents.delete(event.subagentRunId)
          break
        default:
          break
      }
    },
    markStep(place, metadata) {
      const step = steps.get(stepKey(place))
      if (step !== undefined) step.metadata = metadata
    },
    closing(timestamp, mark, owner) {
      const metadata = mark === undefined ? {} : { metadata: mark }
      const idsIn = (open: Open): string[] =>
        [...open].flatMap(([id, of]) => (owner === undefined || of === owner ? [id] : []))
      return [
        ...idsIn(reasoningMessages).map(
          (messageId) => ({ type: 'REASONING_MESSAGE_END', messageId, timestamp }) as const,
        ),
        ...idsIn(reasoning).map((messageId) => ({ type: 'REASONING_END', messageId, timestamp }) as const),
        ...idsIn(text).map((messageId) => ({ type: 'TEXT_MESSAGE_END', messageId, timestamp, ...metadata }) as const),
        ...idsIn(toolCalls).map(
          (toolCallId) => ({ type: 'TOOL_CALL_END', toolCallId, timestamp, ...metadata }) as const,
        ),
        ...[...steps.values()]
          .filter((step) => owner === undefined || step.subagentRunId === owner)
          .map((step) => ({ type: 'STEP_FINISHED', ...step, timestamp }) as const),
        // The innermost began last and ends first.
        ...(owner === undefined ? [...subagents].reverse() : []).map(
          (subagentRunId) =>
            ({ type: 'SUBAGENT_ERROR', subagentRunId, message: 'The sub-agent was cut off.', timestamp }) as const,
        ),
      ]
    },
  }
}

const stepKey = ({ stepName, subagentRunId = '' }: StepPlace): string => `${subagentRunId} ${stepName}`
