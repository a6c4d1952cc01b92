// After a start: compares pending approvals and grants with the tools as they are now.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { AnyRecord, Approval } from '../../domain/records/record.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Store } from '../../store/store.ts'
import type { AskAgain, AskAgainDeps } from './ask-again.ts'

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
export async function review(deps: ReviewDeps, signal: AbortSignal): Promise<void> {
  const { store, log, clock, askAgain, logger } = deps
  for (const grant of await store.grants.list({ now: clock.now() })) {
    if (signal.aborted) return
    if (!(await hasChanged(deps, grant, signal))) continue
    try {
      await endGrant(log, grant, 'change', clock.now())
    } catch (error) {
      // Somebody has revoked it in the meantime.
      if (error instanceof ServerError && error.code === 'conflict') continue
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
export async function endGrant(
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
  { agent: name, tool: toolName, effect, policyVersion, sessionId }: Grant,
  signal: AbortSignal,
): Promise<boolean> {
  // A no stays a no when the tool changes.
  if (effect === 'refuse') return false
  const agent = agents.find(({ definition }) => definition.name === name)?.definition
  const tool = await askAgain.findTool({ agent: name, tool: toolName }, signal)
  if (agent === undefined || tool === null) return false
  const call = { agent, tool, arguments: {}, sessionId: sessionId ?? '', owner: '', now: clock.now(), log: logger }
  return rules.question(call).policyVersion !== policyVersion
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
