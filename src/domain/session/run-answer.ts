// Folds the events of a run into its answer: what was said and called, and how it ended. Pure. The protocols that have no words
// for single events use it, and so does the evaluation.

import { isRecord } from '../is-record.ts'
import { jsonIn } from '../json-in.ts'
import type { Interrupt, RunEvent, RunEventOf, RunEventType, TerminalEvent, TokenUsage } from './event.ts'
import { type StoredMessage, textOf } from './message.ts'
import type { RunError } from './run.ts'
import { type Citations, citationsIn } from './source.ts'

export type AnswerOutcome = 'completed' | 'failed' | 'cancelled' | 'interrupted' | 'waiting'

export interface AnswerSoFar {
  /** Everything the agent said, with `BETWEEN_MESSAGES` between two messages. May be empty. */
  text: string
  /** The same by message, in order. Messages that a crash cut off and a later one repeats are left out. */
  messages: AnswerMessage[]
  /** Id of the last message; null when nothing was said. */
  messageId: string | null
  /** Name of the agent that said the last message, if it is not the run's own agent. */
  agentName: string | null
  toolCalls: AnswerToolCall[]
  /** Token counts by provider and model, run after run. Empty when the model reported none. */
  usage: TokenUsage[]
}

export interface AnswerMessage {
  id: string
  text: string
  /** Absent: it cites nothing. */
  citations?: Citations
}

export interface RunAnswer extends AnswerSoFar {
  outcome: AnswerOutcome
  /** Set when the run failed or was interrupted. */
  error: RunError | null
  /** True when the model's token limit cut the answer off. */
  cutByLength: boolean
  /** The approvals that a waiting run waits for, as AG-UI interrupts. */
  interrupts: Interrupt[]
  approvalIds: string[]
  clientCallIds: string[]
  /** From the start of the run to its end, without the time it was queued. */
  durationMs: number
}

export interface AnswerToolCall {
  id: string
  name: string
  /** Empty if the model did not write a JSON object. */
  arguments: Record<string, unknown>
  /** The arguments as the model wrote them. */
  argumentsText: string
  /** `open`: the run ended before the call had a result. */
  status: 'success' | 'error' | 'open'
  /** Null if there is none, or if the call failed. */
  result: string | null
  error: string | null
  /** Null while the call is open. */
  durationMs: number | null
  bySubagent: boolean
}

/** Separates two messages where a protocol shows them as one text. */
export const BETWEEN_MESSAGES = '\n\n'

/** Metadata of a RUN_FINISHED whose answer the model's token limit cut off. */
export const CUT_BY_LENGTH = { quarterdeck: { finishReason: 'length' } }

export type ToolResult = Pick<StoredMessage, 'toolCallId' | 'content' | 'error' | 'metadata'> & { createdAt: number }

/** The events that `createRunFold` reads. Other events need not be parsed. */
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

interface Said {
  message: AnswerMessage
  brokenOff: boolean
}

interface Call {
  id: string
  name: string
  args: string
  bySubagent: boolean
  brokenOff: boolean
  endedAt: number
  result: { text: string; isError: boolean; durationMs: number } | null
}

