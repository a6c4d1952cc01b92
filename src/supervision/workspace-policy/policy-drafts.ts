// Drafts of a workspace's policy, from what the store knows about its past, and what a text would have changed since.

import { ServerError } from '../../domain/errors.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import type { Store } from '../../store/store.ts'
import { draftPolicy, type PolicyDraft } from './draft-policy.ts'
import { effectivePolicy } from './effective-policy.ts'
import { findPolicy } from './find-policy.ts'
import { type PastRequest, type PastRequests, type PolicyLimits, replayPolicy } from './judge-request.ts'
import { newestOf, type PastReads, pastRequests } from './past-requests.ts'
import { type ReadPolicy, readPolicy } from './read-policy.ts'
import type { WorkspacePolicy } from './workspace-policy.ts'

export interface PolicyReplay {
  /** Requests of the time, as many as were looked at. `isCut`: there were more. */
  requests: number
  isCut: boolean
  /** How many of them people were asked about, and how many they would have been asked about. */
  asked: number
  wouldAsk: number
  /** What a person refused and the policy would have let through. */
  against: string[]
}

export interface PolicyDrafts {
  /** `workspaceRoot` is a real path. `base`: SHA-256 of the policy file that lies there; null: there is none. */
  draft(workspaceRoot: string, since: number): Promise<PolicyDraft & { base: string | null; replay: PolicyReplay }>
  /** What a text would have done since. Throws `invalid_request` with its problems. */
  replay(workspaceRoot: string, since: number, text: string): Promise<PolicyReplay>
}

interface DraftDeps {
  reads: PastReads & { supervised: Pick<Store['supervised'], 'pin'> }
  limits: PolicyLimits
  /** So many requests are looked at, the newest ones. */
  most: number
  /** Lets others work: the agents choose how much there is to look at. */
  pause(): Promise<void>
}

const PAUSE_AFTER = 200
const MOST_NAMED = 10

export function createPolicyDrafts({ reads, limits, most, pause }: DraftDeps): PolicyDrafts {
  const since = (workspace: string, time: number) => newestOf(pastRequests(reads, { since: time, workspace }), most)

  async function* paced(past: readonly PastRequest[]): PastRequests {
    for (const [i, request] of past.entries()) {
      if (i % PAUSE_AFTER === 0) await pause()
      yield request
    }
  }

  async function replayed(policy: WorkspacePolicy, { past, isCut }: Awaited<ReturnType<typeof newestOf>>) {
    const replay: PolicyReplay = { requests: past.length, isCut, asked: 0, wouldAsk: 0, against: [] }
    for await (const { request, verdict } of replayPolicy(policy, paced(past), limits)) {
      const { outcome, command, filePath, toolName } = request
      if (outcome !== 'auto_approved') replay.asked += 1
      if (verdict !== 'allowed') replay.wouldAsk += 1
      else if (outcome === 'rejected' && replay.against.length < MOST_NAMED)
        replay.against.push(visibleText((command ?? filePath ?? toolName).slice(0, 160)))
    }
    return replay
  }

  return {
    async draft(root, time) {
      const found = findPolicy(root)
      const effective = effectivePolicy(await reads.supervised.pin(root), found)
      // An agent can write the file, so only what an operator has accepted goes on.
      const accepted = effective.state !== 'pinned' ? null : effective.change.change === 'wider' ? 'pinned' : 'policy'
      const current = effective.state === 'pinned' && accepted !== null ? effective[accepted] : null
      const history = await since(root, time)
      const draft = draftPolicy(history.past, current, limits)
      const base = found.state === 'text' ? found.sha256 : null
      return { ...draft, base, replay: await replayed(draft.policy, history) }
    },
    async replay(root, time, text) {
      return replayed(readableIn(text).policy, await since(root, time))
    },
  }
}

/** Throws `invalid_request` with its problems. */
export function readableIn(text: string): Extract<ReadPolicy, { problems: readonly [] }> {
  const read = readPolicy(text)
  if (read.policy !== null) return read
  const problems = read.problems.map(({ line, column, path, message }) => ({
    pointer: '/text',
    detail: `${line}:${column} ${[path, message].filter(Boolean).join(': ')}`,
  }))
  throw new ServerError('invalid_request', 'The text is no policy, so it would allow nothing.', { problems })
}
