// The gate in front of every call: it asks for approvals, and turns decisions into answers.

import type { AskedQuestion } from '../../domain/agent/question.ts'
import { isAtLeast } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import { type Approval, hasExpired, isSupervisedApproval } from '../../domain/records/record.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import { visibleCode, visibleText } from '../../domain/text/visible-text.ts'
import type { Decided, Gate, GatedCall, SentDecisions } from '../../engine/gate.ts'
import { createSyncedWaits, type SyncedWaits } from '../../engine/waits/synced-waits.ts'
import { callDigest, isSameTool, questionDigest } from '../../json/digest.ts'
import type { Store } from '../../store/store.ts'
import { createHostedSteps, type HostedSteps, isHosted } from './answer-hosted.ts'
import { runSteps } from './answer-run.ts'
import { type AskAgainDeps, createAskAgain, logAskedAgain } from './ask-again.ts'
import type { Question } from './call-rules.ts'
import { type AskedNow, type DecideDeps, latest, prepare } from './decide.ts'
import { questionForm } from './question-form.ts'
import { refuseCaller, refuseUnfit, refuseUnseen, visibleApproval } from './refuse-decision.ts'

const never = new AbortController().signal

type GateDeps = AskAgainDeps &
  Pick<DecideDeps, 'operators' | 'stepUp'> & { store: Pick<Store, 'sessions' | 'grants' | 'supervised'> }

export function createGate(deps: GateDeps): Gate {
  const { store, log, rules, ids } = deps
  const askAgain = createAskAgain(deps)
  const syncedWaits = createSyncedWaits(store.waits, log)

  /** A sub-agent or a tool that was allowed to run and then waited goes on, unless it has become another tool since. */
  async function continuesAllowed(call: GatedCall): Promise<boolean> {
    const consumed = call.tool.location === 'agent' && call.asked?.status === 'consumed' ? call.asked : null
    const begun = call.continues ?? consumed
    return begun !== null && isSameTool(begun.policyVersion, (await rules.question(call)).policyVersion)
  }

  return {
    async judge(call) {
      if (await continuesAllowed(call)) return { verdict: 'run', approval: null, grant: null }
      const approved = call.asked?.status === 'approved' ? call.asked : null
      const ruling = await rules.judge(call)
      if (ruling.verdict === 'refuse') return ruling
      if (ruling.verdict === 'run') return { ...ruling, approval: approved }
      const { verdict, ...question } = ruling
      const next = newApproval(call, question, ids.uuid())
      // A person approved what they saw. If the tool or the rules have changed since, they are asked again. So they are if somebody has
      // edited the arguments into a more dangerous call: that may need other people, and more of them.
      if (approved?.digest === next.digest && isAtLeast(approved.risk, next.risk)) {
        return { verdict: 'run', approval: approved, grant: null }
      }
      if (call.asked !== null) logAskedAgain(call.log, next, call.asked)
      return { verdict, approval: next }
    },

    question: async (call, asked) => newQuestion(call, await rules.question(call), asked, ids.uuid()),

    decide: (sent) => decideAll({ ...deps, askAgain, syncedWaits, hosted: createHostedSteps(deps) }, sent),

    async refuseReplaced(approval) {
      await latest(askAgain, approval)
    },
  }
}

