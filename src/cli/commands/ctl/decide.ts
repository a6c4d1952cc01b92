import { isRecord } from '../../../domain/is-record.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { confirm, hasTerminal } from '../../terminal/confirm.ts'
import { styleFor } from '../../terminal/style.ts'
import { findRecord } from './find-by-prefix.ts'
import { readRecord, type ShownApproval } from './records.ts'
import type { CtlContext } from './run-ctl.ts'
import { mustBeSeen, recordLines, titleOf, yesesOf } from './show-record.ts'

export interface ApproveOptions {
  /** The digest of what was shown, by a program that showed it. */
  digest?: string
  force?: boolean
  reason?: string
}

export async function approve(
  id: string,
  { digest, force, reason }: ApproveOptions,
  context: CtlContext,
): Promise<void> {
  const approval = await findApproval(id, context)
  if (approval.question) {
    throw new CliError(exitCodes.usage.code, 'This is a question. The verb for it: answer, or reject to refuse it.')
  }
  if (digest !== undefined) checkDigest(digest, approval)
  else if (showBefore(approval, context)) await confirm('Approve this?', context.io)
  const answer = await context.server.post(`/approvals/${approval.approval_id}`, {
    decision: 'approve',
    digest: approval.digest,
    ...(force ? { force } : {}),
    ...(reason === undefined ? {} : { reason }),
  })
  const done = `Approved: ${titleOf({ kind: 'approval', id: approval.approval_id, record: approval })}`
  context.say(answer, stillNeeds(answer) ?? done)
}

/** What to say after a yes that is not enough. Null: it was. */
export function stillNeeds(answer: unknown): string | null {
  if (!isRecord(answer) || answer.status !== 'pending') return null
  const { record } = readRecord.approval(answer)
  return `Your yes counts: ${yesesOf(record) ?? 'it is not enough'}. It waits for somebody else.`
}

export function checkDigest(digest: string, approval: ShownApproval): void {
  if (digest === approval.digest) return
  throw new CliError(exitCodes.failed.code, 'It has changed: its digest is another one. Look at it again, then decide.')
}

/**
 * Nobody decides about something risky that was not on their screen. Returns whether it is there now: a person can be asked. Throws
 * `CliError`.
 */
export function showBefore(approval: ShownApproval, { io, json }: Pick<CtlContext, 'io' | 'json'>): boolean {
  const isSeen = hasTerminal(io) && !json
  if (!isSeen && mustBeSeen(approval)) {
    throw new CliError(
      exitCodes.failed.code,
      `Its risk is ${approval.risk}, so it has to be looked at first: quarterdeck ctl show ${approval.approval_id}`,
      ['A program that has shown it to a person says so with --digest <digest>.'],
    )
  }
  if (!isSeen) return false
  io.stdout.write(
    `${recordLines({ kind: 'approval', id: approval.approval_id, record: approval }, styleFor(io.stdout, io.env)).join('\n')}\n\n`,
  )
  return true
}

export async function reject(id: string, { reason }: { reason?: string }, context: CtlContext): Promise<void> {
  const approval = await findApproval(id, context)
  const answer = await context.server.post(`/approvals/${approval.approval_id}`, {
    decision: 'reject',
    digest: approval.digest,
    ...(reason === undefined ? {} : { reason }),
  })
  context.say(answer, `Rejected: ${titleOf({ kind: 'approval', id: approval.approval_id, record: approval })}`)
}

/** Throws `CliError` if the id is not an approval that waits. */
export async function findApproval(id: string, { server }: Pick<CtlContext, 'server'>): Promise<ShownApproval> {
  const found = await findRecord(server, id)
  if (found.kind === 'approval') return found.record
  const verb = { prompt: 'answer', wait: 'resume', alert: 'nudge or dismiss' }[found.kind]
  throw new CliError(exitCodes.usage.code, `This is not an approval but a ${found.kind}. The verb for it: ${verb}.`)
}
