// After a start: what people were asked and what they allowed once and for all, held against the tools that are there now.

import { ServerError } from '../domain/errors.ts'
import type { Grant } from '../domain/grant.ts'
import type { Logger } from '../domain/logger.ts'
import type { Approval } from '../domain/wait.ts'
import { isOutdatedVersion } from '../json/digest.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Store } from '../store/store.ts'
import type { AskAgain } from './ask-again.ts'
import type { Gate } from './gate.ts'
import type { AgentParts } from './run/run-scope.ts'

export interface ReviewDeps {
  store: Pick<Store, 'grants' | 'waits'>
  log: Pick<SessionLog, 'commit'>
  gate: Gate
  agents: ReadonlyMap<string, AgentParts>
  questions: AskAgain
  now: () => number
  logger: Logger
}

const PAGE = 200

/**
 * Ends the grants and asks the questions again whose tool or rules have changed, with a line in the log for each. A tool that is
 * not there now is left alone: its questions are held against it when they are answered, its grants when they are used.
 */
export async function reviewStanding(deps: ReviewDeps, signal: AbortSignal): Promise<void> {
  const { store, now, questions, logger } = deps
  for (const grant of await store.grants.list({ now: now() })) {
    if (signal.aborted) return
    if (await isOver(deps, grant, signal)) await end(deps, grant)
  }
  for await (const approval of pendingApprovals(store)) {
    if (signal.aborted) return
    await questions.review(approval, now(), signal).catch((error: unknown) => {
      // It is looked at again when somebody answers it.
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

async function isOver({ agents, gate, questions, now }: ReviewDeps, grant: Grant, signal: AbortSignal) {
  const { policyVersion, sessionId } = grant
  if (isOutdatedVersion(policyVersion)) return true
  const agent = agents.get(grant.agent)?.definition
  const tool = await questions.findTool(grant, signal)
  if (agent === undefined || tool === null) return false
  const call = { agent, tool, arguments: {}, sessionId: sessionId ?? '', now: now() }
  return gate.question(call).policyVersion !== policyVersion
}

async function end({ log, now, logger }: ReviewDeps, grant: Grant): Promise<void> {
  const { id, agent, tool, sessionId, approvalId } = grant
  const about = { session: sessionId, run: null, agent, tool, call: null }
  const details = { grant: id, approval: approvalId }
  const audit = { at: now(), kind: 'grant_revoked' as const, by: 'change', ...about, details }
  try {
    await log.commit({ type: 'revoke_grant', grantId: id, audit })
  } catch (error) {
    // Somebody has taken it back in the meantime.
    if (error instanceof ServerError && error.code === 'conflict') return
    throw error
  }
  logger.info('a grant has ended, because its tool or the rules have changed', { grant_id: id, agent, tool })
}

/** Newest first. Those that are asked again meanwhile are newer, and not met. */
async function* pendingApprovals(store: Pick<Store, 'waits'>): AsyncGenerator<Approval> {
  for (let before: Approval | null = null; ; ) {
    const place: { before?: Approval } = before === null ? {} : { before }
    const page = await store.waits.list({ wait: 'approval', status: 'pending', limit: PAGE, ...place })
    const found = page.filter((wait) => wait.wait === 'approval')
    yield* found
    before = found.at(-1) ?? null
    if (before === null || page.length < PAGE) return
  }
}
