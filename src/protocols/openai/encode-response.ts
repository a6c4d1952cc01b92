// Encodes the events of a run as the typed events of a response. Pure.

import type { ClientCall } from '../../domain/records/record.ts'
import type { RunEventType, TerminalEvent } from '../../domain/session/event.ts'
import { isBrokenOff } from '../../domain/session/run-answer.ts'
import { type Citations, citationsIn } from '../../domain/session/source.ts'
import type { SseEvent } from '../../http/sse.ts'
import type { ClientCallEncoder } from './answer-run.ts'
import { endingOfEvent } from './ending.ts'
import { type Asked, outputCall, outputItem, outputText, type ResponseRun, responseObject } from './response-object.ts'
import type { OutputItem, OutputMessage, ResponseEvent } from './response-schema.ts'

// Calls of the agent's own tools are left out, because the client cannot answer them. A client that needs them uses AG-UI.
const READS: ReadonlySet<RunEventType> = new Set<RunEventType>([
  'RUN_STARTED',
  'TEXT_MESSAGE_START',
  'TEXT_MESSAGE_CONTENT',
  'TEXT_MESSAGE_END',
  'RUN_FINISHED',
  'RUN_ERROR',
])

export function createResponseEncoder(run: ResponseRun, asked: Asked): ClientCallEncoder {
  const output: OutputItem[] = []
  let calls: readonly ClientCall[] = []
  /** The open message; its item is the last of `output`. */
  let current: { messageId: string; text: string; deltaStart: string } | null = null
  let sequence = 0

  const frame = (event: Unnumbered<ResponseEvent>): SseEvent => ({
    event: event.type,
    data: JSON.stringify({ ...event, sequence_number: sequence++ }),
  })

  const place = (item: OutputItem) => ({ item_id: item.id, output_index: output.length - 1, content_index: 0 }) as const

  function begin(messageId: string): SseEvent[] {
    const item = { ...outputItem(run, messageId, '', 'in_progress'), content: [] }
    output.push(item)
    current = { messageId, text: '', deltaStart: startOf({ type: 'response.output_text.delta', ...place(item) }) }
    return [
      frame({ type: 'response.output_item.added', output_index: output.length - 1, item }),
      frame({ type: 'response.content_part.added', ...place(item), part: outputText('') }),
    ]
  }

  function say(delta: string): SseEvent[] {
    if (current === null) return []
    current.text += delta
    // There is one per token, so everything but the text and the number is made once.
    const data = `${current.deltaStart},"delta":${JSON.stringify(delta)},"logprobs":[],"sequence_number":${sequence++}}`
    return [{ event: 'response.output_text.delta', data }]
  }

  function finish(status: OutputMessage['status'], citations: Citations | null): SseEvent[] {
    if (current === null) return []
    const { messageId, text } = current
    current = null
    const part = outputText(text, citations)
    const item = outputItem(run, messageId, text, status, citations)
    output[output.length - 1] = item
    const { annotations } = part
    return [
      ...annotations.map((annotation, annotation_index) =>
        frame({ type: 'response.output_text.annotation.added', ...place(item), annotation_index, annotation }),
      ),
      frame({ type: 'response.output_text.done', ...place(item), text, logprobs: [] }),
      frame({ type: 'response.content_part.done', ...place(item), part }),
      frame({ type: 'response.output_item.done', output_index: output.length - 1, item }),
    ]
  }

  function callEvents(call: ClientCall): SseEvent[] {
    const item = outputCall(call)
    const output_index = output.push(item) - 1
    const place = { item_id: item.id, output_index }
    const begun = { ...item, arguments: '', status: 'in_progress' as const }
    const { name, arguments: args } = item
    return [
      frame({ type: 'response.output_item.added', output_index, item: begun }),
      frame({ type: 'response.function_call_arguments.delta', ...place, delta: args }),
      frame({ type: 'response.function_call_arguments.done', ...place, name, arguments: args }),
      frame({ type: 'response.output_item.done', output_index, item }),
    ]
  }

  function end(event: TerminalEvent): SseEvent[] {
    const ending = endingOfEvent(run, event)
    // A message is open only if the end was made for this reader: the server stops, or the stream broke.
    const closing = finish('incomplete', null)
    // Only now is it certain which calls the caller has to run: the agent corrects invalid calls itself.
    if (ending.kind === 'calls') closing.push(...calls.flatMap(callEvents))
    const response = responseObject(run, asked, { ending, output, usage: event.usage })
    return [...closing, frame({ type: LAST[ending.kind], response })]
  }

  return {
    reads: READS,
    takeCalls(left) {
      calls = left
    },
    encode(event) {
      switch (event.type) {
        case 'RUN_STARTED': {
          const response = responseObject(run, asked, { ending: null, output: [] })
          return [frame({ type: 'response.created', response }), frame({ type: 'response.in_progress', response })]
        }
        case 'TEXT_MESSAGE_START':
          return begin(event.messageId)
        case 'TEXT_MESSAGE_CONTENT':
          return say(event.delta)
        case 'TEXT_MESSAGE_END':
          return finish(isBrokenOff(event.metadata) ? 'incomplete' : 'completed', citationsIn(event.metadata))
        case 'RUN_FINISHED':
        case 'RUN_ERROR':
          return end(event)
        default:
          return []
      }
    },
  }
}

/** The JSON of an object without its closing brace, so that more fields can follow. */
const startOf = (fields: object): string => JSON.stringify(fields).slice(0, -1)

type Unnumbered<E> = E extends ResponseEvent ? Omit<E, 'sequence_number'> : never

const LAST = {
  complete: 'response.completed',
  calls: 'response.completed',
  filtered: 'response.incomplete',
  cut: 'response.incomplete',
  failed: 'response.failed',
} as const
