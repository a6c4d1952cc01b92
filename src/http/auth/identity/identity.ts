import { ServerError } from '../../../domain/errors.ts'
import type { RoleRules } from '../../../domain/settings/identity-settings.ts'
import type { OperatorGroup, OperatorSettings } from '../../../domain/settings/supervision-settings.ts'

/** A person whom an identity provider or a proxy has named. */
export interface Identity {
  /** As an owner: `corp:ada@example.com`. */
  user: string
  role: 'user' | 'operator'
  groups: readonly string[]
  isAdmin: boolean
  email: string | null
  source: 'oidc' | 'proxy'
  /** A browser that the proxy has signed in sent it. */
  isBrowser: boolean
  /** Epoch ms, infinite where every request is checked anew. */
  endsAt: number
}

/** What `operators` in the settings say. */
export interface ListedOperators {
  operators: readonly Pick<OperatorSettings, 'logins'>[]
  operatorGroups: readonly Pick<OperatorGroup, 'group'>[]
}

export type RoleOf = (user: string, groups: readonly string[]) => Pick<Identity, 'role' | 'isAdmin'>

/**
 * An operator is whoever `operators` lists, by a login or a group, or whoever has a group or role that the rules name. Throws `forbidden`
 * for people who may not even talk.
 */
export function createRoleOf(rules: RoleRules, { operators, operatorGroups }: ListedOperators): RoleOf {
  const logins = new Set(operators.flatMap((one) => one.logins))
  const deciding = new Set([...rules.operator, ...rules.admin, ...operatorGroups.map(({ group }) => group)])
  return (user, groups) => {
    const isAdmin = groups.some((group) => rules.admin.includes(group))
    if (isAdmin || logins.has(user) || groups.some((group) => deciding.has(group))) return { role: 'operator', isAdmin }
    if (rules.user === null || groups.some((group) => rules.user?.includes(group))) return { role: 'user', isAdmin }
    throw new ServerError(
      'forbidden',
      `${user} has no role here. Whoever runs this server says in its settings which groups may use it.`,
    )
  }
}

/** Which check a token did not pass, for programs. */
export type TokenFault =
  | 'malformed'
  | 'encrypted'
  | 'unknown_issuer'
  | 'unknown_key'
  | 'wrong_algorithm'
  | 'wrong_signature'
  | 'wrong_type'
  | 'wrong_audience'
  | 'expired'
  | 'not_yet_valid'
  | 'missing_claim'
  | 'wrong_claim'
  | 'unverified_email'
  | 'unusable_name'
  | 'two_identities'

/** The answer names the check, and not what the server would have taken. */
export const invalidToken = (reason: TokenFault, message: string): ServerError =>
  new ServerError('unauthorized', message, { details: { reason } })
