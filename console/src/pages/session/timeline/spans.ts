// Makes a waterfall out of the events of a session: runs, model calls, tool calls, sub-agents and waits, each with its begin and end.

import type { EventUsage, RunEvent } from 'quarterdeck/client'
import { isRecord } from '../../../../../src/domain/is-record.ts'
import type { LogEvent } from '../../../data/live-types.ts'
import { ownMetadata } from '../../../data/transcript.ts'
import { activityWords } from '../story/story.ts'

export type SpanKind = 'run' | 'model' | 'tool' | 'subagent' | 'wait' | 'note'
export type SpanStatus = 'working' | 'done' | 'failed' | 'stopped' | 'waiting'

export interface Span {
  id: string
  kind: SpanKind
  name: string
  /** Milliseconds. */
  start: number
  /** Null: not yet. */
  end: number | null
  status: SpanStatus
  depth: number
  /** Number of the event that it began with, and of the last one that belongs to it. */
  seq: number
  lastSeq: number
  runId: string | null
  usage: readonly EventUsage[]
  /** What went wrong, or what is waited for. */
  text: string | null
  /** When the model began to answer. */
  firstAnswerAt: number | null
  callId: string | null
  /** The line in which the call was made, if it waited for a person and ran in a later run. */
  asked: Span | null
  /** The sub-agent that it happened in. */
  subagent: string | null
}

/**
 * In the order in which they began, and the time of the last event. Events may begin in the middle of a run, and events without a time get
 * that of the one before.
 */
export function spansOf(events: readonly LogEvent[]): { list: readonly Span[]; end: number } {
  const fold = new SpanFold()
  for (const event of events) fold.add(event)
  return { list: fold.list, end: fold.now }
}

class SpanFold {
  readonly list: Span[] = []
  now = 0
  private run: Span | null = null
  private wait: Span | null = null
  private readonly open = new Map<string, Span>()
  /** How deep the events of a sub-agent are. */
  private readonly depths = new Map<string, number>()
  /** The sub-agent that called a sub-agent. */
  private readonly parents = new Map<string, string>()
  private modelCalls = 0
  private inside: string | null = null

  add({ seq, at, event }: LogEvent): void {
    this.now = at ?? this.now
    this.inside = 'subagentRunId' in event ? (event.subagentRunId ?? null) : null
    this.apply(event, seq)
  }

  private begin(id: string, kind: SpanKind, name: string, seq: number, depth: number): Span {
    const span: Span = {
      id,
      kind,
      name,
      seq,
      lastSeq: seq,
      depth,
      start: this.now,
      end: null,
      status: 'working',
      runId: this.run?.runId ?? null,
      usage: [],
      text: null,
      firstAnswerAt: null,
      callId: null,
      asked: null,
      subagent: this.inside,
    }
    this.list.push(span)
    this.open.set(id, span)
    return span
  }

  private end(span: Span | null | undefined, seq: number, status: SpanStatus): void {
    if (span === null || span === undefined || span.end !== null) return
    span.end = this.now
    span.lastSeq = seq
    span.status = status
    this.open.delete(span.id)
  }

  /** Whoever took the run over closed what was open. When the last word was said is not among the events that are read here. */
  private breakOff(span: Span | undefined, seq: number): void {
    if (span === undefined) return
    this.end(span, seq, 'stopped')
    span.text = 'Broken off. The time goes on until the run did, at this server or another one.'
  }

  /** The run failed because its model did. The server had closed the call by then, as one that ended. */
  private blame({ code, message }: { code?: string; message: string }): void {
    const runId = this.run?.runId
    const call = this.list.findLast(
      (one) => one.kind === 'model' && one.runId === runId && one.subagent === this.inside,
    )
    if (call === undefined || code?.startsWith('model_') !== true) return
    call.status = 'failed'
    call.text = message
  }

  private depthOf(event: RunEvent): number {
    const inside = 'subagentRunId' in event ? event.subagentRunId : undefined
    return inside === undefined ? 1 : (this.depths.get(inside) ?? 1) + 1
  }

  private endAll(seq: number, status: SpanStatus): void {
    for (const span of [...this.open.values()]) if (span.kind !== 'wait') this.end(span, seq, status)
    this.run = null
  }

  private modelId(event: RunEvent): string {
    return `model:${'subagentRunId' in event ? (event.subagentRunId ?? '') : ''}`
  }

