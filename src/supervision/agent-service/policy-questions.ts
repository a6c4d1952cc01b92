// A policy file that no operator has accepted, or that now allows more, is a question of its own. It belongs to the workspace and to the
// text, not to the session of an agent: nobody has to ask for it, it waits as long as that text lies there, and it ends with no session.

import { isRecord } from '../../domain/is-record.ts'
import type { AnyRecord } from '../../domain/records/record.ts'
import { askedRecord } from '../../domain/supervision/approval-audit.ts'
import type { Quorum } from '../../domain/supervision/quorum.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import type { Store } from '../../store/store.ts'
import { withHeaders } from '../diffs/propose-change.ts'
import { unifiedDiff } from '../diffs/unified-diff.ts'
import type { SessionNow, SessionParts, Step } from '../sessions/take-step.ts'
import type { WorkspaceSession } from '../sessions/workspace-session.ts'
import type { EffectivePolicy } from '../workspace-policy/effective-policy.ts'
import type { PolicyWatch } from '../workspace-policy/watch-policy.ts'
import { newApproval } from './asked-records.ts'

/**
 * What counts of the policy of a workspace now. Asks the owner, once for each text, if it needs a yes; closes the questions about texts
 * that do not lie there any more.
 */
export type LookAtPolicy = (workspace: Workspace, owner: string) => Promise<EffectivePolicy>

type Workspace = Parameters<WorkspaceSession>[1]

interface QuestionDeps extends Pick<SessionParts, 'takeStep' | 'ids'> {
  store: Pick<Store, 'supervised' | 'waits'>
  workspaceSession: WorkspaceSession
  policies: Pick<PolicyWatch, 'effective'>
  quorum: Quorum
}

type Unaccepted = Extract<EffectivePolicy, { state: 'unpinned' | 'pinned' }>

/** More than anybody has workspaces. */
const MOST_WAITING = 1_000
const RECENT = 200

export function createLookAtPolicy(deps: QuestionDeps): LookAtPolicy {
  const { store, takeStep, workspaceSession, policies, ids, quorum } = deps
  /** The text of each workspace that was asked about, and the question; null: none needs a yes. Requests come often, and texts change rarely. */
  const seen = new Map<string, { hash: string | null; asked: string | null }>()

  /** Another server may have closed the question, when another text lay there for a while. */
  async function isSeen(root: string, hash: string | null): Promise<boolean> {
    const last = seen.get(root)
    if (last === undefined || last.hash !== hash) return false
    return last.asked === null || isAsked(await store.waits.get(last.asked))
  }

  const waitingAbout = async (root: string) =>
    (await store.waits.list({ wait: 'approval', isWaiting: true, limit: MOST_WAITING })).filter(
      (wait) => isPolicy(wait) && workspaceOf(wait) === root,
    )

  /** The text was changed, accepted or removed since they were asked. */
  async function closeOthers(root: string, hash: string | null): Promise<void> {
    for (const { id, sessionId, callId } of await waitingAbout(root)) {
      if (callId === hash) continue
      await takeStep(sessionId, ({ waiting, at }) => ({
        settle: waiting.some((one) => one.id === id) ? [{ id, patch: { status: 'interrupted', decidedAt: at } }] : [],
      }))
    }
  }

  async function ask(workspace: Workspace, owner: string, policy: Unaccepted, pinned: string | null): Promise<string> {
    await closeOthers(workspace.path, policy.sha256)
    const [waiting] = await waitingAbout(workspace.path)
    if (waiting !== undefined) return waiting.id
    const { id } = await workspaceSession(owner, workspace)
    const { result } = await takeStep(id, async (now): Promise<Step<string>> => {
      const recent = await store.waits.list({ wait: 'approval', sessionId: id, limit: RECENT })
      const known = recent.find((one) => isPolicy(one) && one.callId === policy.sha256 && isAsked(one))
      return known === undefined ? question(now, policy, pinned) : { result: known.id }
    })
    return result
  }

  function question(now: SessionNow, { file, sha256: hash, text }: Unaccepted, pinned: string | null): Step<string> {
    const { workspaceRoot } = now.session.supervision
    const diff = withHeaders(file, pinned === null ? 'create' : 'modify', unifiedDiff(pinned ?? '', text).hunks)
    const wanted = {
      kind: 'policy' as const,
      tool: 'policy',
      callId: hash,
      title: pinned === null ? `Accept the policy ${file}` : `Accept the wider policy ${file}`,
      description: `${pinned === null ? 'It says' : 'It was changed, and now says more about'} what agents in ${workspaceRoot} may do without asking. Until you accept it, the change allows nothing. The diff shows all of it.`,
      risk: 'critical' as const,
      action: null,
      digest: policyDigest(workspaceRoot, hash),
      arguments: JSON.stringify({ file, workspace: workspaceRoot, sha256: hash }),
      contentKey: hash,
      // No agent waits for it.
      expiresAt: null,
      change: null,
      beforeHash: null,
      afterHash: null,
    }
    const approval = newApproval(now, ids.uuid(), wanted, quorum)
    return {
      result: approval.id,
      ask: [approval],
      proposals: [{ approvalId: approval.id, diff, after: new TextEncoder().encode(text) }],
      audit: [askedRecord(approval)],
    }
  }

  return async (workspace, owner) => {
    const pin = await store.supervised.pin(workspace.path)
    const effective = policies.effective(workspace.path, pin)
    const wanted = needsYes(effective) ? effective : null
    const hash = wanted?.sha256 ?? null
    if (await isSeen(workspace.path, hash)) return effective
    let asked: string | null = null
    if (wanted === null) await closeOthers(workspace.path, null)
    else asked = await ask(workspace, owner, wanted, wanted.state === 'pinned' ? (pin?.text ?? null) : null)
    if (seen.size >= MOST_WAITING) seen.clear()
    seen.set(workspace.path, { hash, asked })
    return effective
  }
}

/** What a yes to a policy is given to: one text in one workspace. */
export const policyDigest = (workspaceRoot: string, hash: string): string =>
  sha256(canonicalJson(['policy', workspaceRoot, hash]))

/** A file that is switched off allows nothing, so nobody has to accept it. */
export const needsYes = (effective: EffectivePolicy): effective is Unaccepted =>
  effective.state === 'unpinned'
    ? effective.policy.enabled
    : effective.state === 'pinned' && effective.change.change === 'wider'

/** A no counts for its text. One that was only closed is asked again when its text is back. */
const isAsked = (wait: AnyRecord | null): boolean => wait?.status === 'pending' || wait?.status === 'rejected'

const isPolicy = (wait: AnyRecord): boolean => wait.wait === 'approval' && wait.kind === 'policy'

function workspaceOf({ arguments: json }: AnyRecord): string | null {
  const args: unknown = JSON.parse(json)
  return isRecord(args) && typeof args.workspace === 'string' ? args.workspace : null
}
