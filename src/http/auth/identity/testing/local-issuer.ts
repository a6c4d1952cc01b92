// For tests: an OpenID Connect provider on this machine, with real keys and real signatures.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { IssuerSettings } from '../../../../domain/settings/identity-settings.ts'

interface SigningKey {
  kid: string
  alg: string
  privateKey: CryptoKey
  jwk: JWK
}

export interface LocalIssuer extends AsyncDisposable {
  url: string
  settings: IssuerSettings
  /** The paths that were asked for, in order. */
  readonly asked: string[]
  /** What it publishes. Tests change it. */
  published: JWK[]
  key: SigningKey
  newKey(kid: string, alg?: string): Promise<SigningKey>
  /** A token of this issuer. `now` is in epoch ms. */
  token(
    now: number,
    claims?: Record<string, unknown>,
    how?: { key?: SigningKey; header?: Record<string, unknown> },
  ): Promise<string>
  /** In place of its usual answer. Null: the usual one. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | null
}

export async function openIssuer(settings: Partial<IssuerSettings> = {}): Promise<LocalIssuer> {
  const asked: string[] = []
  const key = await newKey('first')
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (issuer.answer !== null) return issuer.answer(request, response)
    const json = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.url === '/.well-known/openid-configuration') json({ issuer: url, jwks_uri: `${url}/keys` })
    else if (request.url === '/keys') json({ keys: issuer.published })
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  const issuer: LocalIssuer = {
    url,
    settings: {
      name: 'corp',
      issuer: url,
      audience: ['quarterdeck'],
      jwksUri: null,
      algorithms: ['RS256', 'ES256', 'EdDSA'],
      clockToleranceSeconds: 0,
      claims: { user: 'sub', groups: 'groups', role: null },
      roles: { user: null, operator: [], admin: [] },
      required: {},
      assumeVerifiedEmail: false,
      ...settings,
    },
    asked,
    published: [key.jwk],
    key,
    newKey,
    answer: null,
    token(now, claims = {}, { key: signing = issuer.key, header = {} } = {}) {
      const at = Math.floor(now / 1000)
      const usual = { iss: url, aud: 'quarterdeck', sub: 'ada', iat: at, exp: at + 300 }
      return new SignJWT({ ...usual, ...claims })
        .setProtectedHeader({ alg: signing.alg, kid: signing.kid, typ: 'JWT', ...header })
        .sign(signing.privateKey)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return issuer
}

async function newKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}
