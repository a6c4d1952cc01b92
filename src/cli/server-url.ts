// The address of a running server, and what can go wrong on the way to it.

import { type Environment, variable } from '../config/source/env-file.ts'
import { isLoopback } from '../domain/is-loopback.ts'
import { type CliError, unavailable, usageError } from './cli-error.ts'

/** Throws `CliError` for text that is not an http or https address. */
export function readServerUrl(text: string): URL {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol)) return url
  throw usageError(`${text} is not the address of a server.`, ['Write it like http://127.0.0.1:8000'])
}

/** The part that the paths of routes are added to. */
export const baseOf = ({ origin, pathname }: URL): string => `${origin}${pathname.replace(/\/+$/, '')}`

/** Others on the network can read what is sent to this address. */
export const isReadableByOthers = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && !isLoopback(hostname)

/** Why `fetch` got no answer, in a word: its own message only says that it failed. */
export function fetchProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message
  return error.message
}

/** A server answers, but nobody says that it is the right one. */
export const isNotTrusted = (problem: string): boolean =>
  /^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_|ERR_TLS_CERT)/.test(problem)

export function noServerAt(base: string, error: unknown, advice = ['Start one: quarterdeck serve']): CliError {
  const problem = fetchProblem(error)
  if (!isNotTrusted(problem)) return unavailable(`No server answers at ${base} (${problem}).`, advice)
  return unavailable(`The certificate of ${base} is not trusted (${problem}), so nothing was sent.`, [
    'If it is your own, name the file of its issuer: NODE_EXTRA_CA_CERTS=ca.pem',
  ])
}

/**
 * The token that a command of an operator sends, if the environment has it. A token of an identity provider says itself what its holder may
 * do, so it counts under either name.
 */
export function operatorTokenIn(env: Environment): string | undefined {
  const token = variable(env, 'QUARTERDECK_OPERATOR_TOKEN')
  if (token !== undefined) return token
  const users = variable(env, 'QUARTERDECK_TOKEN')
  return users !== undefined && /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(users) ? users : undefined
}
