/** created → active → paused | terminated | interrupted; paused → active | …; interrupted → active. */
export type SessionStatus = 'created' | 'active' | 'paused' | 'terminated' | 'interrupted'

export interface SessionRecord {
  /** Canonical UUIDv7; prints as a ULID too. */
  id: string
  /** The user whose token began it, or `local_user`. Never changes. */
  owner: string
  /** The agent that answers by default. */
  agent: string
  /** The agent that was handed the conversation; null: `agent` answers. */
  activeAgent: string | null
  status: SessionStatus
  createdAt: number
  lastActivity: number
  terminatedAt: number | null
  lastTool: string | null
  metadata: Record<string, unknown>
  /** What the client calls this session, where it chose a name of its own; unique per owner. */
  alias: string | null
  /** The user a client without a token says it speaks for; absent, the owner itself. A filter, not an identity. Never changes. */
  label?: string
  /** user + assistant + tool messages stored. */
  messageCount: number
  /** AG-UI shared state, or undefined when the session has none. */
  state: unknown
  /** Left out of lists; purged a day after its last activity. */
  unlisted: boolean
}

/** Who owns what is asked without a token. */
export const LOCAL_USER = 'local_user'
