import type { Caller } from '../../domain/supervision/decision.ts'
import type { Instruction, OperationalMode, Supervision } from '../../domain/supervision/supervision.ts'
import type { SupervisedQuery } from '../../store/ports/supervised.ts'
import type { SupervisedSession } from './take-step.ts'

/** An agent elsewhere, as its door knows it. */
export interface AgentIdentity {
  /** The operator for whom its token was minted. */
  owner: string
  tokenId: string
  /** Real path of the folder that its token is bound to. */
  workspaceRoot: string
  channelId: string | null
  /** Its token is bound to the channel: an operator chose it, and not the agent. */
  isChannelOfToken?: boolean
  /** The session that the call names. */
  sessionId: string | null
  /** A connection of its own: an MCP session, or one process of the bridge. Null: the door has none. */
  connectionId: string | null
  /** Name of the host program. A hint, not an identity. */
  host: string
}

/** Sessions of agents elsewhere: how they begin, and what an operator can do with them. */
export interface SupervisedSessions {
  /**
   * The session that an agent's call belongs to. A new connection takes up the one that this agent left in this folder, or opens one. Throws `session_not_found`, `session_ended`, `limit`,
   * `forbidden` when its owner is not an operator, `forbidden` or `invalid_request` when no agent may work in the workspace or report to the channel, and `conflict` when the token has several open sessions and the call names none.
   */
  attach(agent: AgentIdentity): Promise<SupervisedSession>
  /** Says that the agent's connection is open. The returned function says that it is not any more. */
  arrive(sessionId: string): () => void
  /** Creates a session for an agent that we start. It ends by itself if the agent does not connect within 30 s. */
  create(wanted: NewSupervised): Promise<SupervisedSession>
  /** Throws `limit` if this owner can open no further session, also when the one with the id `ending` has ended. */
  checkCapacity(owner: string, ending?: string): Promise<void>
  get(sessionId: string): Promise<SupervisedSession>
  list(query: Pick<SupervisedQuery, 'owner' | 'statuses' | 'limit'>): Promise<SupervisedSession[]>
  /** Refuses the agent's calls until `resume`. Its process goes on. */
  pause(by: Caller, sessionId: string): Promise<SupervisedSession>
  resume(by: Caller, sessionId: string): Promise<SupervisedSession>
  /** Ends the session and interrupts what is pending. Terminating it twice is not an error. */
  terminate(by: Caller, sessionId: string, reason?: string): Promise<SupervisedSession>
  /** The agent's window was closed: its session rests, and what it asked is interrupted with it. */
  goodbye(connectionId: string): Promise<void>
  /** The agent's process has ended, or nobody has heard from it. It can come back. */
  interrupt(sessionId: string, reason: string): Promise<SupervisedSession>
  /** Text for the agent, with the result of its next call. */
  steer(by: Caller, sessionId: string, text: string): Promise<Instruction>
  /** Work for the next session of this owner in this workspace. */
  addTask(by: Caller, sessionId: string, text: string): Promise<Instruction>
  /**
   * What stands for a workspace where no agent works: tasks, commands and looks of this owner go there. `workspace`: path or id.
   * `reportsTo`: the channel of its agents, if the settings give it none. Throws `forbidden` and `invalid_request`.
   */
  ofWorkspace(owner: string, workspace: string, reportsTo?: string | null): Promise<SupervisedSession>
  /** `by` null: the agent itself. */
  setMode(by: Caller | null, sessionId: string, mode: OperationalMode): Promise<{ previous: OperationalMode }>
  handOver(by: Caller, sessionId: string, to: string): Promise<SupervisedSession>
  /** Ends sessions that never connected, and interrupts those that nobody has heard from. */
  sweep(): Promise<void>
}

export interface NewSupervised
  extends Pick<Supervision, 'workspaceRoot' | 'host' | 'title' | 'channelId' | 'tokenId'>,
    Partial<Pick<Supervision, 'mode' | 'restoredFrom' | 'progressSnapshot'>> {
  /** For who may have to try again and must not make two. By default a new one. */
  id?: string
  owner: string
  prompt: string
  /** Name of the agent that works in it in a program of ours. Undefined: an agent elsewhere. */
  agent?: string | undefined
}
