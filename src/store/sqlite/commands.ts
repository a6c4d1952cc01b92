// Applies commands inside the transaction that `sqlite-store.ts` opened. Each handler checks its guard before it writes
// anything, so that a refused command leaves no trace and its neighbours stand.

import type { DatabaseSync } from 'node:sqlite'
import { unreachable } from '../../domain/unreachable.ts'
import type { Command } from '../ports/command.ts'
import { createAcceptCommand } from './accept-command.ts'
import type { EntryWriter } from './entry-writer.ts'
import { createFileCommand } from './file-command.ts'
import type { LiveState } from './live-sessions.ts'
import { type Done, nothing } from './records.ts'
import { createRunCommands } from './run-commands.ts'
import { createSessionCommands } from './session-commands.ts'
import { createTables } from './tables.ts'
import { createWaitCommands } from './wait-commands.ts'

export function createCommands(db: DatabaseSync, state: LiveState, writer: EntryWriter): (command: Command) => Done {
  const tables = createTables(db, state, writer)
  const runs = createRunCommands(tables)
  const waiting = createWaitCommands(tables)
  const acceptRun = createAcceptCommand(tables, waiting)
  const sessions = createSessionCommands(tables)
  const addFile = createFileCommand(tables)
  const renewLease = db.prepare(
    'INSERT INTO leases (owner, until) VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until',
  )

  return (command) => {
    switch (command.type) {
      case 'append':
        return runs.append(command)
      case 'accept_run':
        return acceptRun(command)
      case 'finish_run':
        return runs.finishRun(command)
      case 'start_run':
        return runs.startRun(command)
      case 'claim_run':
        return runs.claimRun(command)
      case 'release_run':
        return runs.releaseRun(command)
      case 'request_cancel':
        return runs.requestCancel(command)
      case 'settle_waits':
        return waiting.settleWaits(command)
      case 'ask_again':
        return waiting.askAgain(command)
      case 'revoke_grant':
        return waiting.revokeGrant(command)
      case 'add_audit':
        tables.audit(command.audit)
        return nothing
      case 'add_file':
        return addFile(command)
      case 'create_session':
        return sessions.createSession(command)
      case 'update_session':
        return sessions.updateSession(command)
      case 'delete_session':
        return sessions.deleteSession(command)
      case 'purge_sessions':
        return sessions.purgeSessions(command)
      case 'compact_session':
        return sessions.compactSession(command)
      case 'import_session':
        return sessions.importSession(command)
      case 'renew_lease':
        renewLease.run(command.leaseOwner, command.until)
        return nothing
      default:
        return unreachable(command)
    }
  }
}
