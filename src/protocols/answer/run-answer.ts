// The events of a run -> its answer, for the doors that have no words for all that happened on the way. Pure.

import type { RunEvent, RunEventOf, RunEventType, TokenUsage } from '../../domain/event.ts'
import { textOf } from '../../domain/message.ts'
import type { RunError } from '../../domain/run.ts'
import { CUT_BY_LENGTH } from '../../engine/execute-run.ts'

export type AnswerOutcome = 'completed' | 'failed' | 'cancelled' | 'interrupted' | 'waiting'

export interface RunAnswer {
  outcome: AnswerOutcome
  /** All that the agent said in the run; what it said before and after a tool is `BETWEEN_MESSAGES` apart. May be empty. */
  text: string
  /** The same by message, in order. Those that a crash cut off and a later one repeats are left out. */
  messages: { id: string; text: string }[]
  /** Of the last message; null when nothing was said. */
  messageId: string | null
  toolCalls: AnswerToolCall[]
  /** One entry per provider and model; empty when the model told nothing. */
  usage: TokenUsage[]
  /** Of a run that failed or was interrupted. */
  error: RunError | null
  /** The model's limit of tokens ended the answer before the model did. */
  cutByLength: boolean
  /** What a waiting run waits for: the ids of its interrupts, or of the calls that the client is to run. */
  waitsFor: string[]
  /** From the run's start to its end: without the time in the queue. */
  durationMs: number
}

export interface AnswerToolCall {
  id: string
  name: string
  /** Empty where the model wrote something that is no JSON object. */
  arguments: Record<string, unknown>
  /** As the model wrote them. */
  argumentsText: string
  /** `open`: the run ended before there was a result. */
  status: 'success' | 'error' | 'open'
  /** Null where there is none, or it is an error. */
  result: string | null
  error: string | null
  /** Null while open. */
  durationMs: number | null
}

/** What stands between two messages where a door has only one. */
export const BETWEEN_MESSAGES = '\n\n'

export interface RunFold {
  add(event: RunEvent): void
  /** Null before the run's terminal event. `failed` has the ids of the result messages that are errors. */
  answer(failed: ReadonlySet<string>): RunAnswer | null
  /** The ids of the result messages so far: the log does not say which are errors, the stored messages do. */
  readonly resultIds: readonly string[]
}

/** The events that `createRunFold` looks at; the others need not be parsed. */
export const foldedTypes: ReadonlySet<RunEventType> = new Set<RunEventType>([
  'RUN_STARTED',
  'TEXT_MESSAGE_CONTENT',
  'TEXT_MESSAGE_END',
  'TOOL_CALL_START',
  'TOOL_CALL_ARGS',
  'TOOL_CALL_END',
  'TOOL_CALL_RESULT',
  'RUN_FINISHED',
  'RUN_ERROR',
])

/** The answer in these events; null when they do not hold the run's end. */
export function foldRun(events: Iterable<RunEvent>, failed: ReadonlySet<string> = new Set()): RunAnswer | null {
  const fold = createRunFold()
  for (const event of events) fold.add(event)
  return fold.answer(failed)
}

interface Said {
  id: string
  text: string
  brokenOff: boolean
}

interface Call {
  id: string
  name: string
  args: string
  brokenOff: boolean
  endedAt: number
  result: { id: string; text: string; at: number } | null
}

