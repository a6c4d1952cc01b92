// The steps of OAuth that an MCP server wants, by the SDK's own functions. What they find is plain data, so that a sign-in can be begun by
// one process and ended by another.

import type { AuthorizationServerMetadata, FetchLike, OAuthTokens } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { McpAuthSettings } from '../../../domain/agent/tool-settings.ts'
import { ServerError } from '../../../domain/errors.ts'
import { isLoopback } from '../../../domain/is-loopback.ts'
import { present } from '../../../domain/present.ts'
import type { McpSdk } from '../connection/sdk.ts'

/** How long before its end a token is renewed: this, or less for one that lives for a few minutes only. */
const LONGEST_EARLY_MS = 60_000
const EARLY_PART = 5

/** Of the authorization server's document only what later steps need: a stranger decides how long it is. */
const IssuerSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string().optional(),
  response_types_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()).optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
})

const ClientSchema = z.object({
  client_id: z.string(),
  /** Of a client that registered itself. A given one has it in the settings. */
  client_secret: z.string().optional(),
  token_endpoint_auth_method: z.string().optional(),
  client_secret_expires_at: z.number().optional(),
  registered: z.literal(true).optional(),
})
export type OAuthClient = z.infer<typeof ClientSchema>

/** Where tokens come from, and what they are good for. */
export const AuthoritySchema = z.object({
  server: IssuerSchema,
  /** The resource that tokens are issued for (RFC 8707). */
  resource: z.string(),
  client: ClientSchema,
  /** Where the authorization server sends browsers back to. */
  redirect: z.string(),
})
export type Authority = z.infer<typeof AuthoritySchema>

export const TokensSchema = z.object({
  access_token: z.string(),
  refresh_token: z.string().optional(),
  scope: z.string().optional(),
  /** Epoch ms. Null: the server does not say. */
  expires_at: z.number().nullable(),
  /** Epoch ms from which a new token is asked for. */
  renew_at: z.number().nullable(),
})
export type Tokens = z.infer<typeof TokensSchema>

export const BegunSchema = z.object({
  authority: AuthoritySchema,
  verifier: z.string(),
  scope: z.string().optional(),
})
export type Begun = z.infer<typeof BegunSchema>

export interface OAuthDeps {
  sdk: McpSdk
  /** For addresses that strangers name. */
  fetch: FetchLike
  now: () => number
}

export interface BeginRequest {
  url: string
  auth: McpAuthSettings
  /** What the server itself answers without a token. */
  challenge: Response | null
  /** What a call has lacked. */
  moreScope: string | null
  redirect: string
  /** The address of our own client document. Null: nobody outside could read it. */
  document: string | null
  state: string
  /** The last sign-in that worked: its client needs no second registration. */
  before: Authority | null
}

/** Throws a ServerError that says what is wrong and what to do. */
export async function beginSignIn(
  { sdk, fetch, now }: OAuthDeps,
  request: BeginRequest,
): Promise<{ link: string; begun: Begun }> {
  const { url, auth, redirect, state } = request
  const asked = request.challenge === null ? {} : sdk.extractWWWAuthenticateParams(request.challenge)
  const found = await sdk
    .discoverOAuthServerInfo(url, present({ resourceMetadataUrl: asked.resourceMetadataUrl, fetchFn: fetch }))
    .catch((error: unknown) => {
      throw failed(`It does not say where to sign in, or says it wrongly.${reasonOf(error)}`, error)
    })
  const { authorizationServerMetadata: metadata, resourceMetadata } = found
  if (metadata === undefined) throw failed('It names no authorization server that describes itself.')
  const server = IssuerSchema.parse(metadata)
  refuseUnsafe(server)
  // Without metadata of the resource it is the server itself: a token must never be good for another one.
  const resource = resourceMetadata?.resource ?? sdk.resourceUrlFromServerUrl(url).href
  if (!sdk.checkResourceAllowed({ requestedResource: url, configuredResource: resource })) {
    throw failed(`It says that it is ${resource}, which is another server.`)
  }
  const offered = metadata.scopes_supported ?? []
  const wanted = auth.scope ?? asked.scope ?? resourceMetadata?.scopes_supported?.join(' ')
  const scope = sdk.computeScopeUnion(
    wanted,
    request.moreScope ?? undefined,
    wanted !== undefined && offered.includes('offline_access') ? 'offline_access' : undefined,
  )
  const client = await clientFor({ sdk, fetch, now }, request, server)
  const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(
    server.issuer,
    present({ metadata: forSdk(server), clientInformation: client, redirectUrl: redirect, scope, state, resource }),
  )
  const authority: Authority = { server, resource, client: withoutGivenSecret(client, auth), redirect }
  return {
    link: authorizationUrl.href,
    begun: { authority, verifier: codeVerifier, ...present({ scope }) },
  }
}

/** Redeems the code. `iss`: what the browser brought back (RFC 9207). */
export async function endSignIn(
  { sdk, fetch, now }: OAuthDeps,
  auth: McpAuthSettings,
  { authority, verifier, scope }: Begun,
  { code, iss }: { code: string; iss: string | null },
): Promise<Tokens> {
  checkIssuer(sdk, authority, iss)
  const { server, client, resource, redirect } = authority
  const tokens = await sdk.exchangeAuthorization(server.issuer, {
    metadata: forSdk(server),
    clientInformation: withSecret(client, auth),
    authorizationCode: code,
    ...(iss === null ? {} : { iss }),
    codeVerifier: verifier,
    redirectUri: redirect,
    resource,
    fetchFn: fetch,
  })
  return kept(tokens, { now, scope })
}

