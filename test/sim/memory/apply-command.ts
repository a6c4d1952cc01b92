import { ServerError } from '../../../src/domain/errors.ts'
import { unreachable } from '../../../src/domain/unreachable.ts'
import type { Command, Result } from '../../../src/store/ports/command.ts'
import { addFile } from './apply-file.ts'
import { acceptRun, appendEntries, claimRun, finishRun, releaseRun, requestCancel, startRun } from './apply-run.ts'
import {
  compactSession,
  createSession,
  deleteSession,
  importSession,
  purgeSessions,
  updateSession,
} from './apply-session.ts'
import { addAudit, askAgain, revokeGrant, settleWaits } from './apply-wait.ts'
import type { Done, MemoryState } from './memory-state.ts'

/**
 * Depends on nothing but its arguments: the same commands give the same state, whenever they are applied. The state keeps
 * parts of the command, so the caller must not change it afterwards; the result is a copy.
 */
export function applyCommand(state: MemoryState, command: Command): Result {
  try {
    return structuredClone(apply(state, command))
  } catch (error) {
    if (error instanceof ServerError) return { ok: false, error }
    throw error
  }
}

function apply(state: MemoryState, command: Command): Done {
  switch (command.type) {
    case 'accept_run':
      return acceptRun(state, command)
    case 'start_run':
      return startRun(state, command)
    case 'append':
      return appendEntries(state, command)
    case 'finish_run':
      return finishRun(state, command)
    case 'claim_run':
      return claimRun(state, command)
    case 'release_run':
      return releaseRun(state, command)
    case 'request_cancel':
      return requestCancel(state, command)
    case 'settle_waits':
      return settleWaits(state, command)
    case 'ask_again':
      return askAgain(state, command)
    case 'revoke_grant':
      return revokeGrant(state, command)
    case 'add_audit':
      addAudit(state, command.audit)
      return { ok: true, firstSeq: 0 }
    case 'add_file':
      return addFile(state, command)
    case 'create_session':
      return createSession(state, command)
    case 'update_session':
      return updateSession(state, command)
    case 'delete_session':
      return deleteSession(state, command)
    case 'purge_sessions':
      return purgeSessions(state, command)
    case 'compact_session':
      return compactSession(state, command)
    case 'import_session':
      return importSession(state, command)
    case 'renew_lease':
      state.leases.set(command.leaseOwner, command.until)
      return { ok: true, firstSeq: 0 }
    default:
      return unreachable(command)
  }
}
