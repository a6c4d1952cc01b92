// An operator accepts a text as the policy of a workspace: the file is written, and then the question about it is answered like every
// other one, with the same rules about who may, how many must, and proofs. There is no second way to a pin.

import { hasCode, ServerError } from '../../domain/errors.ts'
import type { SupervisedApproval } from '../../domain/records/record.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { Store } from '../../store/store.ts'
import { type LookAtPolicy, needsYes, policyDigest } from '../agent-service/policy-questions.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { ChangeWriter } from '../diffs/change-writer.ts'
import { type Operators, refuseForeignCommand, viaOf } from '../sessions/may-command.ts'
import { about, type TakeStep } from '../sessions/take-step.ts'
import type { WorkspaceSession } from '../sessions/workspace-session.ts'
import { sha256OfBytes } from '../workspace/read-workspace-file.ts'
import { effectivePolicy } from './effective-policy.ts'
import { findPolicy, POLICY_FILES } from './find-policy.ts'
import { readableIn } from './policy-drafts.ts'

export interface AcceptedPolicy {
  file: string
  sha256: string
  /** `pending`: it is written and allows nothing yet. The approval says what is missing: more people, or a passkey. */
  status: 'accepted' | 'pending'
  approvalId: string | null
}

/**
 * `base`: SHA-256 of the policy file that the text was made from; null: there was none. Throws `forbidden`, `invalid_request` with the
 * problems of the text, `conflict` if the file is another one by now, and what `ChangeWriter.apply` throws.
 */
export type AcceptPolicy = (
  by: Caller,
  workspace: Workspace,
  text: string,
  base: string | null,
) => Promise<AcceptedPolicy>

type Workspace = Parameters<WorkspaceSession>[1]
type Written = { text: string; sha256: string }

interface AcceptDeps {
  store: Pick<Store, 'waits' | 'supervised'>
  approvals: Pick<Approvals, 'decide'>
  operators: Operators
  takeStep: TakeStep
  policyFiles: PolicyFiles
}

/** How the service of agents elsewhere deals with the policy files of workspaces. */
export interface PolicyFiles {
  writer: Pick<ChangeWriter, 'apply'>
  look: LookAtPolicy
  /** Who is asked about the policy of a workspace. */
  ownerIn(workspaceRoot: string): Promise<string>
  session: WorkspaceSession
}

const [FILE] = POLICY_FILES
const MOST_WAITING = 1_000

export function createAcceptPolicy({ store, approvals, operators, takeStep, policyFiles }: AcceptDeps): AcceptPolicy {
  const { writer, look, ownerIn, session: sessionOf } = policyFiles

  async function write(workspaceRoot: string, text: string, base: string | null): Promise<string> {
    const found = findPolicy(workspaceRoot)
    if (found.state === 'unreadable') throw new ServerError('conflict', `${found.file} is in the way: ${found.reason}`)
    const after = new TextEncoder().encode(text)
    const afterHash = sha256OfBytes(after)
    const old = found.state === 'text' && found.file === FILE ? found.sha256 : null
    // The same request came before, and its answer was lost.
    if (old === afterHash) return afterHash
    if ((found.state === 'text' ? found.sha256 : null) !== base) {
      throw new ServerError('conflict', 'The policy file was changed meanwhile. Make a new draft, then accept it.')
    }
    const change = { path: FILE, after, afterHash, workspaceRoot }
    const how =
      old === null ? { kind: 'create' as const, beforeHash: 'new_file' } : { kind: 'modify' as const, beforeHash: old }
    await writer.apply({ ...change, ...how }, { beforeRename: async () => {} })
    return afterHash
  }

  async function questionAbout(workspaceRoot: string, sha256: string): Promise<SupervisedApproval | undefined> {
    const waiting = await store.waits.list({ wait: 'approval', isWaiting: true, limit: MOST_WAITING })
    return waiting.find(
      (one): one is SupervisedApproval => 'digest' in one && one.digest === policyDigest(workspaceRoot, sha256),
    )
  }

  /** Nobody is asked about a text that allows no more than the one before it, or nothing. Then the yes to it is kept here. */
  async function pinNarrower(
    by: Caller,
    workspace: Workspace,
    owner: string,
    { text, sha256 }: Written,
  ): Promise<void> {
    const { path } = workspace
    const effective = effectivePolicy(await store.supervised.pin(path), findPolicy(path))
    if (needsYes(effective)) {
      throw new ServerError(
        'conflict',
        `${FILE} is written, but an operator has refused this text before, so it allows nothing. Change it, then accept it.`,
      )
    }
    const { id } = await sessionOf(owner, workspace)
    await takeStep(id, ({ session, at }) => ({
      pin: { workspaceRoot: path, sha256, text, at, by: by.user },
      audit: [about(session, at, by.user, { what: 'policy_accepted', workspace: path, sha256, ...viaOf(by) })],
    }))
  }

  return async (by, workspace, text, base) => {
    const { path } = workspace
    readableIn(text)
    const owner = await ownerIn(path)
    refuseForeignCommand(operators, by, owner)
    const sha256 = await write(path, text, base)
    // A kill from here on leaves a file that nobody has accepted: it allows nothing, and the next look asks about it in the inbox.
    await look(workspace, owner)
    const asked = await questionAbout(path, sha256)
    const result = { file: FILE, sha256, status: 'accepted' as const, approvalId: asked?.id ?? null }
    if (asked === undefined) {
      await pinNarrower(by, workspace, owner, { text, sha256 })
      return result
    }
    const { id, digest } = asked
    const decided = await approvals.decide(by, id, { decision: 'approve', digest }).catch((error: unknown) => {
      // A proof is made for one approval, so the person gives it there.
      if (hasCode(error, 'passkey_required')) return null
      throw error
    })
    return decided?.approval.status === 'approved' ? result : { ...result, status: 'pending' }
  }
}