/** Also what comes back without a code must come from the server that was asked. */
export function checkIssuer(sdk: McpSdk, { server }: Authority, iss: string | null): void {
  try {
    sdk.validateAuthorizationResponseIssuer({
      iss: iss ?? undefined,
      expectedIssuer: server.issuer,
      issParameterSupported: server.authorization_response_iss_parameter_supported === true,
    })
  } catch (error) {
    throw failed(`The answer does not come from ${server.issuer}, where the sign-in was begun.`, error)
  }
}

/** New tokens for the refresh token, which must not be used again. Throws what the SDK throws. */
export async function refreshTokens(
  { sdk, fetch, now }: OAuthDeps,
  auth: McpAuthSettings,
  { server, client, resource }: Authority,
  { refresh_token: refreshToken = '', scope }: Tokens,
): Promise<Tokens> {
  const tokens = await sdk.refreshAuthorization(server.issuer, {
    metadata: forSdk(server),
    clientInformation: withSecret(client, auth),
    refreshToken,
    resource,
    fetchFn: fetch,
  })
  return kept(tokens, { now, scope })
}

/** The server's own word that these tokens or this client are void. Everything else may pass. */
export const isVoid = (sdk: McpSdk, error: unknown): boolean =>
  error instanceof sdk.OAuthError &&
  [
    sdk.OAuthErrorCode.InvalidGrant,
    sdk.OAuthErrorCode.InvalidClient,
    sdk.OAuthErrorCode.UnauthorizedClient,
    sdk.OAuthErrorCode.InvalidTarget,
    sdk.OAuthErrorCode.InvalidScope,
  ].some((code) => code === error.code)

/** A given client id, then our own document, then a registration: the order of the specification. */
async function clientFor(
  { sdk, fetch, now }: OAuthDeps,
  { auth, redirect, document, before }: BeginRequest,
  server: Authority['server'],
): Promise<OAuthClient> {
  if (auth.clientId !== null) return withSecret({ client_id: auth.clientId }, auth)
  if (document !== null && server.client_id_metadata_document_supported === true) return { client_id: document }
  if (
    before !== null &&
    before.server.issuer === server.issuer &&
    before.redirect === redirect &&
    isRegistered(before, now)
  ) {
    return before.client
  }
  if (server.registration_endpoint === undefined) {
    throw failed(
      `${server.issuer} takes no registrations. Register there by hand with the redirect address ${redirect}, and write auth: { client_id: … }.`,
    )
  }
  const made = await sdk
    .registerClient(server.issuer, {
      metadata: forSdk(server),
      clientMetadata: sdk.resolveClientMetadata({ clientMetadata: clientMetadata([redirect]), redirectUrl: redirect }),
      // Without a scope: a later sign-in may have to ask for more.
      fetchFn: fetch,
    })
    .catch((error: unknown) => {
      throw failed(`${server.issuer} refused to register this server.${reasonOf(error)}`, error)
    })
  return { ...ClientSchema.parse(made), registered: true }
}

const isRegistered = ({ client }: Authority, now: () => number): boolean =>
  client.registered === true && !(client.client_secret_expires_at && client.client_secret_expires_at * 1_000 <= now())

/** What we say about ourselves, in a registration and in our own document. A public client: PKCE binds the code, and nothing here is secret. */
export const clientMetadata = (redirects: string[]) => ({
  client_name: 'Quarterdeck',
  redirect_uris: redirects,
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
})

function refuseUnsafe(server: Authority['server']): void {
  if (server.code_challenge_methods_supported?.includes('S256') !== true) {
    throw failed(`${server.issuer} does not offer PKCE with S256, so somebody else could use the code of a sign-in.`)
  }
  for (const address of [server.authorization_endpoint, server.token_endpoint, server.registration_endpoint]) {
    const url = address === undefined ? null : URL.parse(address)
    const isSafe =
      address === undefined || url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
    if (!isSafe) throw failed(`${server.issuer} wants secrets sent in the clear.`)
  }
}

function kept(tokens: OAuthTokens, { now, scope }: { now: () => number; scope: string | undefined }): Tokens {
  if (!/^bearer$/i.test(tokens.token_type)) throw failed(`It gives tokens of the type ${tokens.token_type}.`)
  const endsIn = tokens.expires_in === undefined ? null : tokens.expires_in * 1_000
  return TokensSchema.parse({
    ...tokens,
    scope: tokens.scope ?? scope,
    expires_at: endsIn === null ? null : now() + endsIn,
    renew_at: endsIn === null ? null : now() + endsIn - Math.min(LONGEST_EARLY_MS, endsIn / EARLY_PART),
  })
}

/** A given secret is never stored: it may change in the settings. */
const withSecret = (client: OAuthClient, { clientId, clientSecret }: McpAuthSettings): OAuthClient =>
  client.client_id === clientId && clientSecret !== null ? { ...client, client_secret: clientSecret } : client

const withoutGivenSecret = (client: OAuthClient, { clientId }: McpAuthSettings): OAuthClient =>
  client.client_id === clientId ? { client_id: clientId } : client

const forSdk = (server: Authority['server']): AuthorizationServerMetadata => server as AuthorizationServerMetadata

const failed = (text: string, cause?: unknown): ServerError => new ServerError('tool_failed', text, { cause })

/** What we know ourselves. What strangers wrote is not repeated. */
function reasonOf(error: unknown): string {
  if (!(error instanceof ServerError)) return ''
  const isPrivate = error.details.reason === 'private_address'
  return isPrivate
    ? ' Its address is not public. If you trust it, write allow_private: true under auth.'
    : ` ${error.message}`
}
