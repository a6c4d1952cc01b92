// Tokens, for operators. The text of a token is shown only once, in the answer that creates it. What is stored is never shown.

import { realpathSync } from 'node:fs'
import { z } from 'zod'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { StepUp } from '../../../domain/supervision/step-up.ts'
import type { TokenRecord } from '../../../http/auth/tokens/token.ts'
import type { NewToken, Tokens } from '../../../http/auth/tokens/tokens.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Principal, Reply, Request, Route, RouteDescription } from '../../../http/route.ts'
import { hasOwnRight, type Operators, refuseForOthers } from '../../../supervision/sessions/may-command.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { validBody } from '../../shared/request/validate.ts'
import {
  type CreatedToken,
  CreatedTokenSchema,
  NewTokenSchema,
  type Token,
  type TokenList,
  TokenListSchema,
} from './schema.ts'

const tag = 'Tokens'

const describeList = (): RouteDescription => ({
  tag,
  description: 'Your own; an admin sees everybody’s. Oldest first. Tokens from the settings are not listed.',
  responses: { 200: answer('The tokens that can be revoked.', TokenListSchema) },
  errors: [],
})

const describeCreate = (): RouteDescription => ({
  tag,
  description:
    'The token is valid at once. `token` is its text, which is never shown again. Once somebody has a passkey, a token of an operator needs a proof (`{"kind": "token"}`). Only an admin makes tokens for others. A token that is limited to scopes or to an agent makes none, and one that ends makes none that lasts longer.',
  headers: {
    'X-Passkey': z.string().optional().describe('A proof with a passkey: base64url of {"challenge_id", "response"}.'),
  },
  body: {
    schema: NewTokenSchema,
    examples: {
      user: { role: 'user', user: 'ada', name: 'Ada’s laptop' },
      operator: { role: 'operator' },
      agent: { role: 'agent', user: 'ada', workspace: '/home/ada/shop' },
      'for a dashboard': { role: 'operator', user: 'grafana', scopes: ['read'], expires_in: 7_776_000 },
    },
  },
  responses: { 201: answer('The token.', CreatedTokenSchema) },
  errors: ['invalid_request', 'forbidden', 'passkey_required', 'conflict', 'storage_full', 'storage_failed'],
})

const describeRevoke = (): RouteDescription => ({
  tag,
  description:
    'The token is refused from now on, and its open streams end within 5 seconds. Only an admin revokes tokens of others. A token that is limited to scopes or to an agent revokes none.',
  params: { id: z.string().describe('Id of the token.') },
  responses: { 204: { description: 'The token is revoked.' } },
  errors: ['forbidden', 'token_not_found', 'storage_full', 'storage_failed'],
})

interface TokenRoutesDeps {
  tokens: Tokens
  stepUp: StepUp
  operators: Operators
  dataDir: string
  clock: Pick<Clock, 'now'>
}

export function createTokenRoutes({ tokens, stepUp, operators, dataDir, clock }: TokenRoutesDeps): Route[] {
  async function list(request: Request, reply: Reply): Promise<void> {
    await tokens.refresh()
    const by = callerOf(request)
    const found = tokens.list().filter(({ user }) => hasOwnRight(operators, by, user))
    // The folder is there so that the CLI can check that this server uses the one it means.
    const body: TokenList = { data_dir: realpathSync(dataDir), tokens: found.map(view) }
    reply.json(200, body)
  }

  async function create(request: Request, reply: Reply): Promise<void> {
    const sent = validBody(NewTokenSchema, await request.json(), 'The body does not describe a token.')
    const by = callerOf(request)
    const wanted = { ...sent, user: sent.user ?? request.principal.owner }
    refuseForOthers(operators, by, wanted.user)
    refuseLonger(request.principal, wanted, clock.now())
    // Whoever has one can do what needs a passkey only with a passkey, but everything else.
    if (wanted.role === 'operator') await stepUp.require(by, { kind: 'token' })
    const { record, token } = await tokens.create(wanted, by.user)
    request.log.info('token created', { token_id: record.id, user: record.user, role: record.role })
    const body: CreatedToken = { ...view(record), token }
    reply.json(201, body)
  }

  async function revoke(request: Request, reply: Reply): Promise<void> {
    const { id = '' } = request.params
    const by = callerOf(request)
    await tokens.revoke(id, by.user, ({ user }) => {
      if (hasOwnRight(operators, by, user)) return
      throw new ServerError('forbidden', `This token is of ${user}: only ${user} or an admin may revoke it.`, {
        details: { owner: user },
      })
    })
    request.log.info('token revoked', { token_id: id })
    reply.empty(204)
  }

  const shared = { path: '/tokens', door: null, role: 'operator' } as const
  return [
    { ...shared, method: 'GET', body: 'none', summary: 'List tokens', describe: describeList, handle: list },
    { ...shared, method: 'POST', body: 'control', summary: 'Create a token', describe: describeCreate, handle: create },
    {
      ...shared,
      method: 'DELETE',
      path: '/tokens/:id',
      body: 'none',
      summary: 'Revoke a token',
      describe: describeRevoke,
      handle: revoke,
    },
  ]
}

/** Throws `forbidden`: otherwise the end of a token would mean nothing. */
function refuseLonger({ expiresAt }: Principal, { expires_in }: NewToken, now: number): void {
  if (expiresAt === undefined) return
  const left = Math.floor((expiresAt - now) / 1000)
  if (expires_in !== undefined && expires_in <= left) return
  throw new ServerError(
    'forbidden',
    `Your token ends in ${left} s, so it makes only tokens that end before. Send expires_in.`,
  )
}

const view = ({ sha256: _, scopes, ...record }: TokenRecord): Token => ({
  ...record,
  ...(scopes === undefined ? {} : { scopes: [...scopes] }),
})
