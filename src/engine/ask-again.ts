// Questions whose tool or rules have changed since they were asked. Nobody can answer such a one: the same question about what is
// there now takes its place.

import { askedRecord, decisionRecord } from '../domain/approval-audit.ts'
import type { Decision } from '../domain/decision.ts'
import { ServerError } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { Approval } from '../domain/wait.ts'
import { callDigest } from '../json/digest.ts'
import { jsonCheckOf } from '../json/json-schema.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Store } from '../store/store.ts'
import type { BoundTool } from '../tools/tool.ts'
import type { Gate } from './gate.ts'
import type { AgentParts } from './run/run-scope.ts'

export interface AskAgainDeps {
  store: Pick<Store, 'waits'>
  log: Pick<SessionLog, 'commit' | 'synced'>
  ids: Ids
  gate: Gate
  agents: ReadonlyMap<string, AgentParts>
  logger: Logger
}

export interface AskAgain {
  /** The tool as it is now; null when it is not there. */
  findTool(approval: Pick<Approval, 'agent' | 'tool'>, signal: AbortSignal): Promise<BoundTool | null>
  /**
   * Throws where this answer is to something else than what is there now: `approval_changed` with the question to answer, or
   * `tool_unavailable` for a yes to a tool that cannot be looked at. What has changed is asked again by then.
   */
  refuseChanged(approval: Approval, decision: Decision, at: number, signal: AbortSignal): Promise<void>
  /** Throws `approval_changed` if the question was asked again and the new one waits. */
  refuseReplaced(approval: Approval): Promise<void>
  /** Asks again if the question has changed; says so in the log. */
  review(approval: Approval, at: number, signal: AbortSignal): Promise<void>
  /** The newest question about the same call; the approval itself where nobody was asked again. */
  latest(approval: Approval): Promise<Approval>
}

const MOST_WAITS = 1_000
/** As the trail and the log name who closed a question that no longer fits. */
const BY_CHANGE = 'change'

export function createAskAgain({ store, log, ids, gate, agents, logger }: AskAgainDeps): AskAgain {
  async function findTool({ agent, tool }: Pick<Approval, 'agent' | 'tool'>, signal: AbortSignal) {
    const tools = await agents.get(agent)?.toolbox.tools(signal)
    return tools?.get(tool) ?? null
  }

  /** The same question as it would be asked now; null when its tool is not there. */
  async function asNow(old: Approval, at: number, signal: AbortSignal): Promise<Approval | null> {
    const tool = await findTool(old, signal)
    const agent = agents.get(old.agent)?.definition
    if (tool === null || agent === undefined) return null
    const written: Record<string, unknown> = JSON.parse(old.arguments)
    const checked = jsonCheckOf(tool.parameters).check(written)
    // What no longer fits is refused when it is about to run.
    const args = checked.ok ? { ...Object(checked.value) } : written
    const question = gate.question({ agent, tool, arguments: args, sessionId: old.sessionId, now: at })
    const { policyVersion } = question
    return {
      ...old,
      ...question,
      id: ids.uuid(),
      arguments: JSON.stringify(args),

      digest: callDigest({ callId: old.callId, tool: old.tool, arguments: args, policyVersion }),
      messageRefs: {},
      // Newer than the one it takes the place of, also when the wall clock has been set back.
      createdAt: Math.max(at, old.createdAt + 1),
    }
  }

  async function replace(old: Approval, next: Approval, at: number): Promise<Approval> {
    const reason = `Its tool or the rules have changed. It is asked again as ${next.id}.`
    const asked = askedRecord(next)
    const { answered } = await log.commit({
      type: 'ask_again',
      waitId: old.id,
      approval: next,
      by: BY_CHANGE,
      reason,
      at,
      audit: [
        decisionRecord(old, BY_CHANGE, 'interrupted', at),
        { ...asked, details: { ...asked.details, replaces: old.id } },
      ],
    })
    if (answered?.[0]?.applied !== true) return latest({ ...old, status: 'interrupted' })
    logAskedAgain(logger, next, old)
    return next
  }

  async function latest(approval: Approval): Promise<Approval> {
    if (approval.status !== 'interrupted') return approval
    const all = await store.waits.list({ sessionId: approval.sessionId, wait: 'approval', limit: MOST_WAITS })
    const same = all.find((one) => one.wait === 'approval' && one.callId === approval.callId)
    if (same?.wait !== 'approval') return approval
    await log.synced(approval.sessionId)
    return same
  }

  async function refuseReplaced(approval: Approval): Promise<void> {
    const newest = await latest(approval)
    if (newest.id !== approval.id && newest.status === 'pending') throw changed(approval, newest)
  }

  return {
    findTool,
    latest,
    refuseReplaced,

    async refuseChanged(approval, { decision, digest }, at, signal) {
      if (approval.status !== 'pending') return refuseReplaced(approval)
      const now = await asNow(approval, at, signal)
      if (now !== null && now.digest !== approval.digest) throw changed(approval, await replace(approval, now, at))
      if (digest !== undefined && digest !== approval.digest) throw changed(approval, approval)
      // A no needs no look at what it is said to.
      if (now === null && decision === 'approve') throw unavailable(approval)
    },

    async review(approval, at, signal) {
      const now = await asNow(approval, at, signal)
      if (now !== null && now.digest !== approval.digest) await replace(approval, now, at)
    },
  }
}

export function logAskedAgain(logger: Logger, { id, agent, tool, sessionId, runId }: Approval, old: Approval): void {
  const about = { approval_id: id, replaces: old.id, agent, tool, session_id: sessionId, run_id: runId }
  logger.info('an approval is asked for again, because its tool or the rules have changed', about)
}

function changed(old: Approval, { id, digest, status }: Approval): ServerError {
  const isSame = old.id === id
  const message = isSame
    ? 'The digest is not that of what is asked. Look at this approval again, then decide.'
    : `What was asked has changed: its tool, or the rules for it. It is asked again as ${id}. Look at that one, then decide.`
  return new ServerError('approval_changed', message, {
    details: { approval_id: id, approval_status: status, digest, ...(isSame ? {} : { replaces: old.id }) },
  })
}

const unavailable = ({ id, tool }: Approval): ServerError =>
  new ServerError(
    'tool_unavailable',
    `The tool ${tool} is not there now, so nobody can say whether it is still what was asked about. Approve it when it is there again, or reject it.`,
    { details: { approval_id: id, retry_after_seconds: 5 } },
  )