/** With `subagentCalls` the calls that sub-agents made are in the answer too. What they said never is. */
export function createRunFold({ subagentCalls = false }: { subagentCalls?: boolean } = {}) {
  // Ids come from models. Maps, not objects: "__proto__" must be an ordinary key.
  const said = new Map<string, Said>()
  const calls = new Map<string, Call>()
  const speakers = new Map<string, string>()
  const usage: TokenUsage[] = []
  let startedAt: number | null = null
  let terminal: TerminalEvent | null = null

  /** Takes the result of a call that no event reports: the client sent it while its run was active. */
  function addResult({ toolCallId = '', content, error, metadata, createdAt }: ToolResult): void {
    const call = calls.get(toolCallId)
    if (call === undefined || call.result !== null) return
    const durationMs = durationIn(metadata) ?? Math.max(0, createdAt - call.endedAt)
    call.result = { text: textOf(content), isError: error !== undefined, durationMs }
  }

  function addStart(event: RunEventOf<'RUN_STARTED'>): void {
    startedAt ??= event.timestamp ?? null
    terminal = null
    // A run that continues after client tools brings their results as messages.
    for (const message of event.input?.messages ?? []) {
      if (message.role === 'tool') addResult({ ...message, createdAt: event.timestamp ?? 0 })
    }
  }

  function addText({ messageId: id, delta }: RunEventOf<'TEXT_MESSAGE_CONTENT'>): void {
    const one = said.get(id)
    if (one === undefined) said.set(id, { message: { id, text: delta }, brokenOff: false })
    else one.message.text += delta
  }

  function addCallEvent(event: CallEvent): void {
    if (event.type === 'TOOL_CALL_START') {
      const { toolCallId: id, toolCallName: name, timestamp: endedAt = 0 } = event
      const bySubagent = isOfSubagent(event)
      calls.set(id, { id, name, args: '', bySubagent, brokenOff: false, endedAt, result: null })
      return
    }
    const call = calls.get(event.toolCallId)
    if (call === undefined) return
    if (event.type === 'TOOL_CALL_ARGS') call.args += event.delta
    else if (event.type === 'TOOL_CALL_END') {
      call.endedAt = event.timestamp ?? call.endedAt
      call.brokenOff = isBrokenOff(event.metadata)
    } else {
      const measured = Math.max(0, (event.timestamp ?? call.endedAt) - call.endedAt)
      const durationMs = durationIn(event.metadata) ?? measured
      call.result = { text: textOf(event.content), isError: isFailedResult(event), durationMs }
    }
  }

  /** Takes the next event. Runs that continue each other may be added one after the other: together they are one answer. */
  function add(event: RunEvent): void {
    if (isOfSubagent(event) && !(subagentCalls && isCallEvent(event))) return
    switch (event.type) {
      case 'RUN_STARTED':
        addStart(event)
        break
      case 'TEXT_MESSAGE_START':
        if (event.name !== undefined) speakers.set(event.messageId, event.name)
        break
      case 'TEXT_MESSAGE_CONTENT':
        addText(event)
        break
      case 'TEXT_MESSAGE_END': {
        const one = said.get(event.messageId)
        if (one === undefined) break
        one.brokenOff = isBrokenOff(event.metadata)
        const citations = citationsIn(event.metadata)
        if (citations !== null) one.message.citations = citations
        break
      }
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        terminal = event
        usage.push(...(event.usage ?? []))
        break
      default:
        if (isCallEvent(event)) addCallEvent(event)
    }
  }

  function soFar(outcome: AnswerOutcome | null): AnswerSoFar {
    const messages = wholeMessages([...said.values()], outcome)
    const messageId = messages.at(-1)?.id ?? null
    return {
      text: messages.map(({ text }) => text).join(BETWEEN_MESSAGES),
      messages,
      messageId,
      agentName: speakers.get(messageId ?? '') ?? null,
      // A call whose arguments broke off was never made.
      toolCalls: [...calls.values()].filter((call) => !call.brokenOff).map(toolCallOf),
      usage: [...usage],
    }
  }

  return {
    add,
    addResult,
    soFar: (): AnswerSoFar => soFar(null),
    /** Null until the run that was added last has ended. */
    answer(): RunAnswer | null {
      if (terminal === null) return null
      const outcome = outcomeOf(terminal)
      return {
        ...soFar(outcome),
        outcome,
        error: terminal.type === 'RUN_ERROR' ? errorOf(terminal) : null,
        cutByLength: isCutByLength(terminal),
        interrupts: interruptsIn(terminal),
        ...waitsFor(terminal),
        durationMs: Math.max(0, (terminal.timestamp ?? 0) - (startedAt ?? terminal.timestamp ?? 0)),
      }
    },
  }
}

