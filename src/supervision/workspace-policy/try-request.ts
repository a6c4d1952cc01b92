// What the policy of a workspace would say about a request, for operators who wonder. It grants nothing and asks nobody.

import type { SupervisedReads } from '../../store/ports/supervised.ts'
import type { GuardArguments } from '../workspace/guard-arguments.ts'
import { type EffectivePolicy, judgeEffective } from './effective-policy.ts'
import { accessOf, type Judgement, type PolicyLimits } from './judge-request.ts'
import type { PolicyWatch } from './watch-policy.ts'
import type { NamedRequest } from './workspace-policy.ts'

interface TriedVerdict extends Omit<Judgement, 'why' | 'personOnly'> {
  /** What counts in this workspace, then why the request passes or does not. */
  why: string[]
}

/** `workspaceRoot` is a real path. The file's may be absolute, or relative to the workspace. */
export type TryRequest = (workspaceRoot: string, request: NamedRequest) => Promise<TriedVerdict>

interface TryDeps {
  store: { supervised: Pick<SupervisedReads, 'pin'> }
  policies: Pick<PolicyWatch, 'effective'>
  limits: PolicyLimits
  guard: GuardArguments
  /** A path relative to the workspace, with links followed; null if it leads to no file there. */
  confined(workspaceRoot: string, path: string): Promise<string | null>
}

export function createTryRequest({ store, policies, limits, guard, confined }: TryDeps): TryRequest {
  return async (workspaceRoot, { filePath, ...request }) => {
    const effective = policies.effective(workspaceRoot, await store.supervised.pin(workspaceRoot))
    const state = stateWords(effective)
    const path = filePath === null ? null : await confined(workspaceRoot, filePath)
    if (filePath !== null && path === null) {
      return {
        autoApproved: false,
        matchedRule: null,
        why: [...state, 'The path does not lead to a file of the workspace.'],
      }
    }
    const guarded = guard({ workspaceRoot, access: accessOf(request.toolName), input: filePath })
    const asked = { ...request, filePath: path, guarded }
    const { autoApproved, matchedRule, why } = judgeEffective(effective, asked, limits)
    return { autoApproved, matchedRule, why: [...state, why] }
  }
}

/** Nothing where the verdict itself says it. */
function stateWords(effective: EffectivePolicy): string[] {
  if (effective.state !== 'pinned') return []
  const { file, change } = effective
  const accepted = `An operator has accepted ${file}.`
  if (change.change === 'same') return [accepted]
  return [
    change.change === 'wider'
      ? `${accepted} It was changed since and allows more now, which does not count yet.`
      : `${accepted} It was changed since and allows less now, which counts at once.`,
  ]
}
