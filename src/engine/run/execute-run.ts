// One run from its first event to its last. What happens in between is the agent loop (`agent-loop.ts`). Everything it needs comes
// in as arguments, and it ends with exactly one terminal event, whatever happens.

import { answersWith } from '../../domain/agent/agent.ts'
import { hasCode, ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import type { AnyRecord } from '../../domain/records/record.ts'
import { afterTurn, conversationKey } from '../../domain/session/conversation.ts'
import type { Fact } from '../../domain/session/entry.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import { type StoredMessage, textOf } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { isBrokenOff } from '../../domain/session/run-answer.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import { type AgentSpan, traceFields } from '../../domain/telemetry.ts'
import { createRunFiles } from '../files/run-files.ts'
import { runAgent } from '../loop/agent-loop.ts'
import { createBudget, createUsageMeter, exceeded } from '../loop/budget.ts'
import { StepBroken } from '../loop/model-step.ts'
import { createSharedState } from '../loop/shared-state.ts'
import { completedEnd, stoppedEnd, waitingEnd } from './run-end.ts'
import { requestedStop } from './run-entries.ts'
import { logRun, logWaits, type RunFacts } from './run-log.ts'
import type { AgentParts, ExecuteDeps, Lane, Pending, RunScope } from './run-scope.ts'
import { agentStarted, LeftToAnother, type Stop, stopOf } from './run-scope.ts'
import { isFenced, type RunEnd, type RunWriter } from './run-writer.ts'

/** Where a recovered run goes on. */
export interface Resumption {
  /** The fence under which the run executed before. */
  lastFence: number
  stepsDone: number
  usage: TokenUsage[]
  /** Calls that began, have no result and may be repeated, each with the binding that its tool had then. */
  begun: ReadonlyMap<string, string | undefined>
}

/** `suspended`: given back to be recovered later. `lost`: another process has taken it over. */
export type Outcome = RunEnd['status'] | 'suspended' | 'lost'

interface Execution {
  /** The agent of the session. */
  root: AgentParts
  run: RunRecord
  session: SessionRecord
  writer: RunWriter
  stop: AbortController
  /** Whether the run is to be given back as soon as nothing of it is under way. */
  isLeaving: () => boolean
  /** Null: the run begins here. */
  resumption: Resumption | null
}

const FROM_THE_START: Omit<Resumption, 'lastFence'> = { stepsDone: 0, usage: [], begun: new Map() }

export async function executeRun(
  given: ExecuteDeps,
  execution: Execution,
): Promise<{ outcome: Outcome; usage: TokenUsage[] }> {
  const { root, run, session, writer, stop } = execution
  const span = startSpan(given, execution)
  const traced = traceFields(span.trace)
  const deps = traced === null ? given : { ...given, log: given.log.with(traced) }
  const stopTimer = startTimer(deps, root, stop)
  const scope = openScope(deps, execution)
  const { usage } = scope
  const ending = () => ({ run, session, usage: usage.total, timestamp: writer.timestamp() })
  const began = deps.clock.mono()
  const answers = answersWith(root.definition)
  const finish = (end: RunEnd) => writer.finish({ ...end, model: { provider: answers.provider, model: answers.name } })

  /** Called when the end is stored, so that the log never says more than the store knows. */
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
    span.end({ outcome, usage: usage.total, error: more.error?.code ?? null })
    const { long } = scope.older
    // Whoever goes on with it looks for itself.
    if (long !== null && outcome !== 'suspended' && outcome !== 'lost') {
      deps.summaries.makeLater({ ...long, sessionId: session.id, runId: run.id })
    }
    return { outcome, usage: usage.total }
  }

  try {
    if (session.state !== undefined) {
      writer.emit({ type: 'STATE_SNAPSHOT', snapshot: session.state, timestamp: writer.timestamp() })
    }
    if (scope.stepsDone > 0) scope.budget.used(usage.total)
    const agent = await holderOf(scope)
    const { budget } = scope
    for (
      let lane: Lane<AgentParts> = { scope, agent, budget, id: null, subagentRunId: null, writer, span, depth: 0 };
      ;
    ) {
      const end = await runAgent(lane)
      if (end.type === 'answered') {
        const done = completedEnd(ending(), end.answer)
        await finish({ ...done, ...(await foundBy(scope, end.answer.messages, [])) })
        return ended('completed')
      }
      try {
        const waiting = waitingEnd(ending(), end.pending)
        await finish({ ...waiting, ...(await foundBy(scope, [], end.pending)) })
        logWaits(deps.log, root.definition.name, end.pending)
        for (const { wait, isNew } of end.pending) {
          if (isNew) span.waits({ id: wait.id, tool: wait.tool, kind: wait.wait })
        }
        return ended('waiting', { pending: end.pending })
      } catch (error) {
        // Someone has answered, or asked it to stop, while it was about to wait: it goes on at once.
        if (!hasCode(error, 'conflict')) throw error
        const request = await requestedStop(deps.store, run.id)
        if (request !== null) stop.abort(request)
        const again = secondAttempt(scope, end.pending)
        lane = { ...lane, scope: again, agent: end.agent, budget: again.budget }
      }
    }
  } catch (error) {
    const broken = error instanceof StepBroken ? error : null
    const stopped = stopOf(stop.signal)
    if (stopped?.kind === 'suspended' || stopped?.kind === 'lost') return ended(stopped.kind)
    const cause = broken === null ? error : broken.cause
    if (cause instanceof LeftToAnother) return ended('suspended')
    if (isFenced(cause)) return ended('lost')
    // What it works with may be gone because it is to stop.
    const why = stopped ?? (await requestedStop(deps.store, run.id)) ?? failure(cause, run, deps.log)
    const end = stoppedEnd(why, ending(), broken?.messages ?? [])
    await finish({ ...end, audit: [...scope.inFlight.values()] })
    return ended(end.status, {
      error: end.error,
      stoppedBy: why.kind === 'cancelled' ? why.by : null,
    })
  } finally {
    stopTimer()
    // Its end could not be stored, so it goes on later.
    span.end({ outcome: 'abandoned', error: 'storage_failed' })
  }
}

