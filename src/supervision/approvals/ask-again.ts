// Questions whose tool or rules have changed since they were asked. Nobody can answer such a question: the same question about the
// tool as it is now takes its place.

import type { AgentDefinition } from '../../domain/agent/agent.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import { present } from '../../domain/present.ts'
import type { AnyRecord, Approval } from '../../domain/records/record.ts'
import { askedRecord, decisionRecord } from '../../domain/supervision/approval-audit.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import { MOST_WAITS } from '../../engine/waits/synced-waits.ts'
import { callDigest } from '../../json/digest.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Store } from '../../store/store.ts'
import type { BoundTool, Toolbox } from '../../tools/tool.ts'
import { viaOf } from '../sessions/may-command.ts'
import { type CallRules, highest, neededFor } from './call-rules.ts'

export interface AskAgainDeps {
  store: Pick<Store, 'waits'>
  log: Pick<SessionLog, 'commit' | 'synced'>
  ids: Ids
  rules: CallRules
  agents: readonly { definition: AgentDefinition; toolbox: Pick<Toolbox, 'tools'> }[]
  logger: Logger
}

export interface AskAgain {
  /** The tool as it is now; null when it is not available. */
  findTool(approval: Pick<Approval, 'agent' | 'tool'>, signal: AbortSignal): Promise<BoundTool | null>
  /**
   * Throws if this decision is not about the question as it would be asked now: `approval_changed` with the question to answer
   * instead, or `tool_unavailable` for an approval of a tool that is not available. By then a changed question is asked again.
   */
  refuseChanged(approval: Approval, decision: Decision, at: number, signal: AbortSignal): Promise<void>
  /**
   * Asks about these arguments in place of the model's, which a person edited. Nobody has said yes to the new question yet. Resolves
   * with what the person is told: `approval_changed` and the question to answer.
   */
  askEdited(
    approval: Approval,
    edited: Record<string, unknown>,
    how: { by: Caller; at: number; signal: AbortSignal },
  ): Promise<ServerError>
  /** The question about these arguments, which is not asked. The approval itself if nothing differs; null when its tool is not available. */
  aboutArguments(
    approval: Approval,
    edited: Record<string, unknown>,
    at: number,
    signal: AbortSignal,
  ): Promise<Approval | null>
  /** Asks again if the question has changed, and says so in the log. */
  review(approval: Approval, at: number, signal: AbortSignal): Promise<void>
  /** The newest question about the same call. Throws `approval_changed` if that is another one and it is pending. */
  latest(approval: Approval): Promise<Approval>
}

/** Why a question is asked again, for the audit trail, the record and the log. */
interface Why {
  by: string
  decision: string
  reason: string
  log?: string
  details?: AuditRecord['details']
}

const CHANGED: Why = { by: 'change', decision: 'interrupted', reason: 'Its tool or the rules have changed.' }