type CallEvent = RunEventOf<'TOOL_CALL_START' | 'TOOL_CALL_ARGS' | 'TOOL_CALL_END' | 'TOOL_CALL_RESULT'>

const isCallEvent = (event: RunEvent): event is CallEvent => event.type.startsWith('TOOL_CALL_')

/** A later message repeats what broke off, so it counts only as the last words of a run that did not complete. */
function wholeMessages(said: readonly Said[], outcome: AnswerOutcome | null): RunAnswer['messages'] {
  const last = outcome === 'completed' ? undefined : said.at(-1)
  return said.filter((one) => !one.brokenOff || one === last).map(({ message }) => ({ ...message }))
}

function toolCallOf({ id, name, args, result, bySubagent }: Call): AnswerToolCall {
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
    bySubagent,
  }
}

/** A call's arguments as an object; empty if they are not one. */
export const parseArguments = (text: string): Record<string, unknown> => argumentsObject(text) ?? {}

/** A call's arguments; null if the model did not write a JSON object. */
export function argumentsObject(text: string): Record<string, unknown> | null {
  const value = jsonIn(text)
  return isRecord(value) ? value : null
}

export function outcomeOf(terminal: TerminalEvent): AnswerOutcome {
  if (terminal.type === 'RUN_ERROR') {
    return terminal.code === 'interrupted' || terminal.code === 'needs_review' ? 'interrupted' : 'failed'
  }
  if (terminal.outcome?.type === 'cancelled') return 'cancelled'
  const { approvalIds, clientCallIds } = waitsFor(terminal)
  return approvalIds.length + clientCallIds.length > 0 ? 'waiting' : 'completed'
}

/** What a person or the client has to answer before the run can continue. */
export function waitsFor(terminal: TerminalEvent): Pick<RunAnswer, 'approvalIds' | 'clientCallIds'> {
  const outcome = terminal.type === 'RUN_FINISHED' ? terminal.outcome : undefined
  return {
    approvalIds: interruptsIn(terminal).map(({ id }) => id),
    clientCallIds: outcome?.type === 'success' ? (outcome.pendingToolCallIds ?? []) : [],
  }
}

const interruptsIn = (terminal: TerminalEvent): Interrupt[] =>
  terminal.type === 'RUN_FINISHED' && terminal.outcome?.type === 'interrupt' ? terminal.outcome.interrupts : []

export const errorOf = ({ code, message }: RunEventOf<'RUN_ERROR'>): RunError => ({
  code: code ?? 'internal_error',
  message,
})

/** True for what a sub-agent does inside a run. SUBAGENT_* events themselves belong to the agent that called it. */
export const isOfSubagent = (event: RunEvent): boolean =>
  'subagentRunId' in event && event.subagentRunId !== undefined && !event.type.startsWith('SUBAGENT_')

/** Our own metadata on an event. AG-UI has no words for what it says. */
function ownMetadata(metadata: Record<string, unknown> | undefined): Readonly<Record<string, unknown>> {
  const own = metadata?.quarterdeck
  return isRecord(own) ? own : {}
}

export const isCutByLength = ({ type, metadata }: TerminalEvent): boolean =>
  type === 'RUN_FINISHED' && ownMetadata(metadata).finishReason === CUT_BY_LENGTH.quarterdeck.finishReason

export const isFailedResult = ({ metadata }: RunEventOf<'TOOL_CALL_RESULT'>): boolean =>
  ownMetadata(metadata).status === 'error'

/** How long a call took, according to whoever ran it. */
export function durationIn(metadata: Record<string, unknown> | undefined): number | null {
  const { durationMs } = ownMetadata(metadata)
  return typeof durationMs === 'number' ? Math.round(durationMs) : null
}

/** Whether a message or a call stopped before it was complete. */
export const isBrokenOff = (metadata: Record<string, unknown> | undefined): boolean =>
  ownMetadata(metadata).brokenOff === true
