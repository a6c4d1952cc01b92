// The gate in front of every call: it asks for approvals, and turns decisions into answers.

import type { AskedQuestion } from '../../domain/agent/question.ts'
import { isAtLeast } from '../../domain/agent/tool-settings.ts'
import type { Approval } from '../../domain/records/record.ts'
import { visibleCode, visibleText } from '../../domain/text/visible-text.ts'
import type { Gate, GatedCall } from '../../engine/gate.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import { callDigest, isSameTool, questionDigest } from '../../json/digest.ts'
import { runSteps } from './answer-run.ts'
import { type AskAgainDeps, createAskAgain, logAskedAgain } from './ask-again.ts'
import type { Question } from './call-rules.ts'
import { type DecideDeps, decideAll } from './decide.ts'
import { questionForm } from './question-form.ts'

const never = new AbortController().signal

export function createGate(deps: AskAgainDeps & Pick<DecideDeps, 'operators' | 'stepUp'>): Gate {
  const { store, log, rules, ids } = deps
  const askAgain = createAskAgain(deps)
  const syncedWaits = createSyncedWaits(store.waits, log)

  /** A sub-agent or a tool that was allowed to run and then waited goes on, unless it has become another tool since. */
  function continuesAllowed(call: GatedCall): boolean {
    const consumed = call.tool.location === 'agent' && call.asked?.status === 'consumed' ? call.asked : null
    const begun = call.continues ?? consumed
    return begun !== null && isSameTool(begun.policyVersion, rules.question(call).policyVersion)
  }

  return {
    async judge(call) {
      if (continuesAllowed(call)) return { verdict: 'run', approval: null, grant: null }
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

    question: (call, asked) => newQuestion(call, rules.question(call), asked, ids.uuid()),

    decide: (sent) => decideAll({ ...deps, askAgain, syncedWaits }, runSteps(askAgain, never), sent),

    async refuseReplaced(approval) {
      await askAgain.latest(approval)
    },
  }
}

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
  const { policyVersion, risk, answerableBy, expiresAt, action } = rules
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
