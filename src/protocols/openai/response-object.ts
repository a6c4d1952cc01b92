// Encodes a response as one object: the whole answer, and the content of the first and last events of a stream. Pure.

import type { ClientCall } from '../../domain/records/record.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { RunAnswer } from '../../domain/session/run-answer.ts'
import { type Citations, citedPlaces } from '../../domain/session/source.ts'
import { formatView } from './answer-format.ts'
import type { ResponseRequest } from './decode.ts'
import { type Ending, endingOf } from './ending.ts'
import type { Annotation, OutputCall, OutputItem, OutputMessage, ResponseObject } from './response-schema.ts'
import { responseUsage } from './usage.ts'
import { callItemId, itemId, responseId } from './wire-ids.ts'

export type ResponseRun = Pick<RunRecord, 'id' | 'sessionId' | 'agent' | 'createdAt'>

/** The parts of the request that a response repeats. */
export type Asked = Pick<
  ResponseRequest,
  'instructions' | 'conversation' | 'previousResponseId' | 'user' | 'metadata' | 'callerTools' | 'format'
>

interface ResponseState {
  /** Null while it runs. */
  ending: Ending | null
  output: OutputItem[]
  usage?: readonly TokenUsage[] | undefined
}

/** `calls` are for the caller to run. It includes the error of a failed run. */
export function endedResponse(
  run: ResponseRun,
  asked: Asked,
  answer: RunAnswer,
  calls: readonly ClientCall[],
): ResponseObject {
  const ending = endingOf(run, answer)
  const last = answer.messages.length - 1
  const isBroken = ending.kind === 'cut' || ending.kind === 'filtered'
  const said = answer.messages.map(({ id, text, citations = null }, i) =>
    outputItem(run, id, text, isBroken && i === last ? 'incomplete' : 'completed', citations),
  )
  const output = [...said, ...calls.map(outputCall)]
  return responseObject(run, asked, { ending, output, usage: answer.usage })
}

export function responseObject(
  run: ResponseRun,
  asked: Asked,
  { ending, output, usage }: ResponseState,
): ResponseObject {
  const failure = ending?.kind === 'failed' ? ending.error : null
  return {
    id: responseId(run.id),
    object: 'response',
    created_at: Math.floor(run.createdAt / 1000),
    status: ending === null ? 'in_progress' : STATUS[ending.kind],
    error: failure === null ? null : { code: failure.code, message: failure.message },
    incomplete_details: INCOMPLETE[ending?.kind ?? 'complete'],
    instructions: asked.instructions,
    model: run.agent,
    output,
    previous_response_id: asked.previousResponseId,
    conversation: asked.conversation === null ? null : { id: asked.conversation },
    metadata: asked.metadata,
    user: asked.user,
    usage: responseUsage(usage),
    background: false,
    max_output_tokens: null,
    parallel_tool_calls: true,
    reasoning: { effort: null, summary: null },
    store: true,
    temperature: null,
    text: { format: formatView(asked.format) },
    tool_choice: asked.callerTools.choice,
    tools: asked.callerTools.tools.map((tool) => ({ type: 'function', ...tool, strict: false })),
    top_p: null,
    truncation: 'auto',
  }
}

export function outputItem(
  run: Pick<ResponseRun, 'id'>,
  messageId: string,
  text: string,
  status: OutputMessage['status'],
  citations: Citations | null = null,
): OutputMessage {
  const id = itemId({ runId: run.id, messageId })
  return { id, type: 'message', status, role: 'assistant', content: [outputText(text, citations)] }
}

export const outputCall = ({ id, callId, tool, arguments: args }: ClientCall): OutputCall => ({
  id: callItemId(id),
  type: 'function_call',
  status: 'completed',
  call_id: callId,
  name: tool,
  arguments: args,
})

export const outputText = (text: string, citations: Citations | null = null): OutputMessage['content'][number] => ({
  type: 'output_text',
  text,
  annotations: citations === null ? [] : annotationsOf(text, citations),
  logprobs: [],
})

function annotationsOf(text: string, { sources }: Citations): Annotation[] {
  const byNumber = new Map(sources.map((source) => [source.number, source]))
  return citedPlaces(text).flatMap(({ number, index }) => {
    const source = byNumber.get(number)
    return source === undefined ? [] : { type: 'file_citation', file_id: source.id, filename: source.file, index }
  })
}

const STATUS = {
  complete: 'completed',
  calls: 'completed',
  filtered: 'incomplete',
  cut: 'incomplete',
  failed: 'failed',
} as const
const INCOMPLETE = {
  complete: null,
  calls: null,
  failed: null,
  filtered: { reason: 'content_filter' },
  cut: { reason: 'max_output_tokens' },
} as const
