// A supervised session: an agent that works elsewhere (Claude Code, Codex, any MCP host), reports to us and asks us.

export const supervisedStatuses = ['created', 'active', 'paused', 'terminated', 'interrupted'] as const
export type SupervisedStatus = (typeof supervisedStatuses)[number]

const next: Readonly<Record<SupervisedStatus, readonly SupervisedStatus[]>> = {
  created: ['active', 'terminated', 'interrupted'],
  active: ['paused', 'terminated', 'interrupted'],
  paused: ['active', 'terminated', 'interrupted'],
  interrupted: ['active', 'terminated'],
  terminated: [],
}

export const mayBecome = (from: SupervisedStatus, to: SupervisedStatus): boolean => next[from].includes(to)

/** Open sessions count against the limits. An interrupted session rests: it does not count, and nobody is alarmed about it. */
export const openStatuses: readonly SupervisedStatus[] = ['created', 'active', 'paused']
export const isOpen = ({ status }: Pick<Supervision, 'status'>): boolean => openStatuses.includes(status)

export const operationalModes = ['remote', 'local', 'hybrid'] as const
/** Which channels show what the agent asks. HTTP and the console show it in every mode. */
export type OperationalMode = (typeof operationalModes)[number]

export interface ProgressItem {
  label: string
  status: 'done' | 'in_progress' | 'pending'
}

/** What a session has beyond a session of our own agents. */
export interface Supervision {
  status: SupervisedStatus
  /** Raised by every change. A change that was made from an older version is refused, so nobody overwrites what they have not seen. */
  version: number
  /** Name of the program that the agent runs in: `claude-code`, `codex`, … A hint, not an identity. */
  host: string
  /** Real path of the folder that the agent works in. Never changes. */
  workspaceRoot: string
  channelId: string | null
  mode: OperationalMode
  title: string | null
  /** What the agent was started with, if we started it. */
  prompt: string | null
  /** The beginning of what its operator last told it to do, and of what it last reported; absent: nothing. */
  told?: string
  said?: string
  /** When the agent last called, reported or was answered. */
  updatedAt: number
  /** Set when it is terminated or interrupted. */
  terminatedAt: number | null
  lastTool: string | null
  /** Nudges since the agent was last active. */
  nudgeCount: number
  /** How long the agent had been silent when somebody last looked, so that the time while the server is down does not count. */
  silence: { ms: number; seenAt: number } | null
  /** The stall timer is paused while the server works for the agent. */
  stallPaused: boolean
  /** The agent has finished its turn and waits for its user. Its silence means nothing until it is heard from again. */
  turnEnded?: boolean
  /** Its operator does not want to hear of its silence. */
  stallsOff?: boolean
  /** It was paused when it was interrupted. Its calls are refused until its operator resumes it. */
  held?: boolean
  /** Made when a new window took the session up. Ids grow with time, so what has a smaller one was there before. */
  takenUpAs?: string
  progressSnapshot: ProgressItem[] | null
  /** The agent token that opened it. */
  tokenId: string
  /** The connection that opened it, so that two windows of the same host are two sessions. */
  connectionId: string | null
  /** MCP connections whose client can go on after a restart, oldest first; absent: none. */
  mcp?: McpConnection[]
  /** The run on the wire that is open in the session's log; null: none. */
  openRun: string | null
  /** The run on the wire before it. */
  lastRun: string | null
  /** Continuation prompts that were answered in a row without a person. */
  continuesAlone: number
  /** Instructions that went out with a result. The agent's next call proves that it has them. */
  givenInstructions: string[]
  /** A nudge that goes out with the result of the agent's next or pending call. */
  openNudge: string | null
  /** The checkpoint that this session was restored from. */
  restoredFrom: string | null
  /**
   * Names the folder of the server that opened it, which has its workspace and its checkpoints; absent: one server owns the store.
   */
  place?: string
  /** The process that we started for it; null: the agent came by itself. */
  spawned: { pid: number; startedAt: number } | null
  /** Absent: the agent works elsewhere. */
  hosted?: HostedState
  /** How a process that we started for it last crashed, with what it wrote to stderr; absent: none did. */
  crash?: string
}

