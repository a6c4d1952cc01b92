// What a token may be limited to. A token without scopes may do everything that its role may.

import { ServerError } from '../../../domain/errors.ts'
import { personKinds, recordKinds } from '../../../domain/records/record-kinds.ts'
import type { Scope } from '../../../domain/supervision/token-role.ts'
import type { Principal, Route } from '../../route.ts'
import type { Token } from './token.ts'

const decidedUnder = [...personKinds.map((kind) => recordKinds[kind].wire.path), 'checkpoints', 'workspaces'].join('|')
const decisions = new RegExp(
  `^(?:POST /(?:${decidedUnder})/:id(?:/\\w+)?|POST /approvals|POST /sessions(?:/:id/(?!handover)\\w+)?|POST /policy/accept|DELETE /grants/:id)$`,
)

/** They change nothing, or no more than a message does. */
const others: Readonly<Record<string, Scope>> = {
  'POST /policy/try': 'read',
  'POST /policy/draft': 'read',
  'POST /validate/agent': 'read',
  'POST /knowledge/search': 'read',
  'POST /agents/:name/tests/run': 'talk',
  'POST /sessions/:id/messages': 'talk',
  'POST /sessions/:id/apps': 'talk',
  'POST /sign-ins/:id': 'manage',
  'DELETE /sign-ins/:id': 'manage',
  'POST /inbox/:id/take': 'decide',
  'DELETE /inbox/:id/take': 'decide',
}

/** They make and take away credentials, so a limit would mean nothing here: only a token without one will do. */
const wholeTokenOnly = /^(?:POST|DELETE) \/(?:sign-in|(?:tokens|devices|passkeys|users)(?:\/[\w:]+)?)$/
/** A proof counts for one decision, which a token that is limited to an agent may make too. */
const forOneDecision = 'POST /passkeys/challenges'
/** What comes of these has no end. */
const letsIn = /^POST \/(?:sign-in|devices\/codes|passkeys)$/

type Asked = Pick<Route, 'method' | 'path' | 'role'>

/** The scope that a route needs. Null: a token with scopes cannot use it. A new route that changes something needs `manage`. */
export function scopeOf({ method, path, role }: Asked): Scope | null {
  const line = `${method} ${path}`
  if (method === 'GET') return 'read'
  if (wholeTokenOnly.test(line)) return null
  const other = others[line]
  if (other !== undefined) return other
  if (decisions.test(line)) return 'decide'
  return role === 'operator' ? 'manage' : 'talk'
}

/** Whether its person may sign in to the console with it. A limit would be lost there. */
export const maySignIn = ({ role, scopes, agent, expires_at }: Token): boolean =>
  role === 'operator' && scopes === undefined && agent === undefined && expires_at === undefined

/** Throws `forbidden`. */
export function refuseWithoutScope(
  { scopes: own, agent, expiresAt }: Pick<Principal, 'scopes' | 'agent' | 'expiresAt'>,
  route: Asked,
): void {
  const line = `${route.method} ${route.path}`
  if (agent !== undefined && wholeTokenOnly.test(line) && line !== forOneDecision) throw wholeToken()
  if (expiresAt !== undefined && letsIn.test(line)) throw wholeToken()
  if (own === undefined || route.role === 'agent') return
  const needed = scopeOf(route)
  if (needed !== null && own.includes(needed)) return
  // Whoever shows a token on a public page is a stranger there, as without it.
  if (route.role === 'public' && needed !== null) return
  throw needed === null ? wholeToken() : scopeMissing(needed)
}

export const scopeMissing = (needed: Scope): ServerError =>
  new ServerError('forbidden', `The token you sent may not do this: it lacks the scope ${needed}.`, {
    details: { scope: needed },
  })

const wholeToken = (): ServerError =>
  new ServerError(
    'forbidden',
    'A token that is limited to scopes or to an agent makes and revokes no tokens, devices or passkeys, and erases no users. Such a token, and one that ends, cannot sign in to the console, add a passkey or let others in. Use one without limits.',
  )
