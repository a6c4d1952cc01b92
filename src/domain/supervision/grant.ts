import type { ArgumentConditions } from '../agent/approval-rule.ts'
import type { Risk } from '../agent/tool-settings.ts'
import type { RememberScope } from './decision.ts'

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
  /** Of an agent elsewhere; absent: of a tool of our own agent. `agent` is its host then, and `where` is empty. */
  elsewhere?: {
    workspaceRoot: string
    /** Whose sessions it is for. It counts for nobody else's, also after a session was handed over. */
    owner: string
    match: WorkMatch
    /** What the person was shown. A yes never covers work of a higher risk. */
    risk: Risk
  }
}

/** How long it lasts, and where. A grant of our own agents with a time of its own is one for `always`. */
export function grantScope({ sessionId, expiresAt, createdAt, elsewhere }: Grant): RememberScope {
  if (sessionId !== null) return 'session'
  if (expiresAt !== null && expiresAt - createdAt === QUARTER_HOUR_SECONDS * 1_000) return '15m'
  return elsewhere === undefined ? 'always' : 'workspace'
}

export const QUARTER_HOUR_SECONDS = 900

/** Which work of an agent elsewhere a remembered yes or no is about. A person was shown exactly this. */
export type WorkMatch =
  /** This text, in this folder of the workspace. */
  | { type: 'command'; command: string; folder: string }
  /** Plain commands that begin with these words: the program, its verb, and perhaps more. */
  | { type: 'begins'; words: string[] }
  | { type: 'tool'; tool: string }
  /** Writes of ordinary files. A glob, relative to the workspace. */
  | { type: 'writes'; pattern: string }
