// Drafts of a workspace's policy, from what the store knows about its past, and what they would have changed since.

import { ServerError } from '../../domain/errors.ts'
import type { Store } from '../../store/store.ts'
import { draftPolicy, type PolicyDraft, whatOf } from './draft-policy.ts'
import { effectivePolicy } from './effective-policy.ts'
import { findPolicy } from './find-policy.ts'
import { type PastRequest, type PolicyLimits, replayPolicy } from './judge-request.ts'
import { type PastReads, pastRequests } from './past-requests.ts'
import { readPolicy } from './read-policy.ts'
import type { WorkspacePolicy } from './workspace-policy.ts'

export interface ReplayedDraft extends PolicyDraft {
  /** SHA-256 of the policy file that lies there; null: there is none. */
  base: string | null
  replay: {
    /** How many requests were looked at, the newest ones. `cut`: there were more. */
    requests: number
    cut: boolean
    /** People were asked about so many of them, and would still have been asked about so many. */
    asked: number
    left: number
    /** What a person refused and the policy would have let through. Only an edited one does. */
    against: string[]
  }
}

/**
 * `workspaceRoot` is a real path, `since` epoch ms. `edited`: the text that a person made of a draft; left out: a new draft. Throws
 * `invalid_request` with the problems of the text.
 */
export type DraftFromHistory = (workspaceRoot: string, since: number, edited?: string) => Promise<ReplayedDraft>

interface DraftDeps {
  reads: PastReads & { supervised: Pick<Store['supervised'], 'pin'> }
  limits: PolicyLimits
  /** So many requests are looked at. */
  most: number
  /** Lets others work: agents choose how much there is to look at. */
  pause(): Promise<void>
}

const PAUSE_AFTER = 200
const MOST_NAMED = 10

export function createDraftFromHistory({ reads, limits, most, pause }: DraftDeps): DraftFromHistory {
  return async (workspace, since, edited) => {
    const policy = edited === undefined ? null : policyIn(edited)
    const found = findPolicy(workspace)
    const now = effectivePolicy(await reads.supervised.pin(workspace), found)
    // An agent can write the file, so only what an operator has accepted goes on.
    const current = now.state !== 'pinned' ? null : now.change.change === 'wider' ? now.pinned : now.policy
    const past: PastRequest[] = []
    for await (const one of pastRequests(reads, { since, workspace })) if (past.push(one) > most) break
    const cut = past.length > most
    if (cut) past.pop()
    const draft = draftPolicy(past, current, limits, policy)
    const replay: ReplayedDraft['replay'] = { requests: 0, cut, asked: 0, left: 0, against: [] }
    for await (const { request, verdict } of replayPolicy(draft.policy, past, limits)) {
      replay.requests += 1
      if (replay.requests % PAUSE_AFTER === 0) await pause()
      if (request.outcome !== 'auto_approved') replay.asked += 1
      if (verdict !== 'allowed') replay.left += 1
      else if (request.outcome === 'rejected' && replay.against.length < MOST_NAMED)
        replay.against.push(whatOf(request))
    }
    return { ...draft, text: edited ?? draft.text, base: found.state === 'text' ? found.sha256 : null, replay }
  }
}

/** Throws `invalid_request` with the problems of the text. */
export function policyIn(text: string): WorkspacePolicy {
  const { policy, problems } = readPolicy(text)
  if (policy !== null) return policy
  throw new ServerError('invalid_request', 'The text is no policy, so it would allow nothing.', {
    problems: problems.map(({ line, column, path, message }) => ({
      pointer: '/text',
      detail: `${line}:${column} ${[path, message].filter(Boolean).join(': ')}`,
    })),
  })
}
