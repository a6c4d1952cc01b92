// The gate in front of every call: it asks for approvals, and turns decisions into answers.

import type { Approval } from '../../domain/wait.ts'
import type { Gate, GatedCall } from '../../engine/gate.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import { callDigest, isSameTool } from '../../json/digest.ts'
import { type AskAgainDeps, createAskAgain, logAskedAgain } from './ask-again.ts'
import type { Question } from './call-rules.ts'
import { decideAll } from './decide.ts'

export function createGate(deps: AskAgainDeps): Gate {
  const { store, log, rules, ids } = deps
  const askAgain = createAskAgain(deps)
  const syncedWaits = createSyncedWaits(store.waits, log)

  /** A sub-agent that was allowed to run and waited goes on, unless it has become another tool since. */
  const continuesAllowed = (call: GatedCall): boolean =>
    call.tool.location === 'agent' &&
    call.asked?.status === 'consumed' &&
    isSameTool(call.asked.policyVersion, rules.question(call).policyVersion)

  return {
    async judge(call) {
      if (continuesAllowed(call)) return { verdict: 'run', approval: null, grant: null }
      const approved = call.asked?.status === 'approved' ? call.asked : null
      const ruling = await rules.judge(call)
      if (ruling.verdict === 'refuse') return ruling
      if (ruling.verdict === 'run') return { ...ruling, approval: approved }
      const { verdict, ...question } = ruling
      const next = newApproval(call, question, ids.uuid())
      // A person approved what they saw. If the tool or the rules have changed since, they are asked again.
      if (approved?.digest === next.digest) return { verdict: 'run', approval: approved, grant: null }
      if (call.asked !== null) logAskedAgain(call.log, next, call.asked)
      return { verdict, approval: next }
    },

    decide: (sent) => decideAll({ ids, askAgain, syncedWaits }, sent),

    async refuseReplaced(approval) {
      await askAgain.latest(approval)
    },
  }
}

function newApproval(call: GatedCall, question: Question, id: string): Approval {
  const { agent, tool, arguments: args, callId, sessionId, runId, owner, lane, asked, now } = call
  const { policyVersion } = question
  return {
    ...question,
    id,
    wait: 'approval',
    status: 'pending',
    kind: 'tool_call',
    sessionId,
    owner,
    agent: agent.name,
    runId,
    callId,
    tool: tool.name,
    arguments: JSON.stringify(args),
    lane,
    digest: callDigest({ callId, tool: tool.name, arguments: args, policyVersion }),
    beforeHash: null,
    afterHash: null,
    messageRefs: {},
    // Newer than the approval that it replaces, even when the wall clock has been set back.
    createdAt: Math.max(now, (asked?.createdAt ?? 0) + 1),
    continuationRunId: null,
    decidedAt: null,
    decidedBy: null,
    reason: null,
    editedArguments: asked?.editedArguments ?? null,
    consumedAt: null,
  }
}
