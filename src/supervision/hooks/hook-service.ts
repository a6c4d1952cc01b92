// What a host's hooks tell us and ask us, in one form for all hosts. `src/protocols/hooks` translates.

import type { HostName } from '../../hosts/hosts.ts'

/** The agent token that the hook was called with. */
export interface HookAgent {
  owner: string
  tokenId: string
  /** Real path of the folder that the token is bound to. */
  workspace: string
  channel?: string
}

interface HookSource {
  host: HostName
  /** The host's own name for its session. A hint, not an identity. */
  hostSessionId: string
  /** Where the agent is now, as the host says. Empty if it does not say. */
  cwd: string
}

/** The host is about to run a tool. */
export interface HookCall extends HookSource {
  event: 'permission'
  /** As the host calls it. */
  toolName: string
  input: Readonly<Record<string, unknown>>
  /** Null if the host does not send one: then session, tool and input together name the call. */
  toolUseId: string | null
  /** One of our tools, which can only ask and report. */
  isOwn: boolean
  /** The command line that would run. */
  command?: string
}

/** Something happened in the host's session. */
export interface HookEvent extends HookSource {
  event: 'session_start' | 'session_end' | 'notification'
  /** Why: `startup`, `resume`, `exit`, … For a notification its kind; `stop` if the agent has finished its turn. */
  reason: string
}

/** `pass`: we have no opinion, and the host's own rules decide. Never use it for a failure. */
export type HookVerdict =
  | { behavior: 'allow'; updatedInput?: Readonly<Record<string, unknown>> }
  | { behavior: 'deny'; message: string }
  | { behavior: 'pass' }

/** The longest text of a reply. Two of the longest instructions fit. */
export const MOST_REPLY_CHARS = 10_000

export interface HookReply {
  /** Text for the agent: nudges and steering. If it has just finished its turn, it goes on working with this text. */
  text?: string
}

/** Answers hooks. The records behind it are those of `approve_tool`. */
export interface HookService {
  /**
   * Resolves when somebody or a rule has decided, at the latest after `limitMs`. A call that is asked again gets the record that
   * exists. `signal` aborts when the host has gone, which decides nothing. What it throws denies the call; the text of a `ServerError`
   * is shown to the agent.
   */
  permission(agent: HookAgent, call: HookCall, options: { signal: AbortSignal; limitMs: number }): Promise<HookVerdict>
  /** The host does not wait long for an answer to these, so it must come within a second or two. */
  report(agent: HookAgent, event: HookEvent): Promise<HookReply>
}
