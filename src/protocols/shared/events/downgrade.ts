// Stored events -> what a 0.x client can read. It rejects the whole run for a shape it does not know, so those few shapes are
// rewritten; everything else goes out as stored. Nothing is invented. Pure.

import { contentToText } from '@ag-ui/core'
import { type RunEvent, type RunEventOf, typeOfEventText } from '../../../domain/event.ts'
import { isBrokenOff } from '../../../domain/run-answer.ts'

/** The text of an event for a 0.x reader: the same text wherever 0.x can read it. */
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
      // Without an outcome a 0.x client looks for open calls itself; told of a success, assistant-ui never sends their results.
      return outcome.pendingToolCallIds?.length ? rest : { ...rest, outcome: { type: 'success' } }
    case 'cancelled': {
      // 0.x knows no cancelled run; without an outcome it would count as a success.
      const { threadId: _thread, runId: _run, result: _result, ...shared } = rest
      return { ...shared, type: 'RUN_ERROR', message: 'The run was stopped.', code: 'cancelled' }
    }
    default:
      return event
  }
}

type Input = NonNullable<RunEventOf<'RUN_STARTED'>['input']>
type Message = RunEventOf<'MESSAGES_SNAPSHOT'>['messages'][number]

// 0.x requires the two lists.
const oldInput = (input: Input): Input => ({
  ...input,
  messages: input.messages.map(oldMessage),
  tools: input.tools ?? [],
  context: input.context ?? [],
})

function oldMessage(message: Message): Message {
  if (message.role === 'assistant' && isBrokenOff(message.metadata)) {
    // Its clients show no metadata.
    return { ...message, content: `${message.content ?? ''}\n\n*(This answer broke off.)*`.trimStart() }
  }
  if (message.role === 'tool') return { ...message, content: contentToText(message.content) }
  if (message.role !== 'user' || typeof message.content === 'string') return message
  return { ...message, content: message.content.filter((part) => part.type === 'text' || part.source.type !== 'file') }
}
