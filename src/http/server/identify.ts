// Who is asking: somebody with a signed address, with a token, behind a proxy that has signed them in, or a stranger.

import type { IncomingMessage } from 'node:http'
import { ServerError } from '../../domain/errors.ts'
import { isLoopback } from '../../domain/is-loopback.ts'
import type { Access, Auth } from '../auth/auth.ts'
import { PROOF_HEADER } from '../auth/console/proofs.ts'
import type { Identity } from '../auth/identity/identity.ts'
import type { ProxyAuth } from '../auth/identity/proxy-auth.ts'
import type { Principal, Route } from '../route.ts'
import type { Match } from './router.ts'
import type { Target } from './target.ts'

/** Where a request was received: on our port, by another program's server that handed it over, or on the local socket. */
export type Entrance = 'port' | 'mounted' | 'ctl'

interface Judges {
  auth: Auth
  /** Null: no proxy says who people are. */
  proxyAuth: ProxyAuth | null
}

/** Throws what `Auth` throws. A promise only where something has to be looked up. */
export function identify(
  match: Match,
  target: Target,
  raw: IncomingMessage,
  via: Entrance,
  judges: Judges,
): Access | Promise<Access> {
  const signed = signedAccess(match, raw, target)
  if (signed === null) return byCredential(match.route, target, raw, via, judges)
  return signed.then((access) => access ?? byCredential(match.route, target, raw, via, judges))
}

/** Null, also later: the address has no signature. */
function signedAccess(
  { route, params }: Match,
  raw: IncomingMessage,
  { query }: Target,
): Promise<Access | null> | null {
  if (route.signedOwner === undefined || raw.headers.authorization !== undefined) return null
  return route
    .signedOwner({ params, query: new URLSearchParams(query) })
    .then((owner) =>
      owner === null ? null : { principal: { owner, role: 'user', hasToken: false }, isValid: () => true },
    )
}

function byCredential(
  route: Route,
  target: Target,
  raw: IncomingMessage,
  via: Entrance,
  { auth, proxyAuth }: Judges,
): Access | Promise<Access> {
  const authorization = credentialOf(route, raw, target)
  return auth.authenticate(authorization, raw.socket.remoteAddress ?? via, route.role, {
    isLocal: via !== 'mounted' || isFromThisMachine(raw),
    needsToken: via === 'ctl',
    takesAnyKey: route.takesAnyKey === true,
    proxied: proxyAuth === null || via === 'ctl' ? null : proxiedBy(proxyAuth, route, raw),
  })
}

/** Some hosts of agents can only be given a URL. So an agent on this machine may have its token there; elsewhere proxies would log it. */
function credentialOf({ role }: Route, raw: IncomingMessage, { query }: Target): string | undefined {
  const { authorization } = raw.headers
  if (role !== 'agent' || authorization !== undefined) return authorization
  const token = new URLSearchParams(query).get('token')
  if (token === null) return undefined
  if (isFromThisMachine(raw)) return `Bearer ${token}`
  throw new ServerError(
    'unauthorized',
    'A token in the URL is accepted only from this machine: send "Authorization: Bearer <token>".',
  )
}

/** Another program that mounts us may listen on any address, and a proxy on this machine may forward requests of others. */
function isFromThisMachine({ socket, headers }: IncomingMessage): boolean {
  if (headers.forwarded !== undefined || headers.via !== undefined) return false
  // Next itself sets X-Forwarded-For, to the address of its caller.
  const forwarded = [headers['x-forwarded-for'] ?? [], headers['x-real-ip'] ?? []]
    .flat()
    .flatMap((list) => list.split(','))
  return [socket.remoteAddress ?? '', ...forwarded].every((address) => isLoopback(address.trim()))
}

function proxiedBy(proxyAuth: ProxyAuth, { role }: Route, raw: IncomingMessage): Identity | null {
  try {
    return proxyAuth(raw)
  } catch (error) {
    // On a public route, somebody who has no role here is a stranger like others.
    if (role === 'public' && error instanceof ServerError && error.code !== 'invalid_request') return null
    throw error
  }
}

/** The proof is for whoever decides. It counts only for the person who sent it. */
export function withProof(principal: Principal, { headers }: IncomingMessage): Principal {
  const proof = headers[PROOF_HEADER]
  return typeof proof === 'string' && principal.hasToken ? { ...principal, proof } : principal
}
