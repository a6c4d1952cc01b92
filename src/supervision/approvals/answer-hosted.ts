// What an agent that this server hosts has asked. A run of ours waits for the answer, as with our other agents; who may give it, what it may
// change and what is remembered are as with agents elsewhere, because it is a coding agent's program that asks.

import { type Risk, risks } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import { type Approval, type HostApproval, isHostApproval } from '../../domain/records/record.ts'
import type { Waits } from '../../engine/ports/waits.ts'
import type { Store } from '../../store/store.ts'
import { shownDiff } from '../diffs/show-change.ts'
import { chosenSet } from '../hosted/ask-changes.ts'
import { readChoices } from '../worktrees/change-choices.ts'
import type { ChangeSet } from '../worktrees/change-set.ts'
import { notAsSeen } from './ask-again.ts'
import { checkedCall, noProblem, problemsOf } from './check-edit.ts'
import type { Answerer, AskedNow, Edited } from './decide.ts'

interface HostedDeps {
  store: Pick<Store, 'sessions' | 'grants' | 'supervised'>
}

/** A hosted agent asked it. */
export const isHosted = (approval: Approval): approval is HostApproval =>
  isHostApproval(approval) && approval.supervised.run === true

/** The steps of a decision that need no engine. */
export function createHostedSteps({ store }: HostedDeps) {
  return {
    /** The approval with what decides who may answer. */
    async asked(approval: HostApproval, at: number): Promise<AskedNow & { approval: HostApproval }> {
      const session = await store.sessions.get(approval.sessionId)
      const { host, workspaceRoot } = session?.supervision ?? { host: approval.supervised.host, workspaceRoot: '' }
      const grants = await store.grants.list({ agent: host, now: at })
      return { approval, at, elsewhere: { owner: session?.owner ?? approval.owner, workspaceRoot, grants } }
    },

    async refuseChanged({ approval }: AskedNow, { digest }: { digest?: string }): Promise<void> {
      if (digest !== undefined && digest !== approval.digest) throw notAsSeen(approval)
    },

    async edit(now: AskedNow, { arguments: edited }: { arguments?: Record<string, unknown> }): Promise<Edited> {
      const { approval } = now
      const { risk } = approval
      if (edited === undefined || !isHosted(approval)) return { patch: {}, replaced: null, risk }
      const set = await setOf(approval, edited, now.elsewhere?.workspaceRoot ?? '')
      const replaced = set.digest === approval.digest ? null : { arguments: edited, digest: set.digest }
      return { patch: {}, replaced, risk: riskOf(set, risk) }
    },

    setOf,
  }

  function setOf(approval: HostApproval, edited: Record<string, unknown>, workspaceRoot: string): Promise<ChangeSet> {
    if (approval.kind !== 'changes') throw new ServerError('invalid_request', NOT_EDITED)
    return chosenSet(store, approval, readChoices(edited), { workspaceRoot, serverPaths: [] })
  }
}

export type HostedSteps = ReturnType<typeof createHostedSteps>

const NOT_EDITED =
  'The program of this agent takes a yes or a no to its call, and no other arguments. Reject it with a reason: the agent hears it with its next prompt.'

/** Nobody has judged how dangerous a person's text is. It never counts as less than what was asked. */
const riskOf = ({ changes }: ChangeSet, asked: Risk): Risk =>
  changes.reduce<Risk>((most, { risk }) => (risks.indexOf(risk) > risks.indexOf(most) ? risk : most), asked)

export function createAnswerHosted({
  steps,
  waits,
}: {
  steps: HostedSteps
  /** The engine's. */
  waits: Pick<Waits, 'now' | 'answer' | 'expire'>
}): Answerer {
  const asked = (approval: Approval) => {
    if (!isHosted(approval)) throw new Error('No hosted agent asked this.')
    return steps.asked(approval, waits.now())
  }
  return {
    refuseChanged: steps.refuseChanged,
    edit: steps.edit,

    async answer(approval, { correlationId }, given) {
      const now = await asked(approval)
      await given.refuse(now)
      const accepted = await waits.answer(approval, await given.prepare(now), correlationId)
      const [first] = accepted?.answered ?? []
      if (accepted === null || first?.applied !== true || first.wait?.wait !== 'approval') return null
      // A yes that is not enough starts nothing.
      return { approval: first.wait, run: first.wait.status === 'pending' ? null : accepted.run }
    },

    async check(approval, { arguments: edited }, refuseLate) {
      const now = await asked(approval)
      await refuseLate(now)
      return problemsOf(approval, async () => {
        if (edited === undefined) return noProblem(approval)
        const set = await steps.setOf(now.approval, edited, now.elsewhere?.workspaceRoot ?? '')
        const preview = set.changes.map((change) => shownDiff(change).text).join('\n')
        return {
          ...checkedCall(approval, { editedArguments: JSON.stringify(edited), risk: riskOf(set, approval.risk) }),
          preview,
        }
      })
    },

    expire: waits.expire,
  }
}
