// Who asked for JSON parses all that is said. What comes before the last message (words beside a call, a try that did not fit the
// schema) is not part of it, and which message is the last is known at the end.

import type { RunEvent } from '../../domain/event.ts'
import type { RunAnswer } from '../../domain/run-answer.ts'
import type { ClientCallEncoder } from './answer-run.ts'

export function finalMessage(answer: RunAnswer): RunAnswer {
  const messages = answer.messages.slice(-1)
  return { ...answer, messages, text: messages[0]?.text ?? '' }
}

/** The same for a stream: text waits for the end of the run. */
export function encodeFinalMessage(encoder: ClientCallEncoder): ClientCallEncoder {
  let held: RunEvent[] = []
  let heldId: string | null = null
  return {
    ...encoder,
    encode(event) {
      switch (event.type) {
        case 'TEXT_MESSAGE_START':
        case 'TEXT_MESSAGE_CONTENT':
        case 'TEXT_MESSAGE_END':
          if (event.messageId !== heldId) held = []
          heldId = event.messageId
          held.push(event)
          return []
        case 'RUN_FINISHED':
        case 'RUN_ERROR':
          return [...held.splice(0), event].flatMap((one) => encoder.encode(one))
        default:
          return encoder.encode(event)
      }
    },
  }
}
