// The line that a run writes to the server's log when it ends: which agent answered, with which tools, what it cost, how it ended.

import type { Logger } from '../../domain/logger.ts'
import { present } from '../../domain/present.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import { loggedReason, type RunError, type RunRecord } from '../../domain/session/run.ts'
import type { Outcome } from './execute-run.ts'
import type { Pending } from './run-scope.ts'

/** Adds the ids of the run to every line. */
export const runLogger = (logger: Logger, { id, sessionId, input }: RunRecord): Logger =>
  logger.with(
    present({
      correlation_id: input.correlationId,
      session_id: sessionId,
      run_id: id,
      tried_model: input.model,
    }),
  )

export interface RunFacts {
  agent: string
  outcome: Outcome
  usage: readonly TokenUsage[]
  /** Null: the price of some tokens is not known. */
  cost: number | null
  latencyMs: number
  /** Names of the tools that it called, in order. */
  tools: readonly string[]
  /** What the run waits for. */
  pending?: readonly Pending[]
  error?: RunError | null
  /** Who or what asked the run to stop. */
  stoppedBy?: string | null
}

/** `log` is the logger of the run (`runLogger`). */
export function logRun(log: Logger, facts: RunFacts): void {
  const { agent, outcome, usage, cost, latencyMs, tools, pending = [], error = null, stoppedBy = null } = facts
  const tokens =
    usage.length === 0 ? {} : { input_tokens: sum(usage, 'inputTokens'), output_tokens: sum(usage, 'outputTokens') }
  const approvals = pending.filter(({ wait }) => wait.wait === 'approval').map(({ wait }) => wait.tool)
  const clientCalls = pending.filter(({ wait }) => wait.wait === 'client_call').map(({ wait }) => wait.tool)
  const reason = error === null ? null : loggedReason(error)
  const fields = {
    agent,
    outcome,
    tools: tools.length === 0 ? undefined : counted(tools),
    ...tokens,
    cost: cost ?? undefined,
    latency_ms: Math.round(latencyMs),
    approvals: approvals.length === 0 ? undefined : approvals,
    client_calls: clientCalls.length === 0 ? undefined : clientCalls,
    stopped_by: stoppedBy ?? undefined,
    code: reason?.code,
    reason: reason?.reason,
  }
  if (error === null) log.info('run', fields)
  else log.warn('run', fields)
}

/** Logs the end of a run that ended without being executed here. */
export function logUnexecutedEnd(
  logger: Logger,
  run: RunRecord,
  outcome: Outcome,
  more: Pick<RunFacts, 'error' | 'stoppedBy'>,
): void {
  const facts = { agent: run.agent, outcome, usage: [], cost: null, latencyMs: 0, tools: [], ...more }
  logRun(runLogger(logger, run), facts)
}

/** Logs one line for each question that this run has just asked. */
export function logWaits(log: Logger, agent: string, pending: readonly Pending[]): void {
  for (const { wait, isNew } of pending) {
    if (!isNew) continue
    const { id, tool, callId } = wait
    if (wait.wait === 'approval') {
      const { risk, answerableBy } = wait
      log.info('waiting for a person', {
        agent,
        tool,
        call_id: callId,
        approval_id: id,
        risk,
        answerable_by: answerableBy,
      })
    } else {
      log.info('waiting for the client', { agent, tool, call_id: callId, wait_id: id })
    }
  }
}

const sum = (usage: readonly TokenUsage[], key: 'inputTokens' | 'outputTokens'): number =>
  usage.reduce((total, one) => total + (one[key] ?? 0), 0)

/** A Map, not an object: the names come from models, and "__proto__" must be an ordinary name. */
function counted(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries(counts)
}
