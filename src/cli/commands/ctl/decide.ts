import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { mustBeSeen, recordLines } from '../../show-record.ts'
import { confirm, hasTerminal } from '../../terminal/confirm.ts'
import { styleFor } from '../../terminal/style.ts'
import { findRecord } from './find-by-prefix.ts'
import type { ShownRecord } from './records.ts'
import type { CtlContext } from './run-ctl.ts'
import { actionOf, sendAnswer } from './send-answer.ts'

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
  const found = await findRecord(context.server, id)
  const action = actionOf(found, 'approve')
  if (digest !== undefined) checkDigest(digest, found)
  else if (showBefore(found, context)) await confirm(action.confirm.title, context.io)
  const more = { ...(force ? { force } : {}), ...(reason === undefined ? {} : { reason }) }
  await sendAnswer(found, action, { more }, context)
}

export async function reject(id: string, { reason }: { reason?: string }, context: CtlContext): Promise<void> {
  const found = await findRecord(context.server, id)
  await sendAnswer(found, actionOf(found, 'reject'), { text: reason ?? '' }, context)
}

export function checkDigest(digest: string, record: ShownRecord): void {
  if (digest === record.digest) return
  throw new CliError(exitCodes.failed.code, 'It has changed: its digest is another one. Look at it again, then decide.')
}

/**
 * Nobody decides about something risky that was not on their screen. Returns whether it is there now: a person can be asked. Throws
 * `CliError`.
 */
export function showBefore({ view }: ShownRecord, { io, json }: Pick<CtlContext, 'io' | 'json'>): boolean {
  const isSeen = hasTerminal(io) && !json
  if (!isSeen && mustBeSeen(view)) {
    throw new CliError(
      exitCodes.failed.code,
      `Its risk is ${view.risk?.level}, so it has to be looked at first: quarterdeck ctl show ${view.id}`,
      ['A program that has shown it to a person says so with --digest <digest>.'],
    )
  }
  if (isSeen) io.stdout.write(`${recordLines(view, styleFor(io.stdout, io.env)).join('\n')}\n\n`)
  return isSeen
}
