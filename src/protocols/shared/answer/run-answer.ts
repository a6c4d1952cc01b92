// The events of a run -> its answer, for the doors that have no words for all that happened on the way. Pure.

import type { RunEvent, RunEventOf, RunEventType, TokenUsage } from '../../../domain/event.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { type StoredMessage, textOf } from '../../../domain/message.ts'
import type { RunError } from '../../../domain/run.ts'
import { CUT_BY_LENGTH } from '../../../engine/run/run-end.ts'

export type AnswerOutcome = 'completed' | 'failed' | 'cancelled' | 'interrupted' | 'waiting'

export interface RunAnswer {
  outcome: AnswerOutcome
  /** All that the agent said in the run; what it said before and after a tool is `BETWEEN_MESSAGES` apart. May be empty. */
  text: string
  /** The same by message, in order. Those that a crash cut off and a later one repeats are left out. */
  messages: { id: string; text: string }[]
  /** Of the last message; null when nothing was said. */
  messageId: string | null
  /** The agent that said the last message, where that is not the run's own. */
  agentName: string | null
  toolCalls: AnswerToolCall[]
  /** One entry per provider and model; empty when the model told nothing. */
  usage: TokenUsage[]
  /** Of a run that failed or was interrupted. */
  error: RunError | null
  /** The model's limit of tokens ended the answer before the model did. */
  cutByLength: boolean
  /** The ids of the approvals that a waiting run waits for. */
  approvalIds: string[]
  /** The ids of the calls that the client is to run. */
  clientCallIds: string[]
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
  /** The events of a run, or of several that went on from each other: then they are one answer. */
  add(event: RunEvent): void
  /** The result of a call, where no event tells it: a client's that came while its run was at work. */
  addResult(message: ToolResult): void
  /** Null before the run's terminal event. */
  answer(): RunAnswer | null
}

export type ToolResult = Pick<StoredMessage, 'toolCallId' | 'content' | 'error' | 'metadata'> & { createdAt: number }

/** The events that `createRunFold` looks at; the others need not be parsed. */
export const foldedTypes: ReadonlySet<RunEventType> = new Set<RunEventType>([
  'RUN_STARTED',
  'TEXT_MESSAGE_START',
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
export function foldRun(events: Iterable<RunEvent>): RunAnswer | null {
  const fold = createRunFold()
  for (const event of events) fold.add(event)
  return fold.answer()
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
  result: { text: string; isError: boolean; durationMs: number } | null
}

export function createRunFold(): RunFold {
  const said = new Map<string, Said>()
  const calls = new Map<string, Call>()
  const speakers = new Map<string, string>()
  let startedAt: number | null = null
  let terminal: RunEventOf<'RUN_FINISHED' | 'RUN_ERROR'> | null = null

  function addResult({ toolCallId = '', content, error, metadata, createdAt }: ToolResult): void {
    const call = calls.get(toolCallId)
    if (call === undefined || call.result !== null) return
    const durationMs = durationIn(metadata) ?? Math.max(0, createdAt - call.endedAt)
    call.result = { text: textOf(content), isError: error !== undefined, durationMs }
  }

  function add(event: RunEvent): void {
    if (isOfSubagent(event)) return
    switch (event.type) {
      case 'RUN_STARTED':
        startedAt ??= event.timestamp ?? null
        // What the client's tools gave is brought by the run that goes on with it.
        for (const message of event.input?.messages ?? []) {
          if (message.role === 'tool') addResult({ ...message, createdAt: event.timestamp ?? 0 })
        }
        break
      case 'TEXT_MESSAGE_START':
        if (event.name !== undefined) speakers.set(event.messageId, event.name)
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
        const call = calls.get(event.toolCallId)
        if (call === undefined) break
        const measured = Math.max(0, (event.timestamp ?? call.endedAt) - call.endedAt)
        const durationMs = durationIn(event.metadata) ?? measured
        call.result = { text: textOf(event.content), isError: isFailedResult(event), durationMs }
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
    addResult,
    answer() {
      if (terminal === null) return null
      const outcome = outcomeOf(terminal)
      const messages = wholeMessages([...said.values()], outcome)
      return {
        outcome,
        text: messages.map(({ text }) => text).join(BETWEEN_MESSAGES),
        messages,
        messageId: messages.at(-1)?.id ?? null,
        agentName: speakers.get(messages.at(-1)?.id ?? '') ?? null,
        // Arguments that stopped half-way are no call.
        toolCalls: [...calls.values()].filter((call) => !call.brokenOff).map(toolCallOf),
        usage: terminal.usage ?? [],
        error: terminal.type === 'RUN_ERROR' ? errorOf(terminal) : null,
        cutByLength: isCutByLength(terminal),
        ...waitsFor(terminal),
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

function toolCallOf({ id, name, args, result }: Call): AnswerToolCall {
  const isError = result?.isError === true
  return {
    id,
    name,
    arguments: parseArguments(args),
    argumentsText: args,
    status: result === null ? 'open' : isError ? 'error' : 'success',
    result: isError ? null : (result?.text ?? null),
    error: isError ? result.text : null,
    durationMs: result?.durationMs ?? null,
  }
}

/** A call's arguments as an object; empty where they are none. */
export function parseArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? { ...value } : {}
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
  const { approvalIds, clientCallIds } = waitsFor(terminal)
  return approvalIds.length + clientCallIds.length > 0 ? 'waiting' : 'completed'
}

/** What a run has left for others to answer. */
export function waitsFor(
  terminal: RunEventOf<'RUN_FINISHED' | 'RUN_ERROR'>,
): Pick<RunAnswer, 'approvalIds' | 'clientCallIds'> {
  const outcome = terminal.type === 'RUN_FINISHED' ? terminal.outcome : undefined
  return {
    approvalIds: outcome?.type === 'interrupt' ? outcome.interrupts.map(({ id }) => id) : [],
    clientCallIds: outcome?.type === 'success' ? (outcome.pendingToolCallIds ?? []) : [],
  }
}

export const errorOf = ({ code, message }: RunEventOf<'RUN_ERROR'>): RunError => ({
  code: code ?? 'internal_error',
  message,
})

/** What a sub-agent does on the way is not the answer; its result is. That there is one, is the caller's to tell. */
export const isOfSubagent = (event: RunEvent): boolean =>
  'subagentRunId' in event && event.subagentRunId !== undefined && !event.type.startsWith('SUBAGENT_')

/** AG-UI's TOOL_CALL_RESULT has no word for a failure; our metadata on it has. */
export function isFailedResult({ metadata }: RunEventOf<'TOOL_CALL_RESULT'>): boolean {
  const own = metadata?.quarterdeck
  return typeof own === 'object' && own !== null && 'status' in own && own.status === 'error'
}

/** How long a call took, by whoever ran it. */
export function durationIn(metadata: Record<string, unknown> | undefined): number | null {
  const own = metadata?.quarterdeck
  const duration = typeof own === 'object' && own !== null && 'durationMs' in own ? own.durationMs : null
  return typeof duration === 'number' ? Math.round(duration) : null
}

/** Whether the end of a message or a call says that it stopped half-way. */
export function isBrokenOff(metadata: Record<string, unknown> | undefined): boolean {
  const own = metadata?.quarterdeck
  return typeof own === 'object' && own !== null && 'brokenOff' in own && own.brokenOff === true
}