function startSpan({ telemetry }: ExecuteDeps, { root, run, resumption }: Execution): AgentSpan {
  return telemetry.run({ ...agentStarted(root), run, lastFence: resumption?.lastFence ?? null })
}

/** Stops the run when it has taken as long as its agent allows. */
function startTimer({ clock }: ExecuteDeps, { definition }: AgentParts, stop: AbortController): () => void {
  const { durationMs } = definition.limits
  const seconds = durationMs / 1000
  return clock.after(durationMs, () => {
    const { code, message } = exceeded('duration', seconds, `${seconds} s`)
    stop.abort({ kind: 'failed', code, message } satisfies Stop)
  })
}

function openScope(
  deps: ExecuteDeps,
  { root, run, session, writer, stop, isLeaving, resumption }: Execution,
): RunScope {
  const { stepsDone, usage, begun } = resumption ?? FROM_THE_START
  return {
    ...deps,
    run,
    session,
    root,
    writer,
    signal: stop.signal,
    budget: createBudget(root.definition.limits, deps.prices.atMost),
    usage: createUsageMeter(usage),
    state: createSharedState(writer, session.state),
    files: deps.fileSource === null ? null : createRunFiles(deps.fileSource, deps.store, run, deps.log),
    older: { summary: undefined, long: null },
    passages: { numbers: null },
    called: [],
    begun,
    inFlight: new Map(),
    unstored: new Map(),
    stepsDone,
    betweenSteps() {
      if (!isLeaving()) return
      stop.abort({ kind: 'suspended' } satisfies Stop)
      stop.signal.throwIfAborted()
    },
    isContinued: run.origin === 'recovery' || !bringsNewMessage(run),
  }
}

