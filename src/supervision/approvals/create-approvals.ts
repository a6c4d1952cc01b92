import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { type Approval, hasExpired, isSupervisedApproval } from '../../domain/records/record.ts'
import type { Waits } from '../../engine/ports/waits.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import type { Store } from '../../store/store.ts'
import { checkReason } from '../sessions/check-text.ts'
import type { Approvals } from './approvals.ts'
import { type AskAgainDeps, createAskAgain } from './ask-again.ts'
import { checkOwnEdit } from './check-edit.ts'
import { alreadyDecided, type DecideDeps, decide, refuseSecondYes } from './decide.ts'
import type { ElsewhereApprovals } from './decide-elsewhere.ts'
import { keepSecrets } from './keep-secrets.ts'
import { refuseWithoutPermission, visibleApproval } from './permission.ts'
import { endGrant, review } from './review.ts'
import { argumentsOf } from './shown-call.ts'

interface ApprovalsDeps extends AskAgainDeps, Pick<DecideDeps, 'operators' | 'stepUp'> {
  store: Pick<Store, 'waits' | 'grants'>
  clock: Clock
  /** The engine's. */
  waits: Pick<Waits, 'now' | 'answer' | 'expire'>
  /** Decides what agents elsewhere ask. Left out: this server has none. */
  elsewhere?: Pick<ElsewhereApprovals, 'decide' | 'check'>
}

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { store, log, clock, ids, waits, logger } = deps
  const syncedWaits = createSyncedWaits(store.waits, log)
  const askAgain = createAskAgain(deps)
  const closing = new AbortController()
  let reviewing: Promise<void> = Promise.resolve()

  function elsewhere(): Pick<ElsewhereApprovals, 'decide' | 'check'> {
    if (deps.elsewhere === undefined) throw new Error('This server decides nothing for agents elsewhere.')
    return deps.elsewhere
  }

  return {
    list({ by, ...query }) {
      const own = by.role === 'operator' ? {} : { owner: by.user }
      return syncedWaits.list({ ...query, ...own, wait: 'approval' })
    },

    get: (by, id) => visibleApproval(syncedWaits, by, id),

    async decide(by, id, given, correlationId) {
      checkReason(given.reason)
      const approval = await visibleApproval(syncedWaits, by, id)
      const sent = given.arguments === undefined ? {} : { sentArguments: given.arguments }
      const decision = { ...withSecrets(given, approval), ...sent }
      if (isSupervisedApproval(approval)) {
        return { approval: await elsewhere().decide(by, approval, decision), run: null }
      }
      const at = waits.now()
      // First of all: a caller without permission learns nothing more and changes nothing.
      refuseWithoutPermission(by, approval)
      const isLate = approval.status === 'pending' && hasExpired(approval, at)
      if (!isLate) await askAgain.refuseChanged(approval, decision, at, closing.signal)
      const decided = await decide({ ...deps, ids, askAgain }, by, approval, decision, at)
      if (isLate) await waits.expire(approval)
      else if (approval.status === 'pending') {
        const accepted = await waits.answer(approval, decided, correlationId)
        const [first] = accepted?.answered ?? []
        if (accepted !== null && first?.applied === true && first.wait?.wait === 'approval') {
          // A yes that is not enough starts nothing.
          return { approval: first.wait, run: first.wait.status === 'pending' ? null : accepted.run }
        }
      }
      const now = await visibleApproval(syncedWaits, by, id)
      // Their other yes came at the same time.
      if (now.status === 'pending') refuseSecondYes(deps.operators, by, now)
      throw alreadyDecided(await askAgain.latest(now))
    },

    async check(by, id, given) {
      const approval = await visibleApproval(syncedWaits, by, id)
      const edit = withSecrets(given, approval)
      if (isSupervisedApproval(approval)) return elsewhere().check(by, approval, edit)
      refuseWithoutPermission(by, approval)
      const at = waits.now()
      if (approval.status !== 'pending') throw alreadyDecided(await askAgain.latest(approval))
      if (hasExpired(approval, at)) throw alreadyDecided({ ...approval, status: 'expired' })
      return checkOwnEdit(askAgain, approval, edit, { at, signal: closing.signal })
    },

    grants: (query = {}) => store.grants.list({ ...query, now: clock.now() }),

    async revokeGrant(by, id) {
      const grant = await store.grants.get(id)
      if (grant === null) throw new ServerError('grant_not_found', `There is no grant ${JSON.stringify(id)}.`)
      await endGrant(log, grant, by.user, clock.now())
    },

    review() {
      reviewing = review({ ...deps, askAgain }, closing.signal).catch((error: unknown) => {
        if (!closing.signal.aborted) logger.warn('approvals and grants could not be reviewed', { error })
      })
      return reviewing
    },

    async close() {
      closing.abort()
      await reviewing
    },
  }
}

/** People are shown secrets masked, in the console and in Slack. A mask that an edit leaves stands for the secret. */
const withSecrets = <T extends { arguments?: Record<string, unknown> }>(edit: T, approval: Approval): T =>
  edit.arguments === undefined ? edit : { ...edit, arguments: keepSecrets(edit.arguments, argumentsOf(approval)) }
