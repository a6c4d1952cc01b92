import type { Quorum } from '../supervision/quorum.ts'
import type { NotifySettings } from './channel-settings.ts'

/** What the server's settings say about agents that work elsewhere, and about the people who command them. Complete and checked. */
export interface SupervisionSettings {
  /** Agents may work in every folder below this one. Null: only in `workspaces`. */
  defaultWorkspaceRoot: string | null
  workspaces: readonly WorkspaceSettings[]
  /** At least one. The names are unique, and at most one is `local`. */
  operators: readonly OperatorSettings[]
  /** Groups of identity providers whose members are operators too. */
  operatorGroups: readonly OperatorGroup[]
  /** Who else may decide when nobody has answered for a while, earliest first. */
  escalation: readonly EscalationSettings[]
  /** How many operators have to say yes to what an agent elsewhere asks. */
  quorum: Quorum
  /** For each owner. */
  maxConcurrentSessions: number
  /** Of all owners together. Null: no limit. */
  maxConcurrentSessionsTotal: number | null
  /** The program that starts an agent, by name or path. Null: agents cannot be started from here. */
  hostCli: string | null
  hostCliArgs: readonly string[]
  timeouts: {
    approvalMs: number
    promptMs: number
    /** Null: an agent that waits for an instruction waits for ever. */
    waitMs: number | null
  }
  stall: {
    enabled: boolean
    /** Silence after which an alert is made. */
    inactivityMs: number
    /** Time from the alert to the first nudge, and from each nudge to the next. */
    escalationMs: number
    /** Nudges before the alert is escalated. */
    maxRetries: number
    nudgeMessage: string
  }
  /** A command line is text, to be split without a shell, or a list of arguments. */
  commands: Readonly<Record<string, string | readonly string[]>>
  slack: {
    /** The channel of sessions that name none. */
    channelId: string | null
    /** All channels that may be used, `channelId` included. */
    channels: readonly string[]
  }
  modes: { agentMaySet: boolean }
  /** The name of the local socket. Null: made from the data directory. */
  ipcName: string | null
}

export interface WorkspaceSettings {
  /** Absolute in quarterdeck.yaml's terms: relative paths start at that file. Links are not followed yet. */
  path: string
  id: string | null
  channelId: string | null
  label: string | null
}

export interface OperatorSettings {
  /** Owns sessions under this name. */
  name: string
  /** Addresses of this person, by the name of the kind of channel. */
  contacts: Readonly<Record<string, string>>
  /** The user of the tokens with which this person signs in to the console. */
  console: string | null
  /** Names of this person at identity providers. */
  logins: readonly string[]
  /** Decides at a terminal of this machine. */
  local: boolean
  /** May decide for every owner and hand sessions over. */
  admin: boolean
  group: string | null
  notify: NotifySettings
}

export interface OperatorGroup {
  group: string
  /** Its members may decide for every owner and hand sessions over. */
  admin: boolean
}

export interface EscalationSettings {
  afterMs: number
  /** Names or groups of operators. */
  to: readonly string[]
}
