// The state machine of sessions, runs, waits and files. It is the same for every store: what a command changes, or why it is refused.

import { unreachable } from '../../domain/unreachable.ts'
import type { Command } from '../ports/command.ts'
import type { RenewLease } from '../ports/runs.ts'
import { acceptRun } from './accept-run.ts'
import { feedItems } from './feed-items.ts'
import { importAudit, importRecords, importSession } from './import-rules.ts'
import { noteForChannel, queueLine, replayDeliveries, settleDelivery, takeDeliveries } from './outbox-rules.ts'
import type { Change, Decision, Rule } from './rows.ts'
import { appendEntries, claimRun, finishRun, releaseRun, requestCancel, startRun } from './run-rules.ts'
import { addFile, compactSession, createSession, deleteSession, purgeSessions, updateSession } from './session-rules.ts'
import { supervise } from './supervise.ts'
import { askAgain, revokeGrant, settleWaits } from './wait-rules.ts'

export function* decide(command: Command): Rule<Decision> {
  const decision = yield* ruleOf(command)
  const items = feedItems(command, decision.changes)
  if (items.length > 0) decision.changes.push({ write: 'add_to_feed', items })
  return decision
}

function ruleOf(command: Command): Rule<Decision> {
  switch (command.type) {
    case 'accept_run':
      return acceptRun(command)
    case 'start_run':
      return startRun(command)
    case 'append':
      return appendEntries(command)
    case 'finish_run':
      return finishRun(command)
    case 'claim_run':
      return claimRun(command)
    case 'release_run':
      return releaseRun(command)
    case 'request_cancel':
      return requestCancel(command)
    case 'settle_waits':
      return settleWaits(command)
    case 'ask_again':
      return askAgain(command)
    case 'revoke_grant':
      return revokeGrant(command)
    case 'supervise':
      return supervise(command)
    case 'create_session':
      return createSession(command)
    case 'update_session':
      return updateSession(command)
    case 'delete_session':
      return deleteSession(command)
    case 'purge_sessions':
      return purgeSessions(command)
    case 'compact_session':
      return compactSession(command)
    case 'import_session':
      return importSession(command)
    case 'import_records':
      return importRecords(command)
    case 'import_audit':
      return importAudit(command)
    case 'add_file':
      return addFile(command)
    case 'take_deliveries':
      return takeDeliveries(command)
    case 'settle_delivery':
      return settleDelivery(command)
    case 'replay_deliveries':
      return replayDeliveries(command)
    case 'queue_line':
      return queueLine(command)
    case 'note_for_channel':
      return withoutRows([noteForChannel(command)])
    case 'add_audit':
      return withoutRows([{ write: 'add_audit', records: command.audit }])
    case 'renew_lease':
      return withoutRows(renewLease(command))
    default:
      return unreachable(command)
  }
}

function renewLease({ leaseOwner: owner, until, endOthers = false }: RenewLease): Change[] {
  const renewal: Change = { write: 'renew_lease', owner, until }
  return endOthers ? [{ write: 'end_other_leases', owner }, renewal] : [renewal]
}

// biome-ignore lint/correctness/useYield: this decision needs no rows.
function* withoutRows(changes: Change[]): Rule<Decision> {
  return { result: { ok: true, firstSeq: 0 }, changes }
}