  private apply(event: RunEvent, seq: number): void {
    switch (event.type) {
      case 'RUN_STARTED': {
        this.end(this.wait, seq, 'done')
        this.wait = null
        this.modelCalls = 0
        const { triedModel } = ownMetadata(event.metadata)
        const name = typeof triedModel === 'string' ? `Run, tried with ${triedModel}` : 'Run'
        this.run = this.begin(`run:${event.runId}`, 'run', name, seq, 0)
        this.run.runId = event.runId
        this.run.text = firstWords(event.input)
        return
      }
      case 'RUN_FINISHED': {
        const outcome = event.outcome?.type
        const run = this.run
        if (run !== null) run.usage = event.usage ?? []
        this.endAll(seq, outcome === 'interrupt' ? 'waiting' : outcome === 'cancelled' ? 'stopped' : 'done')
        if (run !== null && outcome === 'interrupt') run.status = 'done'
        if (event.outcome?.type !== 'interrupt') return
        const [first] = event.outcome.interrupts
        const count = event.outcome.interrupts.length
        this.wait = this.begin(`wait:${seq}`, 'wait', 'Waits for a person', seq, 0)
        this.wait.status = 'waiting'
        this.wait.text = count > 1 ? `${count} questions` : (first?.message ?? null)
        this.wait.callId = first?.toolCallId ?? null
        return
      }
      case 'RUN_ERROR': {
        if (this.run !== null) {
          this.run.text = event.message
          this.run.usage = event.usage ?? []
        }
        this.blame(event)
        this.endAll(seq, 'failed')
        return
      }
      case 'STEP_STARTED': {
        this.modelCalls += 1
        this.end(this.open.get(this.modelId(event)), seq, 'stopped')
        const name = `Model call ${numberIn(event.stepName) ?? this.modelCalls}`
        this.begin(this.modelId(event), 'model', name, seq, this.depthOf(event))
        return
      }
      case 'STEP_FINISHED': {
        const span = this.open.get(this.modelId(event))
        const usage = usageIn(event.metadata)
        if (span !== undefined) span.usage = usage
        for (let lane = event.subagentRunId; lane !== undefined; lane = this.parents.get(lane)) {
          const subagent = this.open.get(`subagent:${lane}`)
          if (subagent !== undefined) subagent.usage = usage.reduce(withUsage, subagent.usage)
        }
        this.end(span, seq, 'done')
        return
      }
      case 'REASONING_START':
      case 'REASONING_MESSAGE_START':
      case 'TEXT_MESSAGE_START':
        this.firstAnswer(event)
        return
      case 'TOOL_CALL_START': {
        this.firstAnswer(event)
        const span = this.begin(`tool:${event.toolCallId}`, 'tool', event.toolCallName, seq, this.depthOf(event))
        span.callId = event.toolCallId
        return
      }
      case 'TEXT_MESSAGE_END':
      case 'REASONING_MESSAGE_END':
        if (isBrokenOff(event.metadata)) this.breakOff(this.open.get(this.modelId(event)), seq)
        return
      case 'TOOL_CALL_END': {
        const span = this.open.get(`tool:${event.toolCallId}`)
        if (isBrokenOff(event.metadata)) {
          this.breakOff(this.open.get(this.modelId(event)), seq)
          this.breakOff(span, seq)
          return
        }
        // Until here the model wrote the arguments. The tool runs from now on.
        if (span !== undefined) span.start = this.now
        return
      }
      case 'TOOL_CALL_RESULT': {
        const { status, durationMs } = ownMetadata(event.metadata)
        const span = this.open.get(`tool:${event.toolCallId}`) ?? this.again(event.toolCallId, seq, durationMs)
        if (status === 'error') span.text = firstLine(event.content)
        this.end(span, seq, status === 'error' ? 'failed' : 'done')
        return
      }
      case 'SUBAGENT_STARTED': {
        const parent =
          event.parentSubagentRunId === undefined ? 1 : (this.depths.get(event.parentSubagentRunId) ?? 1) + 1
        const depth = event.parentToolCallId === undefined ? parent : parent + 1
        // Only the first start counts, so that nobody becomes a parent of its own.
        if (event.parentSubagentRunId !== undefined && !this.depths.has(event.subagentRunId)) {
          this.parents.set(event.subagentRunId, event.parentSubagentRunId)
        }
        this.depths.set(event.subagentRunId, depth)
        if (this.open.has(`subagent:${event.subagentRunId}`)) return
        this.begin(`subagent:${event.subagentRunId}`, 'subagent', event.name, seq, depth)
        return
      }
      case 'SUBAGENT_FINISHED':
        this.end(
          this.open.get(`subagent:${event.subagentRunId}`),
          seq,
          event.outcome?.type === 'suspended' ? 'waiting' : 'done',
        )
        return
      case 'SUBAGENT_ERROR': {
        const span = this.open.get(`subagent:${event.subagentRunId}`)
        if (span !== undefined) span.text = event.message
        this.blame(event)
        this.end(span, seq, 'failed')
        return
      }
      case 'ACTIVITY_SNAPSHOT':
        this.note(
          activityWords({ name: event.activityType, content: event.content })?.[1] ?? event.activityType,
          seq,
          this.depthOf(event),
        )
        return
      case 'CUSTOM':
        this.note(event.name, seq, this.depthOf(event))
        return
      default:
        return
    }
  }

