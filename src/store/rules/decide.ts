// The state machine of sessions, runs, waits and files, for every store: what a command does, or why it is refused.

import { unreachable } from '../../domain/unreachable.ts'
import type { Command } from '../ports/command.ts'
import type { RenewLease } from '../ports/runs.ts'
import { acceptRun } from './accept-run.ts'
import { feedItems } from './feed-items.ts'
import type { Change, Decision, Rule } from './rows.ts'
import { appendEntries, claimRun, finishRun, releaseRun, requestCancel, startRun } from './run-rules.ts'
import {
  addFile,
  compactSession,
  createSession,
  deleteSession,
  importSession,
  purgeSessions,
  updateSession,
} from './session-rules.ts'
import { askAgain, revokeGrant, settleWaits } from './wait-rules.ts'

export function* decide(command: Command): Rule<Decision> {
  const { result, changes } = yield* ruleOf(command)
  const items = feedItems(command, changes)
  return { result, changes: items.length === 0 ? changes : [...changes, { write: 'add_to_feed', items }] }
}

function* ruleOf(command: Command): Rule<Decision> {
  switch (command.type) {
    case 'accept_run':
      return yield* acceptRun(command)
    case 'start_run':
      return yield* startRun(command)
    case 'append':
      return yield* appendEntries(command)
    case 'finish_run':
      return yield* finishRun(command)
    case 'claim_run':
      return yield* claimRun(command)
    case 'release_run':
      return yield* releaseRun(command)
    case 'request_cancel':
      return yield* requestCancel(command)
    case 'settle_waits':
      return yield* settleWaits(command)
    case 'ask_again':
      return yield* askAgain(command)
    case 'revoke_grant':
      return yield* revokeGrant(command)
    case 'create_session':
      return yield* createSession(command)
    case 'update_session':
      return yield* updateSession(command)
    case 'delete_session':
      return yield* deleteSession(command)
    case 'purge_sessions':
      return yield* purgeSessions(command)
    case 'compact_session':
      return yield* compactSession(command)
    case 'import_session':
      return yield* importSession(command)
    case 'add_file':
      return yield* addFile(command)
    case 'add_audit':
      return alone({ write: 'add_audit', records: command.audit })
    case 'renew_lease':
      return renewLease(command)
    default:
      return unreachable(command)
  }
}

function renewLease({ leaseOwner: owner, until, endOthers = false }: RenewLease): Decision {
  const renewal: Change = { write: 'renew_lease', owner, until }
  const changes: Change[] = endOthers ? [{ write: 'end_other_leases', owner }, renewal] : [renewal]
  return { result: { ok: true, firstSeq: 0 }, changes }
}

const alone = (change: Change): Decision => ({ result: { ok: true, firstSeq: 0 }, changes: [change] })
