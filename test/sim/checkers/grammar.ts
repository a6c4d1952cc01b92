// The order rules that @ag-ui/client 1.0 enforces on one run, for the events that the engine emits.

import type { RunEvent } from '../../../src/domain/session/event.ts'

type Space = 'text' | 'tool call' | 'reasoning' | 'reasoning message' | 'step' | 'sub-agent'

/** What is wrong with the events of one run; nothing when a client accepts them. */
export function checkGrammar(events: readonly RunEvent[]): string[] {
  const problems: string[] = []
  const open = new Set<string>()
  const name = (space: Space, id: string) => `${space} ${id}`

  function opens(space: Space, id: string): void {
    if (open.has(name(space, id))) problems.push(`${name(space, id)} is opened twice`)
    open.add(name(space, id))
  }
  function goesOn(space: Space, id: string): void {
    if (!open.has(name(space, id))) problems.push(`${name(space, id)} goes on without being open`)
  }
  function closes(space: Space, id: string): void {
    if (!open.delete(name(space, id))) problems.push(`${name(space, id)} is closed without being open`)
  }

  for (const [i, event] of events.entries()) {
    const isTerminal = event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR'
    if ((event.type === 'RUN_STARTED') !== (i === 0)) problems.push(`event ${i} is ${event.type}`)
    if (isTerminal && i !== events.length - 1) problems.push(`${event.type} is followed by ${events[i + 1]?.type}`)
    if ('subagentRunId' in event && event.subagentRunId !== undefined && event.type !== 'SUBAGENT_STARTED') {
      goesOn('sub-agent', event.subagentRunId)
    }
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
        opens('text', event.messageId)
        break
      case 'TEXT_MESSAGE_CONTENT':
        goesOn('text', event.messageId)
        if (event.delta === '') problems.push('a delta is empty')
        break
      case 'TEXT_MESSAGE_END':
        closes('text', event.messageId)
        break
      case 'TOOL_CALL_START':
        opens('tool call', event.toolCallId)
        break
      case 'TOOL_CALL_ARGS':
        goesOn('tool call', event.toolCallId)
        break
      case 'TOOL_CALL_END':
        closes('tool call', event.toolCallId)
        break
      case 'REASONING_START':
        opens('reasoning', event.messageId)
        break
      case 'REASONING_END':
        closes('reasoning', event.messageId)
        break
      case 'REASONING_MESSAGE_START':
        opens('reasoning message', event.messageId)
        break
      case 'REASONING_MESSAGE_CONTENT':
        goesOn('reasoning message', event.messageId)
        break
      case 'REASONING_MESSAGE_END':
        closes('reasoning message', event.messageId)
        break
      case 'STEP_STARTED':
        opens('step', stepOf(event))
        break
      case 'STEP_FINISHED':
        closes('step', stepOf(event))
        break
      case 'SUBAGENT_STARTED':
        opens('sub-agent', event.subagentRunId)
        break
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        closes('sub-agent', event.subagentRunId)
        break
      case 'RUN_FINISHED':
        for (const item of open) problems.push(`${item} is still open when the run finishes`)
        break
      default:
        break
    }
  }
  return problems
}

/** Sub-agents number their steps for themselves. */
const stepOf = ({ stepName, subagentRunId = '' }: { stepName: string; subagentRunId?: string | undefined }): string =>
  `${stepName} ${subagentRunId}`
