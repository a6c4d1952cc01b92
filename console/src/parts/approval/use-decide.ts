import { useQueryClient } from '@tanstack/react-query'
import {
  type Approval,
  type Approvals,
  type ApproveOptions,
  ClientError,
  type LookedAt,
  type ShownApproval,
} from 'quarterdeck/client'
import { useState } from 'react'
import { usePlace } from '../../data/place.ts'
import { useClient } from '../../data/server.tsx'
import { withProof } from '../../sign-in/step-up.ts'
import { announce } from '../Announcer.tsx'
import { isUnreachable } from './Problem.tsx'
import { doneText, type RecordAction } from './record-actions.ts'
import type { Draft } from './use-draft.ts'

type RejectOptions = NonNullable<Parameters<Approvals['reject']>[1]>

export type Decide = ReturnType<typeof useDecide>

/** What every dialog about a decision is given. */
export interface DecisionDialogProps {
  approval: ShownApproval
  action: RecordAction
  lookedAt: LookedAt
  decide: Decide
  draft: Draft
  onClose: () => void
}

interface DecideOptions {
  /** When `shown` was read. */
  readAt: number
  /** Where several people have to say yes: this person has. */
  hasSaidYes: boolean
  draft: Draft
  /** It is another question now, with this id. */
  onChanged: (id: string) => void
  /** This person has decided, and the server has heard it. */
  onDone: (() => void) | undefined
}

/** The server was asked again after it had gone away, and nobody has decided. */
const NOT_ARRIVED = new Error(
  'The server was away, and your decision did not arrive. Nothing was decided. Decide again.',
)

/** Decides, and waits for the server's word. */
export function useDecide(shown: ShownApproval, { readAt, hasSaidYes, draft, onChanged, onDone }: DecideOptions) {
  const client = useClient()
  const queries = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<{ error: unknown; at: number } | null>(null)
  const { approval_id, digest } = shown
  // Passkeys are for operators. Others are told by the server whom to ask.
  const isOperator = usePlace().role === 'operator'
  const proving: typeof withProof = isOperator ? withProof : (_purpose, call) => call({})

  const readAgain = async (): Promise<void> => {
    void queries.invalidateQueries({ queryKey: ['inbox'] })
    await queries.invalidateQueries({ queryKey: ['approval', approval_id] })
  }

  /** True if there is nothing more to ask: it was decided, here or elsewhere, or there is something new to look at. */
  async function attempt(name: RecordAction['name'], decide: () => Promise<Approval>): Promise<boolean> {
    setBusy(true)
    setFailure(null)
    try {
      await decide()
      draft.drop()
      const reading = readAgain()
      const action = shown.view.actions.find((one) => one.name === name)
      if (action !== undefined) announce(doneText(action, shown.view))
      if (onDone === undefined) await reading
      else onDone()
      return true
    } catch (error) {
      const code = error instanceof ClientError ? error.code : null
      if (code === 'approval_changed' && error instanceof ClientError) {
        await readAgain()
        const next = error.problem?.approval_id
        const id = typeof next === 'string' ? next : approval_id
        draft.moveTo(id)
        onChanged(id)
        return true
      }
      if (code === 'approval_decided' || code === 'approval_expired') {
        await readAgain()
        announce(error instanceof Error ? error.message : 'Somebody else has decided.')
        return true
      }
      setFailure({ error, at: Date.now() })
      // Nobody knows whether it arrived: the page shows what the server says next.
      if (isUnreachable(error)) await readAgain()
      return false
    } finally {
      setBusy(false)
    }
  }

  function problemNow(): unknown {
    if (failure === null) return null
    if (!isUnreachable(failure.error) || readAt <= failure.at) return failure.error
    return hasSaidYes ? null : NOT_ARRIVED
  }

  const approveOnce = (options: ApproveOptions, of = digest): Promise<Approval> => {
    // The proof is for all that the decision brings; what the person says and saw is not part of that.
    const { signal, passkey: _, reason, looked_at, ...brought } = options
    return proving({ kind: 'decision', approval_id, digest: of, decision: 'approve', ...brought }, (proof) =>
      client.approve({ approval_id, digest: of }, { ...options, ...proof }),
    )
  }

  return {
    isBusy,
    /** Why the last try did not work. */
    problem: problemNow(),
    clear: () => setFailure(null),
    approve: (options: ApproveOptions) =>
      attempt(options.arguments === undefined ? 'approve' : 'edit', () => approveOnce(options)),
    /** The file as it should be. `editDigest` is that of the edit which was shown. */
    approveContent: (content: string, editDigest: string, looked_at: LookedAt) =>
      attempt('edit', async () => {
        try {
          return await client.approve(shown, { content })
        } catch (error) {
          // The server keeps the edit and asks about it. If that is what was shown, this is the yes to it.
          const isEdit =
            error instanceof ClientError && error.code === 'approval_changed' && error.problem?.digest === editDigest
          if (!isEdit) throw error
          return approveOnce({ looked_at }, editDigest)
        }
      }),
    reject: (options: RejectOptions) => attempt('reject', () => client.reject(shown, options)),
    respond: (result: unknown, looked_at: LookedAt) =>
      attempt('answer', () =>
        proving({ kind: 'decision', approval_id, digest, decision: 'respond', result }, (proof) =>
          client.respond(shown, result, { looked_at, ...proof }),
        ),
      ),
  }
}
