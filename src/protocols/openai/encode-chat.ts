// Encodes a run as a chat completion, whole or in chunks. Pure.

import type { ClientCall } from '../../domain/records/record.ts'
import type { RunEventType, TerminalEvent } from '../../domain/session/event.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { BETWEEN_MESSAGES, type RunAnswer } from '../../domain/session/run-answer.ts'
import { type Citations, citationsIn, joinedCitations } from '../../domain/session/source.ts'
import { answerSources, type SourcesView, sourcesView } from '../shared/answer/sources.ts'
import type { ClientCallEncoder } from './answer-run.ts'
import type { ChatChunk, ChatCompletion } from './chat-schema.ts'
import { type Ending, endingOf, endingOfEvent } from './ending.ts'
import { errorOf } from './error-shape.ts'
import { chatUsage } from './usage.ts'
import { completionId } from './wire-ids.ts'

type Run = Pick<RunRecord, 'id' | 'sessionId' | 'agent' | 'createdAt'>

const headOf = (run: Run) => ({
  id: completionId(run.id),
  created: Math.floor(run.createdAt / 1000),
  model: run.agent,
})

/** `calls` are for the caller to run. Throws the error of a failed run. */
export function chatCompletion(run: Run, answer: RunAnswer, calls: readonly ClientCall[]): ChatCompletion {
  const ending = endingOf(run, answer)
  if (ending.kind === 'failed') throw ending.error
  const usage = chatUsage(answer.usage)
  return {
    ...headOf(run),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.text === '' && calls.length > 0 ? null : answer.text,
          refusal: null,
          ...(calls.length === 0 ? {} : { tool_calls: calls.map(toolCallOf) }),
        },
        logprobs: null,
        finish_reason: finishReason(ending),
      },
    ],
    ...(usage === null ? {} : { usage }),
    ...answerSources(answer),
  }
}

const toolCallOf = ({ callId, tool, arguments: args }: ClientCall) => ({
  id: callId,
  type: 'function' as const,
  function: { name: tool, arguments: args },
})

// This protocol has no words for the agent's own tools, steps and reasoning; a client that needs them uses AG-UI.
const READS: ReadonlySet<RunEventType> = new Set<RunEventType>([
  'RUN_STARTED',
  'TEXT_MESSAGE_CONTENT',
  'TEXT_MESSAGE_END',
  'RUN_FINISHED',
  'RUN_ERROR',
])

export function createChatEncoder(run: Run, { includeUsage }: { includeUsage: boolean }): ClientCallEncoder {
  const head = { ...headOf(run), object: 'chat.completion.chunk' } as const
  let speaking: string | null = null
  let calls: readonly ClientCall[] = []
  const cited: (Citations | null)[] = []

  const chunk = (
    delta: Choice['delta'],
    finish_reason: Choice['finish_reason'] = null,
    sources: SourcesView = {},
  ): string =>
    JSON.stringify({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(includeUsage ? { usage: null } : {}),
      ...sources,
    } satisfies ChatChunk)
  // There is one per token, so everything but the text is made once.
  const [before = '', after = ''] = chunk({ content: MARK }).split(JSON.stringify(MARK))

  function say(messageId: string, delta: string): string {
    const isNext = speaking !== null && speaking !== messageId
    speaking = messageId
    return before + JSON.stringify(isNext ? BETWEEN_MESSAGES + delta : delta) + after
  }

  function callChunks(call: ClientCall, index: number): string[] {
    const { function: called, ...named } = toolCallOf(call)
    return [
      chunk({ tool_calls: [{ index, ...named, function: { name: called.name, arguments: '' } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: called.arguments } }] }),
    ]
  }

  function end(event: TerminalEvent): string[] {
    const ending = endingOfEvent(run, event)
    if (ending.kind === 'failed') return [JSON.stringify({ error: errorOf(ending.error) }), DONE]
    const total: ChatChunk = { ...head, choices: [], usage: chatUsage(event.usage) }
    // Only now is it certain which calls the caller has to run: the agent corrects invalid calls itself.
    const called = ending.kind === 'calls' ? calls.flatMap(callChunks) : []
    const sources = sourcesView(joinedCitations(cited))
    return [...called, chunk({}, finishReason(ending), sources), ...(includeUsage ? [JSON.stringify(total)] : []), DONE]
  }

  return {
    reads: READS,
    takeCalls(left) {
      calls = left
    },
    encode(event) {
      switch (event.type) {
        case 'RUN_STARTED':
          return [{ data: chunk({ role: 'assistant', content: '' }) }]
        case 'TEXT_MESSAGE_CONTENT':
          return [{ data: say(event.messageId, event.delta) }]
        case 'TEXT_MESSAGE_END':
          cited.push(citationsIn(event.metadata))
          return []
        case 'RUN_FINISHED':
        case 'RUN_ERROR':
          return end(event).map((data) => ({ data }))
        default:
          return []
      }
    },
  }
}

type Choice = ChatChunk['choices'][number]

const MARK = '\u0000'
const DONE = '[DONE]'

const FINISH = { complete: 'stop', calls: 'tool_calls', filtered: 'content_filter', cut: 'length' } as const
const finishReason = ({ kind }: Exclude<Ending, { kind: 'failed' }>) => FINISH[kind]