  private note(name: string, seq: number, depth: number): void {
    this.end(this.begin(`note:${seq}`, 'note', name.replaceAll('_', ' '), seq, depth), seq, 'done')
  }

  private firstAnswer(event: RunEvent): void {
    const span = this.open.get(this.modelId(event))
    if (span !== undefined) span.firstAnswerAt ??= this.now
  }

  /** The call waited for a person, and ran in a later run. */
  private again(callId: string, seq: number, durationMs: unknown): Span {
    const asked = this.list.findLast((span) => span.callId === callId && span.kind === 'tool')
    const span = this.begin(`tool:${callId}:${seq}`, 'tool', asked?.name ?? 'Tool call', seq, asked?.depth ?? 1)
    span.callId = callId
    span.asked = asked ?? null
    span.start = Math.max(this.run?.start ?? 0, this.now - (typeof durationMs === 'number' ? durationMs : 0))
    return span
  }
}

type Metadata = Parameters<typeof ownMetadata>[0]

const isBrokenOff = (metadata: Metadata): boolean => ownMetadata(metadata).brokenOff === true

/** What one model call used, if the server says it. */
function usageIn(metadata: Metadata): EventUsage[] {
  const { usage } = ownMetadata(metadata)
  return isRecord(usage) ? [usage as EventUsage] : []
}

const counts = [
  ...(['inputTokens', 'outputTokens', 'totalTokens'] as const),
  ...(['reasoningTokens', 'cachedInputTokens', 'cacheWriteInputTokens'] as const),
]

/** Keeps one entry for each model. */
function withUsage(sum: readonly EventUsage[], add: EventUsage): EventUsage[] {
  const known = sum.find(({ provider, model }) => provider === add.provider && model === add.model)
  if (known === undefined) return [...sum, add]
  const both: EventUsage = { ...known }
  for (const count of counts) {
    if (known[count] !== undefined || add[count] !== undefined) both[count] = (known[count] ?? 0) + (add[count] ?? 0)
  }
  return sum.map((one) => (one === known ? both : one))
}

function numberIn(stepName: string): string | null {
  return /(\d+)$/.exec(stepName)?.[1] ?? null
}

const WORDS = 120

/** What the user said in the message that began a run. */
function firstWords(input: unknown): string | null {
  const messages = isRecord(input) && Array.isArray(input.messages) ? input.messages : []
  const message = messages.findLast((one: unknown) => isRecord(one) && one.role === 'user')
  if (!isRecord(message)) return null
  const { content } = message
  const parts = Array.isArray(content) ? content : [{ text: content }]
  const text = parts.find((part: unknown) => isRecord(part) && typeof part.text === 'string')?.text
  return typeof text === 'string' ? text.slice(0, WORDS).replace(/\s+/g, ' ').trim() : null
}

function firstLine(content: unknown): string {
  const text = typeof content === 'string' ? content : (JSON.stringify(content) ?? '')
  return text.slice(0, 2 * WORDS)
}

/** Tokens of all models together. */
export const tokensIn = (usage: readonly EventUsage[]): number =>
  usage.reduce((sum, one) => sum + (one.totalTokens ?? (one.inputTokens ?? 0) + (one.outputTokens ?? 0)), 0)