export function createAskAgain({ store, log, ids, rules, agents, logger }: AskAgainDeps): AskAgain {
  const agentOf = (name: string) => agents.find(({ definition }) => definition.name === name)

  async function findTool({ agent, tool, owner }: Pick<Approval, 'agent' | 'tool' | 'owner'>, signal: AbortSignal) {
    const tools = await agentOf(agent)?.toolbox.tools(signal, owner)
    return tools?.get(tool) ?? null
  }

  /** The same question as it would be asked now; null when its tool is not available. */
  async function asNow(old: Approval, at: number, signal: AbortSignal): Promise<Approval | null> {
    // A question of a tool stays as it is. If the tool asks something else now, the call ends when it goes on.
    if (old.kind === 'question') return old
    return aboutArguments(old, JSON.parse(old.arguments), at, signal)
  }

  async function aboutArguments(
    old: Approval,
    written: Record<string, unknown>,
    at: number,
    signal: AbortSignal,
  ): Promise<Approval | null> {
    const tool = await findTool(old, signal)
    const agent = agentOf(old.agent)?.definition
    if (tool === null || agent === undefined) return null
    const checked = jsonCheckOf(tool.parameters).check(written)
    // Arguments that no longer fit are refused when the call is about to run.
    const args = checked.ok ? { ...Object(checked.value) } : written
    const { sessionId, owner } = old
    const call = { agent, tool, arguments: args, sessionId, owner, now: at, log: logger }
    const question = await rules.question(call)
    const { policyVersion } = question
    const digest = callDigest({ callId: old.callId, tool: old.tool, arguments: args, policyVersion })
    if (digest === old.digest) return old
    const preview = await rules.preview(call)
    // The tool may have found a higher risk when it saw the call.
    const risk = highest(old.risk, question.risk)
    // A yes was for the question as it was.
    const { preview: _preview, quorum: _quorum, decisions: _decisions, ...rest } = old
    return present({
      ...rest,
      ...question,
      preview: preview ?? undefined,
      risk,
      answerableBy: risk === 'critical' ? ('operator' as const) : question.answerableBy,
      quorum: neededFor(agent.approval, risk),
      id: ids.uuid(),
      arguments: JSON.stringify(args),
      digest,
      messageRefs: {},
      // Newer than the question that it replaces, even when the wall clock has been set back.
      createdAt: Math.max(at, old.createdAt + 1),
    })
  }

  /** Returns the question that waits now: `next`, or the one that somebody else asked at the same time. */
  async function replace(old: Approval, next: Approval, at: number, why: Why = CHANGED): Promise<Approval> {
    const asked = askedRecord(next)
    const closed = decisionRecord(old, why.by, why.decision, at)
    const { answered } = await log.commit({
      type: 'ask_again',
      waitId: old.id,
      approval: next,
      by: why.by,
      reason: `${why.reason} It is asked again as ${next.id}.`,
      at,
      audit: [
        { ...closed, details: { ...closed.details, ...why.details } },
        { ...asked, details: { ...asked.details, replaces: old.id } },
      ],
    })
    if (answered?.[0]?.applied !== true) return newest({ ...old, status: 'interrupted' })
    logAskedAgain(logger, next, old, why.log)
    return next
  }

  async function newest(approval: Approval): Promise<Approval> {
    if (approval.status !== 'interrupted') return approval
    const all = await store.waits.list({ sessionId: approval.sessionId, wait: 'approval', limit: MOST_WAITS })
    const isSame = (one: AnyRecord) =>
      one.wait === 'approval' && one.callId === approval.callId && one.kind === approval.kind
    const same = all.find(isSame)
    if (same?.wait !== 'approval') return approval
    await log.synced(approval.sessionId)
    return same
  }

  async function latest(approval: Approval): Promise<Approval> {
    const found = await newest(approval)
    if (found.id !== approval.id && found.status === 'pending') throw changed(approval, found)
    return found
  }

  return {
    findTool,
    aboutArguments,
    latest,

    async refuseChanged(approval, { decision, digest }, at, signal) {
      if (approval.status !== 'pending') return void (await latest(approval))
      const now = await asNow(approval, at, signal)
      if (now !== null && now.digest !== approval.digest) throw changed(approval, await replace(approval, now, at))
      if (digest !== undefined && digest !== approval.digest) throw notAsSeen(approval)
      // A rejection is safe whatever the tool has become.
      if (now === null && decision === 'approve') throw unavailable(approval)
    },

    async askEdited(approval, edited, { by, at, signal }) {
      const asked = await aboutArguments(approval, edited, at, signal)
      if (asked === null) return unavailable(approval)
      const next = { ...asked, editedArguments: asked.arguments }
      const details = { ...viaOf(by), edited_digest: next.digest }
      const why = {
        by: by.user,
        decision: 'edited',
        reason: `${by.user} edited its arguments.`,
        log: 'a person edited its arguments',
        details,
      }
      const found = await replace(approval, next, at, why)
      return found.id === next.id ? editKept(approval, next) : changed(approval, found)
    },

    async review(approval, at, signal) {
      const now = await asNow(approval, at, signal)
      if (now !== null && now.digest !== approval.digest) await replace(approval, now, at)
    },
  }
}

export function logAskedAgain(
  logger: Logger,
  { id, agent, tool, sessionId, runId }: Approval,
  old: Approval,
  why = 'its tool or the rules have changed',
): void {
  const about = { approval_id: id, replaces: old.id, agent, tool, session_id: sessionId, run_id: runId }
  logger.info(`an approval is asked for again, because ${why}`, about)
}

/** For a decision about something else than what is asked. */
export const notAsSeen = ({ id, status, digest }: Pick<Approval, 'id' | 'status' | 'digest'>): ServerError =>
  new ServerError(
    'approval_changed',
    'This approval is not what you saw: its digest is another one. Look at it again, then decide.',
    { details: { approval_id: id, approval_status: status, digest } },
  )

/** `now` is to be decided in the place of `old`. */
const replacedBy = (now: Approval, old: Approval, message: string): ServerError =>
  new ServerError('approval_changed', message, {
    details: { approval_id: now.id, approval_status: now.status, digest: now.digest, replaces: old.id },
  })

function changed(old: Approval, now: Approval): ServerError {
  const isEdited = old.status === 'interrupted' && old.decidedBy !== null && old.decidedBy !== CHANGED.by
  const why = isEdited
    ? `${old.decidedBy} edited the arguments of this call.`
    : 'The tool of this approval, or the rules for it, have changed.'
  return replacedBy(now, old, `${why} It is asked again as ${now.id}. Look at that one, then decide.`)
}

const editKept = (old: Approval, now: Approval): ServerError =>
  replacedBy(
    now,
    old,
    `Your arguments are kept, and nothing is decided yet: everybody has to see them first. They are asked about as ${now.id}. Look at that one, then approve it.`,
  )

const unavailable = ({ id, tool }: Approval): ServerError =>
  new ServerError(
    'tool_unavailable',
    `The tool ${tool} is not available now, so the server cannot tell whether it has changed. Approve it when the tool is back, or reject it.`,
    { details: { approval_id: id, retry_after_seconds: 5 } },
  )
