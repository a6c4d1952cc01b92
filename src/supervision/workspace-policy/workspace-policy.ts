// What a workspace's own file says about work that needs no asking. The file lies where the agent can write, so it counts only as far
// as an operator has pinned it (`effective-policy.ts`).

import type { Risk } from '../../domain/agent/tool-settings.ts'

export interface WorkspacePolicy {
  enabled: boolean
  /** Command lines. Each argument is a glob. */
  commands: readonly string[]
  /** Names of tools, compared exactly. */
  tools: readonly string[]
  /** Globs for paths relative to the workspace. */
  filePatterns: { write: readonly string[]; read: readonly string[] }
  /** The highest risk that needs no asking. `critical` means the same as `high`: a person always decides about critical work. */
  riskLevelThreshold: Risk
  /** The summary names each piece of work, not only how many there were. */
  logAutoApproved: boolean
  /** 0: no summary. */
  summaryIntervalSeconds: number
}

/** What counts where a file says nothing. */
export const defaultPolicy: WorkspacePolicy = {
  enabled: false,
  commands: [],
  tools: [],
  filePatterns: { write: [], read: [] },
  riskLevelThreshold: 'low',
  logAutoApproved: false,
  summaryIntervalSeconds: 300,
}

/** What an agent wants to do, as far as a policy looks at it. */
export interface NamedRequest {
  toolName: string
  /** Relative to the workspace, with `/`, and with all links followed. Null if the tool works on no file. */
  filePath: string | null
  /** The command line, if the tool runs one. */
  command: string | null
  riskLevel: Risk
}

export interface PolicyRequest extends NamedRequest {
  /** Why only a person may decide, from where its arguments lead on this disk (`guard-arguments.ts`). Null: a policy may. */
  guarded: string | null
}
