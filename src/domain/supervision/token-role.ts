// What a token may be for, and what it may be limited to.
import { ServerError } from '../errors.ts'

/** The roles of people. Settings and a first start make tokens only for these. */
export const personRoles = ['user', 'operator'] as const
export type PersonRole = (typeof personRoles)[number]
export const tokenRoles = [...personRoles, 'agent'] as const
export type TokenRole = (typeof tokenRoles)[number]

/**
 * `read`: look at what the role may see. `talk`: start and stop runs, send files, delete own sessions. `decide`: answer what agents ask,
 * and command sessions of agents elsewhere. `manage`: everything else that changes something, but no credentials.
 */
export const scopes = ['read', 'talk', 'decide', 'manage'] as const
export type Scope = (typeof scopes)[number]

/** A token may be for one agent only. */
export function refuseOtherAgent(onlyAgent: string | undefined, agent: string): void {
  if (onlyAgent === undefined || onlyAgent === agent) return
  throw new ServerError('forbidden', `The token you sent may only talk to the agent ${onlyAgent}.`)
}
