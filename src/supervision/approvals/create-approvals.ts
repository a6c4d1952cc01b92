import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { type Approval, isSupervisedApproval } from '../../domain/records/record.ts'
import type { Waits } from '../../engine/ports/waits.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import type { Store } from '../../store/store.ts'
import { checkReason } from '../sessions/check-text.ts'
import { createAnswerRun } from './answer-run.ts'
import type { Approvals } from './approvals.ts'
import { type AskAgainDeps, createAskAgain } from './ask-again.ts'
import {
  type Answerer,
  alreadyDecided,
  type DecideDeps,
  decide,
  latest,
  refuseCaller,
  refuseLate,
  refuseSecondYes,
} from './decide.ts'
import { keepSecrets } from './keep-secrets.ts'
import { visibleApproval } from './permission.ts'
import { endGrant, review } from './review.ts'
import { argumentsOf } from './shown-call.ts'

interface ApprovalsDeps extends AskAgainDeps, Pick<DecideDeps, 'operators' | 'stepUp'> {
  store: Pick<Store, 'waits' | 'grants'>
  clock: Clock
  /** The engine's. */
  waits: Pick<Waits, 'now' | 'answer' | 'expire'>
  /** Delivers answers to agents elsewhere. Null: this server has none. */
  answerAgent: Answerer | null
}

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { store, log, clock, ids, waits, logger } = deps
  const syncedWaits = createSyncedWaits(store.waits, log)
  const askAgain = createAskAgain(deps)
  const closing = new AbortController()
  let reviewing: Promise<void> = Promise.resolve()

  const answerRun = createAnswerRun({ askAgain, waits, signal: closing.signal })

  function answererOf(approval: Approval): Answerer {
    if (!isSupervisedApproval(approval)) return answerRun
    if (deps.answerAgent === null) throw new Error('This server decides nothing for agents elsewhere.')
    return deps.answerAgent
  }

  return {
    list({ by, ...query }) {
      return syncedWaits.list({ ...query, owner: by.role === 'operator' ? undefined : by.user, wait: 'approval' })
    },

    get: (by, id) => visibleApproval(syncedWaits, by, id),

    async decide(by, id, given, correlationId) {
      checkReason(given.reason)
      const approval = await visibleApproval(syncedWaits, by, id)
      const decision = { ...withSecrets(given, approval), sentArguments: given.arguments }
      const outcome = await decide({ ...deps, ids, askAgain }, answererOf(approval), approval, {
        by,
        decision,
        correlationId,
      })
      if (outcome !== null) return outcome
      const now = await visibleApproval(syncedWaits, by, id)
      // Their other yes came at the same time.
      if (now.status === 'pending') refuseSecondYes(deps.operators, by, now)
      throw alreadyDecided(await latest(askAgain, now))
    },

    async check(by, id, given) {
      const approval = await visibleApproval(syncedWaits, by, id)
      return answererOf(approval).check(approval, withSecrets(given, approval), async (now) => {
        refuseCaller(deps.operators, by, now)
        refuseLate(await latest(askAgain, now.approval), now.at)
      })
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
