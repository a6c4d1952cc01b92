// The run loop: context → model → events → log, step by step, until the model has nothing more to call. Everything it needs
// comes in as arguments; it ends with exactly one terminal event, whatever happens.

import { ServerError } from '../../domain/errors.ts'
import type { TerminalEvent, TokenUsage } from '../../domain/event.ts'
import type { Logger } from '../../domain/logger.ts'
import type { StoredMessage } from '../../domain/message.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import { unreachable } from '../../domain/unreachable.ts'
import { createRunFiles } from '../files/run-files.ts'
import { runAgent, StepBroken } from './agent-loop.ts'
import { createBudget, exceeded } from './budget.ts'
import type { Answer } from './model-step.ts'
import { threadIdOf, waitingEnd } from './run-end.ts'
import { requestedStop } from './run-entries.ts'
import { logRun, logWaits, type RunFacts } from './run-log.ts'
import type { AgentParts, ExecuteDeps, Lane, RunScope } from './run-scope.ts'
import type { RunEnd, RunWriter } from './run-writer.ts'
import { createSharedState } from './shared-state.ts'
import { type Stop, stopOf } from './stop.ts'
import { createUsageMeter } from './usage.ts'

/** Where a recovered run goes on. */
export interface Resumption {
  stepsDone: number
  usage: TokenUsage[]
  /** Calls without a result that had begun and may be begun again, each with what its tool was made of then. */
  begun: ReadonlyMap<string, string | undefined>
}

/** `suspended`: given back to be recovered later. `lost`: another process has taken it over. */
export type Outcome = RunEnd['status'] | 'suspended' | 'lost'

export async function executeRun(
  deps: ExecuteDeps,
  root: AgentParts,
  run: RunRecord,
  session: SessionRecord,
  writer: RunWriter,
  stop: AbortController,
  resumption: Resumption = { stepsDone: 0, usage: [], begun: new Map() },
): Promise<{ outcome: Outcome; usage: TokenUsage[] }> {
  const { limits } = root.definition
  const seconds = limits.durationMs / 1000
  const stopTimer = deps.clock.after(limits.durationMs, () => {
    const { code, message } = exceeded('duration', seconds, `${seconds} s`)
    stop.abort({ kind: 'failed', code, message } satisfies Stop)
  })
  const usage = createUsageMeter(resumption.usage)
  const lane: Lane = { id: null, subagentRunId: null, pen: writer, depth: 0 }
  const scope: RunScope = {
    ...deps,
    run,
    session,
    root,
    writer,
    signal: stop.signal,
    budget: createBudget(limits, deps.prices.atMost),
    usage,
    state: createSharedState(writer, session.state),
    files: deps.fileSource === null ? null : createRunFiles(deps.fileSource, deps.store, run, deps.log),
    called: [],
    begun: resumption.begun,
    stepsDone: resumption.stepsDone,
    isContinued: run.origin === 'recovery' || !bringsNewWord(run),
  }

  const began = deps.clock.mono()
  /** Behind the end, so that the log never tells more than the store knows. */
  function ended(outcome: Outcome, more: Pick<RunFacts, 'pending' | 'error' | 'stoppedBy'> = {}) {
    logRun(deps.log, {
      agent: root.definition.name,
      outcome,
      usage: usage.total,
      cost: deps.prices.exact(usage.total),
      latencyMs: deps.clock.mono() - began,
      tools: scope.called,
      ...more,
    })
    return { outcome, usage: usage.total }
  }

  try {
    if (session.state !== undefined) {
      writer.emit({ type: 'STATE_SNAPSHOT', snapshot: session.state, timestamp: writer.timestamp() })
    }
    if (resumption.stepsDone > 0) scope.budget.used(usage.total)
    let agent = deps.agents.get(session.activeAgent ?? '') ?? root
    for (
      let attempt = scope;
      ;
      attempt = { ...scope, budget: createBudget(limits, deps.prices.atMost), isContinued: true }
    ) {
      const end = await runAgent(attempt, lane, agent, attempt.budget)
      if (end.type === 'answered') {
        await writer.finish(completed(run, session, usage.total, end.answer, writer.timestamp()))
        return ended('completed')
      }
      try {
        await writer.finish(waitingEnd(run, session, usage.total, end.pending, writer.timestamp()))
        logWaits(deps.log, root.definition.name, end.pending)
        return ended('waiting', { pending: end.pending })
      } catch (error) {
        // Someone has answered, or asked it to stop, while it was about to wait: it goes on at once.
        if (!(error instanceof ServerError) || error.code !== 'conflict') throw error
        const request = await requestedStop(deps.store, run.id)
        if (request !== null) stop.abort(request)
        agent = end.agent
      }
    }
  } catch (error) {
    const broken = error instanceof StepBroken ? error : null
    const stopped = stopOf(stop.signal)
    if (stopped?.kind === 'suspended') return ended('suspended')
    const cause = broken === null ? error : broken.cause
    if (cause instanceof ServerError && cause.code === 'run_fenced') return ended('lost')
    const end = ending(
      stopped ?? failure(cause, run, deps.log),
      run,
      session,
      usage.total,
      broken?.messages ?? [],
      writer.timestamp(),
    )
    await writer.finish(end)
    return ended(end.status, {
      error: end.error,
      stoppedBy: stopped?.kind === 'cancelled' ? stopped.by : null,
    })
  } finally {
    stopTimer()
  }
}

