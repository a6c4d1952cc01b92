import type { Clock } from '../../domain/clock.ts'
import { hasCode, ServerError } from '../../domain/errors.ts'
import { type AnyRecord, type Approval, isSupervisedApproval } from '../../domain/records/record.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { Waits } from '../../engine/ports/waits.ts'
import { createSyncedWaits } from '../../engine/waits/synced-waits.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Store } from '../../store/store.ts'
import { checkReason } from '../sessions/check-text.ts'
import { refuseForeignCommand } from '../sessions/may-command.ts'
import { createAnswerHosted, createHostedSteps, isHosted } from './answer-hosted.ts'
import { createAnswerRun } from './answer-run.ts'
import type { Approvals } from './approvals.ts'
import { type AskAgain, type AskAgainDeps, createAskAgain } from './ask-again.ts'
import { type Answerer, type DecideDeps, decide, latest } from './decide.ts'
import { keepSecrets } from './keep-secrets.ts'
import { alreadyDecided, refuseCaller, refuseLate, refuseSecondYes, visibleApproval } from './refuse-decision.ts'
import { argumentsOf } from './shown-call.ts'

interface ApprovalsDeps extends AskAgainDeps, Pick<DecideDeps, 'operators' | 'stepUp'> {
  store: Pick<Store, 'waits' | 'grants' | 'sessions' | 'supervised'>
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
  const answerHosted = createAnswerHosted({ steps: createHostedSteps(deps), waits })

  function answererOf(approval: Approval): Answerer {
    if (isHosted(approval)) return answerHosted
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
      if (grant.elsewhere !== undefined) refuseForeignCommand(deps.operators, by, grant.elsewhere.owner)
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

// After a start: compares pending approvals and grants with the tools as they are now.

interface ReviewDeps extends AskAgainDeps {
  store: Pick<Store, 'grants' | 'waits'>
  askAgain: AskAgain
  clock: Pick<Clock, 'now'>
}

const PAGE = 200

/**
 * Ends grants and asks questions again where a tool or the rules have changed, with a line in the log for each. If a tool is not
 * available now, nothing happens: its questions are compared when they are answered, its grants when they are used.
 */
async function review(deps: ReviewDeps, signal: AbortSignal): Promise<void> {
  const { store, log, clock, askAgain, logger } = deps
  for (const grant of await store.grants.list({ now: clock.now() })) {
    if (signal.aborted) return
    if (!(await hasChanged(deps, grant, signal))) continue
    try {
      await endGrant(log, grant, 'change', clock.now())
    } catch (error) {
      // Somebody has revoked it in the meantime.
      if (hasCode(error, 'conflict')) continue
      throw error
    }
    const { id, agent, tool } = grant
    logger.info('a grant has ended, because its tool or the rules have changed', { grant_id: id, agent, tool })
  }
  for await (const approval of pendingApprovals(store)) {
    if (signal.aborted) return
    await askAgain.review(approval, clock.now(), signal).catch((error: unknown) => {
      // It is compared again when somebody answers it.
      if (!signal.aborted)
        logger.warn('an approval could not be reviewed', {
          approval_id: approval.id,
          session_id: approval.sessionId,
          run_id: approval.runId,
          error,
        })
    })
  }
}

/** Throws `conflict` when the grant is gone. */
async function endGrant(
  log: Pick<SessionLog, 'commit'>,
  { id, agent, tool, sessionId, approvalId }: Grant,
  by: string,
  at: number,
): Promise<void> {
  const details = { grant: id, approval: approvalId }
  const about = { session: sessionId, run: null, agent, tool, call: null }
  await log.commit({ type: 'revoke_grant', grantId: id, audit: { at, kind: 'grant_revoked', by, ...about, details } })
}

async function hasChanged(
  { agents, rules, askAgain, clock, logger }: ReviewDeps,
  { agent: name, tool: toolName, effect, policyVersion, sessionId, elsewhere }: Grant,
  signal: AbortSignal,
): Promise<boolean> {
  // A no stays a no when the tool changes, and we have none of the tools of agents elsewhere.
  if (effect === 'refuse' || elsewhere !== undefined) return false
  const agent = agents.find(({ definition }) => definition.name === name)?.definition
  const tool = await askAgain.findTool({ agent: name, tool: toolName }, signal)
  if (agent === undefined || tool === null) return false
  const call = { agent, tool, arguments: {}, sessionId: sessionId ?? '', owner: '', now: clock.now(), log: logger }
  return (await rules.question(call)).policyVersion !== policyVersion
}

/** Newest first. Questions that are asked again meanwhile are newer, so they are not met. */
async function* pendingApprovals(store: Pick<Store, 'waits'>): AsyncGenerator<Approval> {
  for (let before: Approval | undefined; ; ) {
    const page: AnyRecord[] = await store.waits.list({ wait: 'approval', status: 'pending', limit: PAGE, before })
    const found = page.filter((wait) => wait.wait === 'approval')
    // What agents elsewhere ask has no tool of ours that could have changed.
    yield* found.filter((wait) => wait.supervised === undefined)
    before = found.at(-1)
    if (before === undefined || page.length < PAGE) return
  }
}
