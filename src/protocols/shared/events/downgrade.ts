// Rewrites stored events for 0.x clients. They reject the whole run because of an unknown shape, so these few shapes are rewritten.
// Everything else is sent as stored. Pure.

import { contentToText } from '@ag-ui/core'
import { type RunEvent, type RunEventOf, typeOfEventText } from '../../../domain/event.ts'
import { isBrokenOff } from '../../../domain/run-answer.ts'

/** The text of an event for a 0.x reader. It is the stored text if 0.x can read that. */
export function downgrade(text: string): string {
  switch (typeOfEventText(text)) {
    case 'RUN_STARTED':
    case 'RUN_FINISHED':
    case 'TOOL_CALL_RESULT':
    case 'MESSAGES_SNAPSHOT':
      return JSON.stringify(downgradeEvent(JSON.parse(text)))
    default:
      return text
  }
}

export function downgradeEvent(event: RunEvent): RunEvent {
  switch (event.type) {
    case 'RUN_STARTED':
      return event.input === undefined ? event : { ...event, input: oldInput(event.input) }
    case 'RUN_FINISHED':
      return oldOutcome(event)
    case 'TOOL_CALL_RESULT':
      return { ...event, content: contentToText(event.content) }
    case 'MESSAGES_SNAPSHOT':
      return { ...event, messages: event.messages.map(oldMessage) }
    default:
      return event
  }
}

function oldOutcome(event: RunEventOf<'RUN_FINISHED'>): RunEvent {
  const { outcome, ...rest } = event
  switch (outcome?.type) {
    case 'success':
      // Without an outcome a 0.x client looks for open calls itself. After a success, assistant-ui would never send their results.
      return outcome.pendingToolCallIds?.length ? rest : { ...rest, outcome: { type: 'success' } }
    case 'cancelled': {
      // 0.x has no cancelled runs. Without an outcome the run would count as a success.
      const { threadId: _thread, runId: _run, result: _result, ...shared } = rest
      return { ...shared, type: 'RUN_ERROR', message: 'The run was stopped.', code: 'cancelled' }
    }
    default:
      return event
  }
}

type Input = NonNullable<RunEventOf<'RUN_STARTED'>['input']>
type Message = RunEventOf<'MESSAGES_SNAPSHOT'>['messages'][number]

// 0.x requires both lists.
const oldInput = (input: Input): Input => ({
  ...input,
  messages: input.messages.map(oldMessage),
  tools: input.tools ?? [],
  context: input.context ?? [],
})

function oldMessage(message: Message): Message {
  if (message.role === 'assistant' && isBrokenOff(message.metadata)) {
    // 0.x clients do not show metadata.
    return { ...message, content: `${message.content ?? ''}\n\n*(This answer broke off.)*`.trimStart() }
  }
  if (message.role === 'tool') return { ...message, content: contentToText(message.content) }
  if (message.role !== 'user' || typeof message.content === 'string') return message
  return { ...message, content: message.content.filter((part) => part.type === 'text' || part.source.type !== 'file') }
}