/** An agent of ours that works in a host's program. Its work are runs. */
export interface HostedState {
  /** The program's own name for the conversation; null: none has begun, or the program that had it knows it no more. */
  acpSession: string | null
  /** What the operator of a changed or refused request has to say. The agent hears it with its next prompt. */
  notes?: string[]
}

export const newSupervision: Supervision = {
  status: 'active',
  version: 0,
  host: '',
  workspaceRoot: '',
  channelId: null,
  mode: 'remote',
  title: null,
  prompt: null,
  updatedAt: 0,
  terminatedAt: null,
  lastTool: null,
  nudgeCount: 0,
  silence: null,
  stallPaused: false,
  progressSnapshot: null,
  tokenId: '',
  connectionId: null,
  openRun: null,
  lastRun: null,
  continuesAlone: 0,
  givenInstructions: [],
  openNudge: null,
  restoredFrom: null,
  spawned: null,
}

/** What an operator says of a session in which they start an agent. */
export type StartedSession = Pick<Supervision, 'workspaceRoot' | 'channelId' | 'title' | 'prompt'>

/** Of a new session. It rests, and counts against no limit, until its first run begins, unless that is about to begin. */
export const hostedSupervision = (
  { name: host, workspace }: { name: string; workspace: string | null },
  updatedAt: number,
  started?: StartedSession,
): Supervision => ({
  ...newSupervision,
  status: started === undefined ? 'interrupted' : 'created',
  version: 1,
  host,
  workspaceRoot: workspace ?? '',
  ...started,
  updatedAt,
  turnEnded: true,
  hosted: { acpSession: null },
})

/** An MCP connection with a handshake, as its client opened it. */
export interface McpConnection {
  /** `Mcp-Session-Id`. */
  id: string
  /** The token that opened it. No other may use it. */
  tokenId: string
  initialize: Readonly<Record<string, unknown>>
  /** Its client has opened a stream for what the server says by itself. While the client is there, so is the stream. */
  listens?: boolean
}

/** Text that the agent gets with the results of its calls. */
export interface Instruction {
  id: string
  /** A steering message is for one session. A task is for the next session of its owner in its workspace. */
  kind: 'steering' | 'task'
  /** For a task: the session that took it, null while it waits. */
  sessionId: string | null
  owner: string
  workspaceRoot: string
  text: string
  /** Who sent it, and through which channel: `ada via ctl`. */
  source: string
  createdAt: number
  /** Set when the agent's next call proves that it has it. */
  deliveredAt: number | null
}

/** A session's state and its workspace's files at one moment. The list of files lies in a manifest on disk, named by its hash. */
export interface Checkpoint {
  id: string
  sessionId: string
  owner: string
  label: string | null
  workspaceRoot: string
  manifest: string
  files: number
  bytes: number
  /** Whether the contents are kept, so that files can be brought back. */
  hasContents: boolean
  sessionState: { status: SupervisedStatus; mode: OperationalMode; title: string | null; lastTool: string | null }
  progressSnapshot: ProgressItem[] | null
  createdAt: number
}

/** A workspace policy that an operator allowed, by its exact text. */
export interface PolicyPin {
  workspaceRoot: string
  sha256: string
  text: string
  at: number
  by: string
}

/** The bytes behind the approval of a change. Kept apart from the record, because they may be large. */
export interface Proposal {
  /** Or `agentsProposalId` of it: what the agent proposed, kept when an operator edits it. */
  approvalId: string
  /** What people are shown: a unified diff that the server made. */
  diff: string
  /** The whole file after the change; null: the change deletes it. */
  after: Uint8Array | null
}

export const agentsProposalId = (approvalId: string): string => `${approvalId}/agent`

/** The most steering messages that wait for one session, and tasks for one workspace. */
export const MOST_STEERING = 50
export const MOST_TASKS = 100
/** Questions of a host's permission hook that may wait side by side in one session. */
export const MOST_PERMISSIONS = 16
/** MCP connections that are kept for one session. The oldest are forgotten. */
export const MOST_MCP_CONNECTIONS = 4
/** Prompts and waits for instructions that may be open side by side in one session. */
export const MOST_PROMPTS = 16
