import type { Clock } from '../../domain/clock.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { Logger } from '../../domain/logger.ts'
import { APP_ACTIVITY, type RunEvent } from '../../domain/session/event.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { SOURCES } from '../../domain/session/source.ts'

/**
 * Sees every event before it is appended, and may change or drop it. So replayed events are the same as live ones. It must be
 * quick and must not throw. The first and the last event of a run cannot be dropped. If a TOOL_CALL_START is dropped, the call
 * never runs and leaves no other event.
 */
export interface Middleware {
  (event: RunEvent, scope: MiddlewareScope): RunEvent | null
  /** For text that leaves the server in another way, such as the spans of a trace; absent: it changes no text. */
  redact?(text: string): string
}

export interface MiddlewareScope {
  sessionId: string
  runId: string
  agent: string
  /** Id of the request that started the run. */
  correlationId?: string | undefined
}

export const middlewareScope = ({ id, sessionId, agent, input }: RunRecord): MiddlewareScope => ({
  sessionId,
  runId: id,
  agent,
  correlationId: input.correlationId,
})

const NO_EVENT = 'A middleware did not return an event. Return the event or null. It cannot be async.'

/** One function for the whole chain. Null if the chain is empty, so that the hot path can skip it. */
export function chain(middleware: readonly Middleware[]): Middleware | null {
  if (middleware.length === 0) return null
  return (event, scope) => {
    let current: RunEvent | null = event
    for (const layer of middleware) {
      current = layer(current, scope)
      if (current === null) return null
      // A program in JavaScript may return a promise here, which no client could read.
      if (typeof current?.type !== 'string') throw new TypeError(NO_EVENT)
    }
    return current
  }
}

/**
 * Drops CUSTOM and ACTIVITY_SNAPSHOT events of a run beyond `perSecond`, for tools that report their progress too often. Other
 * events are never dropped: an answer, a call or the state would be wrong with a piece missing.
 */
export function createRateLimit(perSecond: number, clock: Pick<Clock, 'mono'>): Middleware {
  const runs = new Map<string, { second: number; count: number }>()
  return (event, { runId }) => {
    if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') runs.delete(runId)
    if (event.type !== 'CUSTOM' && event.type !== 'ACTIVITY_SNAPSHOT') return event
    const second = Math.floor(clock.mono() / 1000)
    const current = runs.get(runId)
    const count = current?.second === second ? current.count + 1 : 1
    runs.set(runId, { second, count })
    return count > perSecond ? null : event
  }
}

/**
 * Replaces what the patterns match in answers, reasoning, arguments and tool results. It does not find a match that is split
 * over two deltas: use it for secrets that a tool prints or a model repeats whole, not for censorship.
 */
export function createRedaction(patterns: readonly RegExp[], replacement = '[redacted]'): Middleware {
  // `replaceAll` needs the global flag.
  const all = patterns.map((pattern) => (pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`)))
  const redact = (text: string): string => all.reduce((out, pattern) => out.replaceAll(pattern, replacement), text)
  const middleware: Middleware = (event) => {
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'TOOL_CALL_ARGS':
        return { ...event, delta: redact(event.delta) }
      case 'TOOL_CALL_RESULT':
        return typeof event.content === 'string'
          ? withSources({ ...event, content: redact(event.content) }, redact)
          : event
      case 'TEXT_MESSAGE_END':
        return withSources(event, redact)
      case 'ACTIVITY_SNAPSHOT':
        // They hold the arguments and the result of a tool once more.
        if (event.activityType === SOURCES)
          return { ...event, content: textsChanged(event.content, redact, SOURCE_NAMES) }
        return event.activityType === APP_ACTIVITY ? { ...event, content: textsChanged(event.content, redact) } : event
      default:
        return event
    }
  }
  return Object.assign(middleware, { redact })
}

/** By these a source is found again. */
const SOURCE_NAMES: ReadonlySet<string> = new Set(['id', 'tool', 'messageId'])

/** What a result has shown, and what an answer cites: with the names of files, headings and texts. */
function withSources<E extends RunEvent>(event: E, redact: (text: string) => string): E {
  const own = event.metadata?.quarterdeck
  if (!isRecord(own) || (own.shown ?? own.citations) === undefined) return event
  const { shown, citations } = own
  const changed = {
    ...(shown === undefined ? {} : { shown: textsChanged(shown, redact, SOURCE_NAMES) }),
    ...(citations === undefined ? {} : { citations: textsChanged(citations, redact, SOURCE_NAMES) }),
  }
  return { ...event, metadata: { ...event.metadata, quarterdeck: { ...own, ...changed } } }
}

const NO_NAMES: ReadonlySet<string> = new Set()

function textsChanged<T>(value: T, change: (text: string) => string, kept?: ReadonlySet<string>): T
function textsChanged(value: unknown, change: (text: string) => string, kept = NO_NAMES): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one) => textsChanged(one, change, kept))
  if (!isRecord(value)) return value
  const changed = ([key, one]: [string, unknown]) => [key, kept.has(key) ? one : textsChanged(one, change, kept)]
  return Object.fromEntries(Object.entries(value).map(changed))
}

/** Adds fixed metadata to the first event of every run. */
export function createRunMetadata(metadata: Record<string, unknown>): Middleware {
  return (event) => (event.type === 'RUN_STARTED' ? { ...event, metadata: { ...event.metadata, ...metadata } } : event)
}

/** Lets the model call only the tools in `allow`, if given, and none in `deny`. */
export function createToolFilter(rule: { allow?: readonly string[]; deny?: readonly string[] }): Middleware {
  return (event) => {
    if (event.type !== 'TOOL_CALL_START') return event
    const allowed = rule.allow === undefined || rule.allow.includes(event.toolCallName)
    return allowed && !rule.deny?.includes(event.toolCallName) ? event : null
  }
}

/** Logs the type of every event at debug level. The event itself is `content`, which the log drops unless it was asked for. */
export function createEventLog(logger: Logger): Middleware {
  return (event, { sessionId, runId, correlationId }) => {
    logger.debug('event', {
      correlation_id: correlationId,
      session_id: sessionId,
      run_id: runId,
      type: event.type,
      content: event,
    })
    return event
  }
}