/** On RUN_FINISHED, when the answer ended at the model's limit of tokens. */
export const CUT_BY_LENGTH = { quarterdeck: { finishReason: 'length' } }

/** The user said something, or wants another answer to what was said: the model is next. */
const bringsNewWord = ({ input }: RunRecord): boolean =>
  input.messages.some((message) => message.role === 'user') || input.regenerateAfter !== undefined

function completed(
  run: RunRecord,
  session: SessionRecord,
  usage: TokenUsage[],
  { messages, finish }: Pick<Answer, 'messages' | 'finish'>,
  timestamp: number,
): RunEnd {
  const terminal: TerminalEvent = {
    type: 'RUN_FINISHED',
    threadId: threadIdOf(run, session),
    runId: run.wireId,
    outcome: { type: 'success' },
    ...(usage.length === 0 ? {} : { usage }),
    // AG-UI has no word for an answer that the model's own limit cut off; the OpenAI doors do.
    ...(finish === 'length' ? { metadata: CUT_BY_LENGTH } : {}),
    timestamp,
  }
  return { status: 'completed', terminal, messages, usage, error: null }
}

/** How a run that was stopped or failed ends on the wire and in the store. */
export function ending(
  stop: Exclude<Stop, { kind: 'suspended' }>,
  run: RunRecord,
  session: SessionRecord,
  usage: TokenUsage[],
  messages: StoredMessage[],
  timestamp: number,
): RunEnd {
  const shared = usage.length === 0 ? {} : { usage }
  switch (stop.kind) {
    case 'cancelled':
      return {
        status: 'cancelled',
        terminal: {
          type: 'RUN_FINISHED',
          threadId: threadIdOf(run, session),
          runId: run.wireId,
          outcome: { type: 'cancelled' },
          ...shared,
          timestamp,
        },
        messages,
        usage,
        error: null,
      }
    case 'failed': {
      const { code, message } = stop
      const status = code === 'interrupted' || code === 'needs_review' ? 'interrupted' : 'failed'
      return {
        status,
        terminal: { type: 'RUN_ERROR', message, code, ...shared, timestamp },
        messages,
        usage,
        error: { code, message },
      }
    }
    default:
      return unreachable(stop)
  }
}

/** Only our own errors speak to the client; anything else is a bug and gets a fixed text and an id. */
function failure(error: unknown, run: RunRecord, log: Logger): Extract<Stop, { kind: 'failed' }> {
  if (error instanceof ServerError) return { kind: 'failed', code: error.code, message: error.message }
  log.error('a run failed unexpectedly', { error })
  return {
    kind: 'failed',
    code: 'internal_error',
    message: `Something went wrong in the server. The log has the details under run ${run.id}.`,
  }
}
