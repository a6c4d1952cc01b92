import type { ArgumentConditions } from '../agent/approval-rule.ts'

/** A standing yes or no to one tool with matching arguments, in one session or in all of the agent's. It can be revoked. */
export interface Grant {
  id: string
  agent: string
  tool: string
  /** `refuse`: a person refused such calls in advance; absent: they run without asking. */
  effect?: 'refuse'
  where: ArgumentConditions
  /** Null: all sessions of the agent. */
  sessionId: string | null
  grantedBy: string
  /** The approval that it was granted or refused with. */
  approvalId: string
  /** Version of the rules and the tool when it was granted. If the tool changes, its calls need approval again. */
  policyVersion: string
  createdAt: number
  /** Null: valid until revoked. */
  expiresAt: number | null
  /** Of an agent elsewhere: which of its work, and where; absent: of a tool of our own agent. Its `where` is empty. */
  elsewhere?: { workspaceRoot: string; owner: string; match: WorkMatch }
}

/** Which work of an agent elsewhere a remembered yes or no is about. A person was shown exactly this. */
export type WorkMatch =
  /** This text, in this folder of the workspace. */
  | { type: 'command'; command: string; folder: string }
  /** Plain commands that begin with these words: the program, its verb, and perhaps more. */
  | { type: 'begins'; words: readonly string[] }
  | { type: 'tool'; tool: string }
  /** Writes of ordinary files. A glob, relative to the workspace. */
  | { type: 'writes'; pattern: string }
