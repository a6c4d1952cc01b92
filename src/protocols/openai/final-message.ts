// A client that asked for JSON parses the whole text, so it gets only the last message, without text beside a call and without
// attempts that did not match the schema. Which message is the last is known only at the end.

import type { RunEvent } from '../../domain/event.ts'
import type { RunAnswer } from '../../domain/run-answer.ts'
import type { ClientCallEncoder } from './answer-run.ts'

export function finalMessage(answer: RunAnswer): RunAnswer {
  const messages = answer.messages.slice(-1)
  return { ...answer, messages, text: messages[0]?.text ?? '' }
}

/** The same for a stream: text is held back until the run ends. */
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
