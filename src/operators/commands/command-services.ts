import type { Clock } from '../../domain/clock.ts'
import type { Logger } from '../../domain/logger.ts'
import type { WorkspaceSettings } from '../../domain/settings/supervision-settings.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { Approvals } from '../../supervision/approvals/approvals.ts'
import type { SessionCheckpoints } from '../../supervision/checkpoints/session-checkpoints.ts'
import type { SessionCommands } from '../../supervision/commands/session-commands.ts'
import type { Inbox } from '../../supervision/inbox/inbox.ts'
import type { Oversight } from '../../supervision/oversight/oversight.ts'
import type { SupervisedSessions } from '../../supervision/sessions/supervised-sessions.ts'
import type { Spawner } from '../../supervision/spawn/create-spawner.ts'
import type { Stalls } from '../../supervision/stalls/stalls.ts'
import type { ParsedCommand } from './parse-command.ts'

/** What the commands of a chat work with. */
export interface CommandServices {
  sessions: Pick<
    SupervisedSessions,
    'get' | 'list' | 'pause' | 'resume' | 'terminate' | 'steer' | 'addTask' | 'ofWorkspace'
  >
  stalls: Pick<Stalls, 'setEnabled'>
  checkpoints: Pick<SessionCheckpoints, 'save' | 'list' | 'restore'>
  commands: Pick<SessionCommands, 'run'>
  spawner: Pick<Spawner, 'start'>
  inbox: Inbox
  approvals: Pick<Approvals, 'grants' | 'revokeGrant'>
  oversight: Pick<Oversight, 'foreignSession' | 'listing'>
  /** Of the settings' `commands`. */
  aliases: readonly string[]
  /** Of the settings. */
  workspaces: readonly WorkspaceSettings[]
  /** Sessions that name no channel belong to this one, and so do our own agents. Null: to none. */
  defaultChannelId: string | null
  clock: Pick<Clock, 'now' | 'mono' | 'soon'>
  logger: Logger
}

/** Where a command was typed. It sees the sessions of this channel and no others, whoever types it. */
export interface CommandContext {
  channelId: string
  /** The session whose thread it was typed in. It is meant if the command names none. */
  sessionOfThread?: string | null
}

/** One command, as it comes to its verb. */
export interface Asked {
  by: Caller
  context: CommandContext
  command: ParsedCommand
}
