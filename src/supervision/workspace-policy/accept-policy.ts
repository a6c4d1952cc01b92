// An operator accepts a text as the policy of a workspace: the file is written, and then the question about it is answered like every
// other one, with the same rules about who may, how many must, and proofs. There is no second way to a pin.

import { hasCode, ServerError } from '../../domain/errors.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { Store } from '../../store/store.ts'
import { type LookAtPolicy, needsYes, policyDigest } from '../agent-service/policy-questions.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { ChangeWriter } from '../diffs/change-writer.ts'
import { type Operators, refuseForeignCommand, viaOf } from '../sessions/may-command.ts'
import { about, type TakeStep } from '../sessions/take-step.ts'
import type { WorkspaceSession } from '../sessions/workspace-session.ts'
import { sha256OfBytes } from '../workspace/read-workspace-file.ts'
import { policyIn } from './draft-policy.ts'
import { effectivePolicy } from './effective-policy.ts'
import { findPolicy, POLICY_FILES } from './find-policy.ts'

/**
 * `base`: SHA-256 of the policy file that the text was made from; null: there was none. `waitsFor`: the approval that says what is missing,
 * more people or a passkey: the file is written and allows nothing yet. Null: it counts. Throws `forbidden`, `invalid_request` with the
 * problems of the text, `conflict` if the file is another one by now, and what `ChangeWriter.apply` throws.
 */
export type AcceptPolicy = (
  by: Caller,
  workspace: Workspace,
  text: string,
  base: string | null,
) => Promise<{ file: string; waitsFor: string | null }>

type Workspace = Parameters<WorkspaceSession>[1]

interface AcceptDeps {
  store: Pick<Store, 'waits' | 'supervised'>
  approvals: Pick<Approvals, 'decide'>
  operators: Operators
  takeStep: TakeStep
  /** How the service of agents elsewhere deals with policy files. `ownerIn`: who is asked about the one of a workspace. */
  policyFiles: {
    writer: Pick<ChangeWriter, 'apply'>
    look: LookAtPolicy
    ownerIn(workspaceRoot: string): Promise<string>
    session: WorkspaceSession
  }
}

const [FILE] = POLICY_FILES
const MOST_WAITING = 1_000

export function createAcceptPolicy({ store, approvals, operators, takeStep, policyFiles }: AcceptDeps): AcceptPolicy {
  const { writer, look, ownerIn, session: sessionOf } = policyFiles

  async function write(workspaceRoot: string, text: string, base: string | null): Promise<string> {
    const found = findPolicy(workspaceRoot)
    if (found.state === 'unreadable') throw conflict(`${found.file} is in the way: ${found.reason}`)
    const after = new TextEncoder().encode(text)
    const afterHash = sha256OfBytes(after)
    const old = found.state === 'text' && found.file === FILE ? found.sha256 : null
    // The same request came before, and its answer was lost.
    if (old === afterHash) return afterHash
    if ((found.state === 'text' ? found.sha256 : null) !== base) {
      throw conflict('The policy file was changed meanwhile. Make a new draft, then accept it.')
    }
    const kind = old === null ? 'create' : 'modify'
    const change = { workspaceRoot, path: FILE, kind, beforeHash: old ?? 'new_file', afterHash, after } as const
    await writer.apply(change, { beforeRename: async () => {} })
    return afterHash
  }

  return async (by, workspace, text, base) => {
    const { path } = workspace
    policyIn(text)
    const owner = await ownerIn(path)
    refuseForeignCommand(operators, by, owner)
    const sha256 = await write(path, text, base)
    // A kill from here on leaves a file that nobody has accepted: it allows nothing, and the next look asks about it in the inbox.
    await look(workspace, owner)
    const waiting = await store.waits.list({ wait: 'approval', isWaiting: true, limit: MOST_WAITING })
    const digest = policyDigest(path, sha256)
    const asked = waiting.find((one) => one.wait === 'approval' && one.digest === digest)
    if (asked !== undefined) {
      const decided = await approvals.decide(by, asked.id, { decision: 'approve', digest }).catch((error: unknown) => {
        // A proof is made for one approval, so the person gives it there.
        if (hasCode(error, 'passkey_required')) return null
        throw error
      })
      return { file: FILE, waitsFor: decided?.approval.status === 'approved' ? null : asked.id }
    }
    // Nobody is asked about a text that allows no more than the one before it. An agent may have changed the file, so the text itself counts.
    const pin = await store.supervised.pin(path)
    if (needsYes(effectivePolicy(pin, { state: 'text', file: FILE, text, sha256 }))) {
      throw conflict(
        `${FILE} allows nothing: an operator refused this text before, or the file was changed. Change it.`,
      )
    }
    const { id } = await sessionOf(owner, workspace)
    await takeStep(id, ({ session, at }) => ({
      pin: { workspaceRoot: path, sha256, text, at, by: by.user },
      audit: [about(session, at, by.user, { what: 'policy_accepted', workspace: path, sha256, ...viaOf(by) })],
    }))
    return { file: FILE, waitsFor: null }
  }
}

const conflict = (message: string): ServerError => new ServerError('conflict', message)
