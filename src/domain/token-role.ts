// What a token may be for, and what it may be limited to.

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
