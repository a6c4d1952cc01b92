// What a command is about, as far as it says so itself. The transaction locks this before the rules are asked.

import { openStatuses } from '../../../domain/supervision/supervision.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import type { Command } from '../../ports/command.ts'
import type { Supervise } from '../../ports/supervised.ts'
import { isOutboxCommand } from '../../rules/outbox-rules.ts'
import { aliasId } from '../rows/route.ts'

export interface Named {
  /** Sessions that the command changes, by their ids, or by ids in `routes`. Those that do not exist are left out. */
  sessions: string[]
  runs: string[]
  waits: string[]
  aliases: string[]
  /**
   * Things outside of sessions that two commands must not decide about at the same time. A new session, run, key, alias or file
   * needs no name: if two transactions write the same one, the second fails and is decided again. A file is locked when it is read.
   */
  names: string[]
}

export function createNamed(): Named {
  return { sessions: [], runs: [], waits: [], aliases: [], names: [] }
}

export function addNamed(named: Named, command: Command): void {
  if (isOutboxCommand(command)) {
    named.names.push(`channel ${command.channel}`)
    return
  }
  switch (command.type) {
    case 'accept_run':
    case 'create_session':
    case 'import_session': {
      const { id, owner, alias } = command.session
      named.sessions.push(id)
      if (alias !== null) named.aliases.push(aliasId(owner, alias))
      return
    }
    case 'append':
    case 'update_session':
    case 'delete_session':
    case 'compact_session':
      named.sessions.push(command.sessionId)
      return
    case 'supervise':
      named.sessions.push(command.sessionId)
      if (command.maxOpen !== undefined && mayOpen(command)) named.names.push('open supervised sessions')
      for (const id of command.deliver ?? []) named.names.push(`instruction ${id}`)
      for (const { kind, workspaceRoot } of command.instructions ?? []) {
        if (kind === 'task') named.names.push(`tasks of ${workspaceRoot}`)
      }
      return
    case 'start_run':
    case 'finish_run':
    case 'claim_run':
    case 'release_run':
    case 'request_cancel':
      named.runs.push(command.runId)
      return
    case 'settle_waits':
      for (const { waitId } of command.answers) named.waits.push(waitId)
      return
    case 'ask_again':
      named.waits.push(command.waitId)
      return
    case 'revoke_grant':
      named.names.push(`grant ${command.grantId}`)
      return
    case 'add_file':
      if (command.file.sessionId !== null) named.sessions.push(command.file.sessionId)
      return
    case 'import_audit':
      for (const { chain } of command.entries.slice(0, 1)) named.names.push(`audit ${chain}`)
      return
    case 'import_records':
      // Usage is added up, so the same rows must not come in twice.
      named.names.push('records of another store')
      return
    case 'add_audit':
    case 'add_usage':
    case 'renew_lease':
    case 'purge_sessions':
      return
    default:
      unreachable(command)
  }
}

/** Most steps of an agent open no session. They must not wait for those of all other agents. */
const mayOpen = ({ create, owner, supervision }: Supervise): boolean =>
  create !== undefined ||
  owner !== undefined ||
  (supervision?.status !== undefined && openStatuses.includes(supervision.status))