/** The decisions of one request, as answers that the engine commits together. See `Gate.decide`. */
async function decideAll(
  deps: DecideDeps & { syncedWaits: SyncedWaits; hosted: HostedSteps },
  { by, sessionId, decisions, at }: SentDecisions,
): Promise<Decided[]> {
  const own = runSteps(deps.askAgain, never)
  const stepsOf = (approval: Approval) => (isHosted(approval) ? deps.hosted : own)
  const asked: { now: AskedNow; decision: Decision }[] = []
  for (const { waitId, ...decision } of decisions) {
    const approval = await visibleApproval(deps.syncedWaits, by, waitId)
    if (approval.sessionId !== sessionId) {
      throw new ServerError('approval_not_found', `There is no approval ${JSON.stringify(waitId)} in this session.`)
    }
    if (isSupervisedApproval(approval)) {
      throw new ServerError(
        'session_supervised',
        `An agent elsewhere asked this, so no run continues with the answer. Answer it with POST /approvals/${approval.id}.`,
      )
    }
    // Only one of them would count, and the audit trail has to say which.
    if (asked.some(({ now }) => now.approval.id === approval.id)) {
      throw new ServerError('invalid_request', `Approval ${approval.id} is answered twice here. Answer it once.`)
    }
    const now = isHosted(approval) ? await deps.hosted.asked(approval, at) : { approval, at, elsewhere: null }
    // A late caller decides nothing, so they need no permission: they are shown the run that went on.
    if (approval.status === 'pending') refuseCaller(deps.operators, by, now)
    asked.push({ now, decision })
  }
  // All changed questions are asked again before the first of them is refused.
  const checks = await Promise.allSettled(
    asked
      .filter(({ now }) => now.approval.status !== 'pending' || !hasExpired(now.approval, at))
      .map(({ now, decision }) => stepsOf(now.approval).refuseChanged(now, decision)),
  )
  for (const check of checks) if (check.status === 'rejected') throw check.reason
  const decided: Decided[] = []
  for (const { now, decision } of asked) {
    // A client that repeats an answer is shown what came of it, also when the question was asked again under another id.
    const approval = await latest(deps.askAgain, now.approval)
    if (approval.status !== 'pending' || hasExpired(approval, at)) {
      decided.push(tooLate(by, approval, at))
      continue
    }
    refuseUnseen(by, decision)
    refuseUnfit(approval, decision)
    const { patch: _, ...prepared } = await prepare(deps, stepsOf(approval), by, { ...now, approval }, decision)
    decided.push(prepared)
  }
  return decided
}

/** The store does not apply this answer, because its approval is no longer pending or has expired. */
const tooLate = (by: Caller, approval: Approval, at: number): Decided => ({
  approval,
  answer: { waitId: approval.id, at, by: by.user, outcome: { type: 'rejected', reason: null } },
  grant: null,
  audit: null,
})

function newApproval(call: GatedCall, question: Question, id: string): Approval {
  const { tool, arguments: args, callId, asked } = call
  const { policyVersion } = question
  return {
    ...newRecord(call, id),
    ...question,
    kind: 'tool_call',
    digest: callDigest({ callId, tool: tool.name, arguments: args, policyVersion }),
    editedArguments: asked?.editedArguments ?? null,
  }
}

/** The call was allowed already. What is asked now is the tool's own question. */
function newQuestion(call: GatedCall, rules: Question, question: AskedQuestion, id: string): Approval {
  const { tool, callId } = call
  const { policyVersion, risk, answerableBy, expiresAt, action, toolSays } = rules
  return {
    ...newRecord(call, id),
    kind: 'question',
    policyVersion,
    risk,
    answerableBy,
    expiresAt,
    title: `${visibleText(tool.name)} asks a question`,
    description: [...visibleCode(question.message.split('\n')), ...questionForm(question.schema)].join('\n'),
    action,
    ...present({ toolSays }),
    question,
    digest: questionDigest({ callId, tool: tool.name, question, policyVersion }),
    editedArguments: null,
  }
}

function newRecord(call: GatedCall, id: string) {
  const { agent, tool, arguments: args, callId, sessionId, runId, owner, lane, asked, continues, now } = call
  return {
    id,
    wait: 'approval' as const,
    status: 'pending' as const,
    sessionId,
    owner,
    agent: agent.name,
    runId,
    callId,
    tool: tool.name,
    arguments: JSON.stringify(args),
    lane,
    beforeHash: null,
    afterHash: null,
    messageRefs: {},
    // Newer than what was asked about this call before, even when the wall clock has been set back.
    createdAt: Math.max(now, 1 + Math.max(asked?.createdAt ?? 0, continues?.createdAt ?? 0)),
    continuationRunId: null,
    decidedAt: null,
    decidedBy: null,
    decidedVia: null,
    reason: null,
    consumedAt: null,
  }
}
