// How risky a piece of an agent's work is, earned by what it does. Everybody who asks a person about work goes by this: hooks,
// `approve_tool`, `ask_approval`, and the shell-like tools of our own agents.

import { risks } from '../../domain/agent/tool-settings.ts'
import type { WorkMatch } from '../../domain/supervision/grant.ts'
import type { ToolEffect } from '../../hosts/host.ts'

/** In a remembered beginning: between the programs of one line. */
export const AND = '&&'

/** From harmless to dangerous. `none`: nobody is asked. */
export const RISKS = ['none', ...risks] as const
export type WorkRisk = (typeof RISKS)[number]
export const isRiskier = (a: WorkRisk, b: WorkRisk): boolean => RISKS.indexOf(a) > RISKS.indexOf(b)

export interface Work {
  toolName: string
  effect: ToolEffect
  /** The arguments: any JSON. */
  input: unknown
  /** The command line that would run; null: it runs none. */
  command: string | null
  /** A real path. */
  workspaceRoot: string
  /** Where the agent is now. */
  cwd: string
  /** The file of a change that was looked at, in the workspace, where the change is of nothing protected. */
  seen?: string | undefined
}

export interface Assessment {
  risk: WorkRisk
  /** After the agent's name: "pushes to a remote". */
  why: string
  /** What a yes does, for the button: "Push to origin/main". Null: nothing says it better than the call itself. */
  action: string | null
  /** What a yes may cover besides this one call, the narrowest first. Empty: nothing. */
  matches: readonly WorkMatch[]
  /** How each program of a line begins that does more than read. Absent or empty: one of them cannot be known by its beginning. */
  beginnings?: readonly Beginning[]
}

export interface Beginning {
  words: readonly string[]
  risk: WorkRisk
}

/** Never throws: what it cannot understand is high. Never calls a command less risky than any of its parts. */
export type AssessWork = (work: Work) => Assessment

/** For those who can wait until it is loaded. */
export type AssessWorkLater = (work: Work) => Assessment | Promise<Assessment>
