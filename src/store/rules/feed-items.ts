// The feed items of a command's changes: one for every session, run and wait that is new or looks different to people.

import { type AnyRecord, nobodyWaitsSince } from '../../domain/records/record.ts'
import type { NewFeedItem } from '../../domain/session/feed.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord, SessionStatus } from '../../domain/session/session.ts'
import type { Command } from '../ports/command.ts'
import type { Change, PurgedSession } from './rows.ts'

/** In the order of the changes. A command with feed items must belong to the synced class (`needsSync`). */
export const feedItems = (command: Command, changes: readonly Change[]): NewFeedItem[] =>
  changes.flatMap((change) => itemOf(change, command) ?? [])

function itemOf(change: Change, command: Command): NewFeedItem | null {
  switch (change.write) {
    case 'insert_session':
      // What stands for a workspace is not a session that anybody follows.
      return change.session.unlisted && change.session.supervision !== undefined
        ? null
        : sessionItem(change.session, statusOf(change.session), timeOf(command))
    case 'update_supervision':
      return statusOf(change.before) === statusOf(change.session)
        ? null
        : sessionItem(change.session, statusOf(change.session), timeOf(command))
    case 'bury_session':
    case 'remove_session':
      // A session that was deleted before the purge already has its item.
      return change.session.status === 'terminated' ? null : sessionItem(change.session, 'terminated', timeOf(command))
    case 'insert_run':
      return runItem(change.run, timeOf(command))
    case 'update_run':
      return change.before.status === change.run.status ? null : runItem(change.run, timeOf(command))
    case 'insert_wait':
      return waitItem(change.wait, timeOf(command))
    case 'update_wait':
      return looksTheSame(change.before, change.wait) ? null : waitItem(change.wait, timeOf(command))
    default:
      return null
  }
}

const statusOf = ({ status, supervision }: SessionRecord): SessionStatus => supervision?.status ?? status

const sessionItem = ({ id, owner, agent }: PurgedSession, status: SessionStatus, at: number): NewFeedItem => ({
  kind: 'session',
  at,
  id,
  sessionId: id,
  owner,
  agent,
  status,
})

const runItem = ({ id, sessionId, owner, agent, status, parentRunId }: RunRecord, at: number): NewFeedItem => ({
  kind: 'run',
  at,
  id,
  sessionId,
  owner,
  agent,
  status,
  parentRunId,
})

/**
 * Whether people who were shown the wait need not be shown it again. Another text of a change, one more yes, what became of the file, one
 * more nudge, and that nobody waits for the answer any more are news to them.
 */
function looksTheSame(before: AnyRecord, now: AnyRecord): boolean {
  if (before.status !== now.status || nobodyWaitsSince(before) !== nobodyWaitsSince(now)) return false
  if (nudgesOf(before) !== nudgesOf(now)) return false
  if (before.wait !== 'approval' || now.wait !== 'approval') return true
  return (
    before.digest === now.digest &&
    before.decisions?.length === now.decisions?.length &&
    before.supervised?.appliedAt === now.supervised?.appliedAt &&
    before.supervised?.notApplied === now.supervised?.notApplied &&
    before.supervised?.refused === now.supervised?.refused
  )
}

/** Null: nobody has to hear of nudges. Of a silence that is escalated already, the whole room knows. */
const nudgesOf = (wait: AnyRecord): number | null => (wait.status === 'nudged' ? wait.nudgeCount : null)

function waitItem(wait: AnyRecord, at: number): NewFeedItem | null {
  if (wait.wait === 'client_call') return null
  const { id, sessionId, owner, agent, status } = wait
  const risk = wait.wait === 'approval' ? wait.risk : null
  return { kind: 'wait', at, id, sessionId, owner, agent, type: wait.wait, status, risk }
}

/** When the command's changes happened. */
function timeOf(command: Command): number {
  switch (command.type) {
    case 'accept_run':
      return command.run.createdAt
    case 'ask_again':
      return command.at
    case 'append':
      return command.consume?.[0]?.at ?? command.waits?.[0]?.createdAt ?? 0
    case 'create_session':
      return command.session.createdAt
    case 'import_session':
      return command.session.lastActivity
    case 'start_run':
    case 'finish_run':
    case 'settle_waits':
    case 'supervise':
    case 'delete_session':
    case 'purge_sessions':
      return command.now
    default:
      throw new Error(`A command of type ${command.type} must not change a status.`)
  }
}
