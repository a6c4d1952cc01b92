// What a policy would have done with the requests of the past.

import type { Risk } from '../../domain/agent/tool-settings.ts'
import { judgeRequest, type PolicyLimits } from './judge-request.ts'
import type { WorkspacePolicy } from './workspace-policy.ts'

/** A request of the past, and what became of it. */
export interface PastRequest {
  /** Epoch ms. */
  at: number
  session: string | null
  toolName: string
  filePath: string | null
  command: string | null
  riskLevel: Risk
  /** False: its arguments do not say clearly which file it touches and which command it runs. */
  isClear: boolean
  outcome: 'approved' | 'rejected' | 'expired' | 'interrupted' | 'pending' | 'auto_approved'
}

export type PastRequests = AsyncIterable<PastRequest>

export interface ReplayedRequest {
  request: PastRequest
  /** `refused`: no policy may let it through, so a person is asked whatever the file says. */
  verdict: 'allowed' | 'asked' | 'refused'
  rule: string | null
  why: string
}

/** By the names of paths alone: where they led then, nobody knows any more. */
export async function* replayPolicy(
  policy: WorkspacePolicy,
  past: PastRequests,
  limits: PolicyLimits,
): AsyncGenerator<ReplayedRequest> {
  for await (const request of past) {
    if (!request.isClear) {
      const why = 'It is not clear which file the call touches or which command it runs.'
      yield { request, verdict: 'refused', rule: null, why }
      continue
    }
    const { autoApproved, personOnly, matchedRule, why } = judgeRequest(policy, { ...request, guarded: null }, limits)
    yield { request, verdict: autoApproved ? 'allowed' : personOnly ? 'refused' : 'asked', rule: matchedRule, why }
  }
}
