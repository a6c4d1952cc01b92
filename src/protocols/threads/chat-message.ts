// Encodes the messages of a thread.

import { isoTime } from '../../domain/clock.ts'
import { isRecord } from '../../domain/is-record.ts'
import { jsonIn } from '../../domain/json-in.ts'
import { type StoredMessage, textOf } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { type AnswerToolCall, durationIn, parseArguments, type RunAnswer } from '../../domain/session/run-answer.ts'
import { citationsIn } from '../../domain/session/source.ts'
import { jsonProblem } from '../../json/json-limits.ts'
import { answerSources, sourcesView } from '../shared/answer/sources.ts'
import type { ChatMessage, ToolUse } from './schema.ts'

type Metadata = Record<string, unknown>

/** The metadata of the request that started a run. */
export function requestMetadata({ input }: Pick<RunRecord, 'input'>): Metadata {
  return input.messages.findLast(({ role }) => role === 'user')?.metadata ?? {}
}

/** Everything a run said, as one message. */
export function answerMessage(answer: RunAnswer, timestamp: number, metadata: Metadata): ChatMessage {
  return {
    role: 'assistant',
    ...spoken(answer.text, {
      ...metadata,
      ...answerSources(answer),
    }),
    timestamp: isoTime(timestamp),
    tool_calls: answer.toolCalls.length === 0 ? null : answer.toolCalls.map(toolUse),
  }
}

function toolUse({ name, arguments: args, result, error, durationMs }: AnswerToolCall): ToolUse {
  const call = { tool_name: name, arguments: args, execution_time_ms: durationMs }
  return error === null ? { ...call, result: result === null ? null : resultValue(result) } : { ...call, error }
}

/** `metadataOf` holds the request metadata of each run. */
export function historyMessages(
  messages: readonly StoredMessage[],
  metadataOf: ReadonlyMap<string, Metadata>,
): ChatMessage[] {
  const results = new Map(messages.flatMap((message) => (message.toolCallId ? [[message.toolCallId, message]] : [])))
  return messages.map((message): ChatMessage => {
    const { role, runId, createdAt, toolCalls = [] } = message
    const half = message.brokenOff === true ? { broken_off: true } : {}
    const metadata = { ...metadataOf.get(runId), ...ownMetadata(message), ...half }
    const content = textOf(message.content)
    return {
      role: role === 'assistant' || role === 'tool' ? role : 'user',
      ...(role === 'assistant' ? spoken(content, metadata) : { content, metadata }),
      timestamp: isoTime(createdAt),
      tool_calls:
        toolCalls.length === 0
          ? null
          : toolCalls.map(({ id, function: { name, arguments: args } }) =>
              storedUse(name, args, createdAt, results.get(id)),
            ),
    }
  })
}

/** Sources stand where a client of these routes looks for them. */
function ownMetadata({ role, metadata }: StoredMessage): Metadata | undefined {
  const citations = role === 'assistant' ? citationsIn(metadata) : null
  if (citations === null) return metadata
  const { citations: _shown, ...own } = isRecord(metadata?.quarterdeck) ? metadata.quarterdeck : {}
  const { quarterdeck: _all, ...others } = metadata ?? {}
  return { ...others, ...(Object.keys(own).length === 0 ? {} : { quarterdeck: own }), ...sourcesView(citations) }
}

/** Without its result if that is on another page. */
function storedUse(name: string, args: string, calledAt: number, result: StoredMessage | undefined): ToolUse {
  const call = {
    tool_name: name,
    arguments: parseArguments(args),
    execution_time_ms:
      result === undefined ? null : (durationIn(result.metadata) ?? Math.max(0, result.createdAt - calledAt)),
  }
  if (result?.error !== undefined) return { ...call, error: result.error }
  return { ...call, result: result === undefined ? null : resultValue(textOf(result.content)) }
}

/** Clients of these routes refuse an empty message. */
const spoken = (content: string, metadata: Metadata): Pick<ChatMessage, 'content' | 'metadata'> =>
  content === '' ? { content: ' ', metadata: { ...metadata, empty: true } } : { content, metadata }

/** A tool's result as a JSON value. It stays text if it is not JSON, or too large or deep to be read as a value. */
export function resultValue(text: string): unknown {
  if (!MAY_BE_JSON.test(text)) return text
  const value = jsonIn(text)
  if (value === undefined) return text
  // A number with too many digits would change its value.
  if (typeof value === 'number' && !(Number.isSafeInteger(value) || isFraction(value))) return text
  return jsonProblem(value) === null ? value : text
}

const MAY_BE_JSON = /^\s*["[{\-\dtfn]/

const isFraction = (value: number): boolean => Number.isFinite(value) && !Number.isInteger(value)