export function createRunFold(): RunFold {
  const said = new Map<string, Said>()
  const calls = new Map<string, Call>()
  const resultIds: string[] = []
  let startedAt: number | null = null
  let terminal: RunEventOf<'RUN_FINISHED' | 'RUN_ERROR'> | null = null

  function add(event: RunEvent): void {
    switch (event.type) {
      case 'RUN_STARTED':
        startedAt = event.timestamp ?? null
        break
      case 'TEXT_MESSAGE_CONTENT': {
        const message = said.get(event.messageId)
        if (message === undefined)
          said.set(event.messageId, { id: event.messageId, text: event.delta, brokenOff: false })
        else message.text += event.delta
        break
      }
      case 'TEXT_MESSAGE_END': {
        const message = said.get(event.messageId)
        if (message !== undefined) message.brokenOff = isBrokenOff(event.metadata)
        break
      }
      case 'TOOL_CALL_START': {
        const { toolCallId: id, toolCallName: name, timestamp = 0 } = event
        calls.set(id, { id, name, args: '', brokenOff: false, endedAt: timestamp, result: null })
        break
      }
      case 'TOOL_CALL_ARGS': {
        const call = calls.get(event.toolCallId)
        if (call !== undefined) call.args += event.delta
        break
      }
      case 'TOOL_CALL_END': {
        const call = calls.get(event.toolCallId)
        if (call === undefined) break
        call.endedAt = event.timestamp ?? call.endedAt
        call.brokenOff = isBrokenOff(event.metadata)
        break
      }
      case 'TOOL_CALL_RESULT': {
        resultIds.push(event.messageId)
        const call = calls.get(event.toolCallId)
        if (call === undefined) break
        call.result = { id: event.messageId, text: textOf(event.content), at: event.timestamp ?? call.endedAt }
        break
      }
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        terminal = event
        break
      default:
        break
    }
  }

  return {
    add,
    resultIds,
    answer(failed) {
      if (terminal === null) return null
      const outcome = outcomeOf(terminal)
      const messages = wholeMessages([...said.values()], outcome)
      return {
        outcome,
        text: messages.map(({ text }) => text).join(BETWEEN_MESSAGES),
        messages,
        messageId: messages.at(-1)?.id ?? null,
        // Arguments that stopped half-way are no call.
        toolCalls: [...calls.values()].filter((call) => !call.brokenOff).map((call) => toolCallOf(call, failed)),
        usage: terminal.usage ?? [],
        error: terminal.type === 'RUN_ERROR' ? errorOf(terminal) : null,
        cutByLength: isCutByLength(terminal),
        waitsFor: terminal.type === 'RUN_FINISHED' ? waitsFor(terminal) : [],
        durationMs: Math.max(0, (terminal.timestamp ?? 0) - (startedAt ?? terminal.timestamp ?? 0)),
      }
    },
  }
}

/** A message that broke off counts only as the last words of a run that did not complete. */
function wholeMessages(said: readonly Said[], outcome: AnswerOutcome): RunAnswer['messages'] {
  const last = outcome === 'completed' ? undefined : said.at(-1)
  return said.filter((message) => !message.brokenOff || message === last).map(({ id, text }) => ({ id, text }))
}

function toolCallOf({ id, name, args, endedAt, result }: Call, failed: ReadonlySet<string>): AnswerToolCall {
  const isError = result !== null && failed.has(result.id)
  return {
    id,
    name,
    arguments: parseArguments(args),
    argumentsText: args,
    status: result === null ? 'open' : isError ? 'error' : 'success',
    result: isError ? null : (result?.text ?? null),
    error: isError ? result.text : null,
    durationMs: result === null ? null : Math.max(0, result.at - endedAt),
  }
}

/** A call's arguments as an object; empty where they are none. */
export function parseArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
  } catch {
    return {}
  }
}

export function isCutByLength({ type, metadata }: RunEventOf<'RUN_FINISHED' | 'RUN_ERROR'>): boolean {
  const { finishReason } = CUT_BY_LENGTH.quarterdeck
  const said: unknown = metadata?.quarterdeck
  return (
    type === 'RUN_FINISHED' &&
    typeof said === 'object' &&
    said !== null &&
    Reflect.get(said, 'finishReason') === finishReason
  )
}

/** How a run ended, by its terminal event. */
export function outcomeOf(terminal: RunEventOf<'RUN_FINISHED' | 'RUN_ERROR'>): AnswerOutcome {
  if (terminal.type === 'RUN_ERROR') {
    return terminal.code === 'interrupted' || terminal.code === 'needs_review' ? 'interrupted' : 'failed'
  }
  if (terminal.outcome?.type === 'cancelled') return 'cancelled'
  return waitsFor(terminal).length > 0 ? 'waiting' : 'completed'
}

/** The interrupts, or the client's tool calls, that a run has left for others to answer. */
export function waitsFor({ outcome }: RunEventOf<'RUN_FINISHED'>): string[] {
  if (outcome?.type === 'interrupt') return outcome.interrupts.map(({ id }) => id)
  return outcome?.type === 'success' ? (outcome.pendingToolCallIds ?? []) : []
}

export const errorOf = ({ code, message }: RunEventOf<'RUN_ERROR'>): RunError => ({
  code: code ?? 'internal_error',
  message,
})

/** Whether the end of a message or a call says that it stopped half-way. */
export function isBrokenOff(metadata: Record<string, unknown> | undefined): boolean {
  const own = metadata?.quarterdeck
  return typeof own === 'object' && own !== null && 'brokenOff' in own && own.brokenOff === true
}
