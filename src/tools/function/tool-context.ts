import type { Logger } from '../../domain/logger.ts'
import type { TraceContext } from '../../domain/telemetry.ts'
import type { ToolCallRequest, ToolVoice } from '../tool.ts'
import type { Ask } from './ask-person.ts'
import type { StrayErrors } from './stray-errors.ts'

/** The second argument of a tool's function. Its own functions need no `this`: `({ city }, { log, emit }) => …` works. */
export interface ToolContext<State = unknown> extends Pick<ToolVoice, 'log' | 'emit' | 'activity' | 'progress'> {
  /** Ids of the session and of the run. */
  readonly session: string
  readonly run: string
  /** The user who owns the session. */
  readonly user: string
  /** The name of the agent that calls. */
  readonly agent: string
  /** Unique for this call, and the same when the call is repeated. Use it as an idempotency key. */
  readonly callId: string
  /** Aborts when the call takes too long, fails, or the run is stopped. Pass it on to `fetch` and the like. */
  readonly signal: AbortSignal
  /** Headers (`traceparent`, `tracestate`) for what the function calls, so that it goes on in the same trace. Null: there is none. */
  readonly trace: TraceContext | null
  /**
   * The session's shared state, `{}` while there is none. Changes (`context.state.count += 1`) are shared when the function returns, and
   * dropped when it throws.
   */
  state: State
  /** Replaces the shared state at once. Clients get the difference. */
  setState(next: State): void
  /**
   * Asks a person, and resolves with their answer. The run is suspended meanwhile, and nothing stays in memory: when there is an
   * answer, the function is called again from its start, and what was asked before gives its answer at once. So the code before an
   * `ask` runs again and must be repeatable, and it must ask the same questions in the same order. Nothing behind it runs before
   * there is an answer, `finally` included; `signal` aborts. Throws `AskError` if the person refuses or nobody answers in time.
   */
  readonly ask: Ask
  /** What the client sent with the run. Do not trust it. */
  readonly forwardedProps: unknown
}

/** The second argument of `preview` and `needsApproval`. */
export interface ReviewContext extends Pick<ToolContext, 'session' | 'user' | 'agent' | 'log'> {
  /** Aborts after 5 s. */
  readonly signal: AbortSignal
}

export function createToolContext(
  call: ToolCallRequest,
  signal: AbortSignal,
  strays: Pick<StrayErrors, 'outside'>,
  ask: Ask,
) {
  const voice = outsideVoice(call.voice, strays)
  /** A copy, made when the function first asks for the state: calls run side by side. */
  let draft: { state: unknown; asGiven: string | undefined } | null = null
  function open(): { state: unknown; asGiven: string | undefined } {
    if (draft === null) {
      const state = structuredClone(voice.state() ?? {})
      draft = { state, asGiven: JSON.stringify(state) }
    }
    return draft
  }
  const context: ToolContext = {
    session: call.sessionId,
    run: call.runId,
    user: call.owner,
    agent: call.agent,
    callId: call.callId,
    signal,
    log: voice.log,
    trace: call.trace ?? null,
    get state() {
      return open().state
    },
    set state(next) {
      open().state = next
    },
    setState(next) {
      voice.setState(next)
      draft = null
    },
    emit: (name, value) => voice.emit(name, value),
    activity: (id, type, content) => voice.activity(id, type, content),
    progress: (done, total, message) => voice.progress(done, total, message),
    ask,
    forwardedProps: call.forwardedProps,
  }
  return {
    context,
    /** Shares what the function has changed in `context.state`. */
    shareState(): void {
      if (draft === null || JSON.stringify(draft.state) === draft.asGiven) return
      voice.setState(draft.state)
    },
  }
}

/** Work that the voice starts in the server (a commit, a write) belongs to the server. */
function outsideVoice(voice: ToolVoice, { outside }: Pick<StrayErrors, 'outside'>): ToolVoice {
  return {
    log: outsideLog(voice.log, outside),
    state: () => outside(() => voice.state()),
    setState: (next) => outside(() => voice.setState(next)),
    emit: (name, value) => outside(() => voice.emit(name, value)),
    activity: (id, type, content) => outside(() => voice.activity(id, type, content)),
    progress: (done, total, message) => outside(() => voice.progress(done, total, message)),
  }
}

const outsideLog = (log: Logger, outside: StrayErrors['outside']): Logger => ({
  debug: (message, fields) => outside(() => log.debug(message, fields)),
  info: (message, fields) => outside(() => log.info(message, fields)),
  warn: (message, fields) => outside(() => log.warn(message, fields)),
  error: (message, fields) => outside(() => log.error(message, fields)),
  with: (fields) => outsideLog(log.with(fields), outside),
})