/** How far back the last answer is looked for. Without one, the agent of the session has the conversation. */
const LOOK_BACK = 200

/** The agent that has the conversation. A branch leaves what came after it, so a handoff in there has not happened. */
async function holderOf({ agents, root, run, session, store, writer }: RunScope): Promise<AgentParts> {
  const holder = agents.get(session.activeAgent ?? '') ?? root
  if (holder === root || run.input.regenerateAfter === undefined) return holder
  const last = (await store.messages.page(session.id, LOOK_BACK)).findLast(({ role }) => role === 'assistant')
  // Its own, before a crash: it may just have handed the conversation on.
  if (last?.runId === run.id) return holder
  const before = agents.get(last?.agentName ?? '') ?? root
  if (before === holder) return holder
  const to = before.definition.name
  const fact: Fact = { fact: 'handed_over', run: run.id, to, at: writer.timestamp() }
  await writer.commit({ activeAgent: before === root ? null : to, facts: [fact] })
  return before
}

/** An answer came while the run was about to wait: it goes on as its own continuation would, with limits of its own. */
const secondAttempt = (scope: RunScope, pending: readonly Pending[]): RunScope => ({
  ...scope,
  budget: createBudget(scope.root.definition.limits, scope.prices.atMost),
  isContinued: true,
  // These calls have begun. They must not begin again, nor be approved again, because of an answer to another call.
  unstored: new Map(pending.flatMap(({ wait, isNew }) => (isNew && isQuestion(wait) ? [[wait.callId, wait]] : []))),
})

const isQuestion = (wait: AnyRecord): boolean => wait.wait === 'approval' && wait.kind === 'question'

/** Nearly every run has fewer messages. A longer one is read up to the second limit. */
const FEW_MESSAGES = 20
const MOST_MESSAGES = 1_000

/** A client that names no session finds it again by what was said. It has to be told what was said first, so a person's turn ends it. */
async function foundBy(
  { store, run }: RunScope,
  last: readonly StoredMessage[],
  pending: readonly Pending[],
): Promise<Pick<RunEnd, 'key'>> {
  const { conversation, responseFormat, mustCall } = run.input
  if (conversation === undefined || pending.some(({ wait }) => wait.wait !== 'client_call')) return {}
  const few = await store.messages.page(run.sessionId, FEW_MESSAGES)
  const isAll = few.length < FEW_MESSAGES || few[0]?.runId !== run.id
  const stored = isAll ? few : await store.messages.page(run.sessionId, MOST_MESSAGES)
  const said = [...stored, ...last].filter(
    ({ role, runId, metadata }) => role === 'assistant' && runId === run.id && !isBrokenOff(metadata),
  )
  // A client that asked for JSON gets only the last message, one that demands a call none.
  const shown = mustCall ? [] : responseFormat === undefined ? said : said.slice(-1)
  const text = shown.map(({ content }) => textOf(content)).join('')
  const marks = pending.map(({ wait }) => wait.callId)
  return { key: conversationKey(afterTurn(conversation, { role: 'assistant', text, marks })) }
}

/** The user said something, or wants another answer to an earlier message: the model is next. */
const bringsNewMessage = ({ input }: RunRecord): boolean =>
  input.messages.some((message) => message.role === 'user') || input.regenerateAfter !== undefined

/** The client is told our own errors only. Anything else is a bug: it is logged, and the client gets a fixed text with the run's id. */
function failure(error: unknown, run: RunRecord, log: Logger): Extract<Stop, { kind: 'failed' }> {
  if (error instanceof ServerError) {
    const { code, message, details } = error
    return { kind: 'failed', code, message, isFinal: details.retryable === false || undefined }
  }
  log.error('a run failed unexpectedly', { error })
  return {
    kind: 'failed',
    code: 'internal_error',
    message: `Something went wrong in the server. The log has the details under run ${run.id}.`,
  }
}
