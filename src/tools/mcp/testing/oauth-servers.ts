// For tests: a real authorization server (oidc-provider), and a real MCP server that takes only its tokens.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import Provider, { type Configuration } from 'oidc-provider'
import { z } from 'zod'

export interface OAuthServers extends AsyncDisposable {
  issuer: string
  /** Of the MCP server. */
  url: string
  provider: Provider
  /** What was sent to the token endpoint, in order. */
  readonly tokenRequests: URLSearchParams[]
  /** How many clients have registered. */
  registered(): number
  /** Tests change it: what the MCP server asks of a token for calls of `write`, and what it says of itself. */
  rules: { writeScope: string; resource: string | null; isRevoked: boolean }
  /** Tests change what the authorization server publishes about itself. */
  metadata: (published: Record<string, unknown>) => Record<string, unknown>
  /** Before its own answer to a path; true: answered. */
  intercept: (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean
}

interface Options {
  accessTokenSeconds?: number
  configuration?: Configuration
}

export async function openOAuthServers({
  accessTokenSeconds = 3_600,
  configuration = {},
}: Options = {}): Promise<OAuthServers> {
  const authority = createServer()
  const issuer = await listen(authority)
  const tokenRequests: URLSearchParams[] = []
  let registered = 0
  const mcp = createServer((request, response) => void answerMcp(request, response))
  const origin = await listen(mcp)
  const url = `${origin}/mcp`

  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'given',
        client_secret: 'given-secret-of-the-settings',
        redirect_uris: ['http://localhost:4000/sign-ins/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        application_type: 'native',
      },
    ],
    cookies: { keys: ['test'] },
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource) => {
          if (resource !== url) throw new Error(`unknown resource ${resource}`)
          return { scope: 'read write', audience: url, accessTokenFormat: 'opaque', accessTokenTTL: accessTokenSeconds }
        },
        useGrantedResource: () => true,
      },
    },
    scopes: ['openid', 'offline_access', 'read', 'write'],
    // MCP asks for no `openid`, and for a refresh token all the same.
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    ...configuration,
  } as Configuration)
  provider.on('registration_create.success', () => {
    registered += 1
  })

  const answer = provider.callback()
  authority.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void (async () => {
      if (await servers.intercept(request, response)) return
      if (request.url === '/.well-known/oauth-authorization-server') {
        const own = await fetch(`${issuer}/.well-known/openid-configuration`)
        return json(response, 200, servers.metadata((await own.json()) as Record<string, unknown>))
      }
      if (request.url === '/token') {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', () => tokenRequests.push(new URLSearchParams(Buffer.concat(chunks).toString())))
      }
      await answer(request, response)
    })()
  })

  async function answerMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { rules } = servers
    if (request.url?.startsWith('/.well-known/oauth-protected-resource')) {
      return json(response, 200, {
        resource: rules.resource ?? url,
        authorization_servers: [issuer],
        scopes_supported: ['read'],
      })
    }
    const body = await text(request)
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    const known = token === undefined || rules.isRevoked ? undefined : await provider.AccessToken.find(token)
    if (known === undefined || known.isExpired || known.aud !== url) {
      const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="read"`
      response.setHeader('www-authenticate', challenge)
      return json(response, 401, { error: 'invalid_token' })
    }
    const call = body === '' ? null : (JSON.parse(body) as { method?: string; params?: { name?: string } })
    if (
      call?.method === 'tools/call' &&
      call.params?.name === 'write' &&
      !`${known.scope}`.split(' ').includes(rules.writeScope)
    ) {
      response.setHeader('www-authenticate', `Bearer error="insufficient_scope", scope="${rules.writeScope}"`)
      return json(response, 403, { error: 'insufficient_scope' })
    }
    const server = new McpServer({ name: 'crm', version: '1.0.0' })
    const who = async () => ({ content: [{ type: 'text' as const, text: `you are ${known.accountId}` }] })
    server.registerTool('whoami', { description: 'Says who is signed in.', inputSchema: z.object({}) }, who)
    server.registerTool('write', { description: 'Writes something down.', inputSchema: z.object({}) }, who)
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const sent = { method: request.method ?? 'GET', headers, ...(body === '' ? {} : { body }) }
    const reply = await transport.handleRequest(new Request(`${origin}${request.url}`, sent))
    response.writeHead(reply.status, Object.fromEntries(reply.headers))
    if (reply.headers.get('content-type')?.startsWith('text/event-stream')) {
      for await (const chunk of reply.body ?? []) response.write(chunk)
      return void response.end()
    }
    response.end(Buffer.from(await reply.arrayBuffer()))
  }

  const servers: OAuthServers = {
    issuer,
    url,
    provider,
    tokenRequests,
    registered: () => registered,
    rules: { writeScope: 'write', resource: null, isRevoked: false },
    metadata: (published) => published,
    intercept: () => false,
    async [Symbol.asyncDispose]() {
      for (const server of [authority, mcp]) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    },
  }
  return servers
}

/** A person at a browser: follows the link, signs in as `account`, agrees, and gives the address that the browser is sent back to. */
export async function walkThrough(link: string, account = 'ann'): Promise<URL> {
  const cookies = new Map<string, string>()
  let next = new URL(link)
  let form: URLSearchParams | null = null
  for (let steps = 0; steps < 20; steps += 1) {
    const response = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === null ? {} : { method: 'POST', body: form }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    form = null
    if (location !== null) {
      next = new URL(location, next)
      if (next.pathname === '/sign-ins/callback') return next
      continue
    }
    const page = await response.text()
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
    if (prompt === undefined)
      throw new Error(`The authorization server says ${response.status}: ${page.slice(0, 2_000)}`)
    form = new URLSearchParams({ prompt, ...(prompt === 'login' ? { login: account, password: 'x' } : {}) })
    const action = /action="([^"]+)"/.exec(page)?.[1]
    if (action !== undefined) next = new URL(action, next)
  }
  throw new Error('The sign-in has no end.')
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
