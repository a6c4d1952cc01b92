import { describe, expect, test } from 'vitest'
import { openSignIns } from '../../../app/open-sign-ins.ts'
import type { McpAuthSettings } from '../../../domain/agent/tool-settings.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { createConnections } from '../../../outgoing/connections.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import { mcpSettings } from '../testing/mcp-settings.ts'
import { type OAuthServers, openOAuthServers, walkThrough } from '../testing/oauth-servers.ts'
import { openServer } from '../testing/open-server.ts'
import { forgetSignIns } from './kept-sign-ins.ts'
import { authServerOf } from './sign-in.ts'
import type { SignIns } from './sign-ins.ts'

const HOUR = 3_600_000
const BASE = 'http://localhost:4000'
const auth = (change: Partial<McpAuthSettings> = {}): McpAuthSettings => ({
  per: 'server',
  clientId: null,
  clientSecret: null,
  scope: null,
  allowPrivate: true,
  ...change,
})

async function open(servers: OAuthServers, change: Partial<McpAuthSettings> = {}, { base = BASE, replicas = 1 } = {}) {
  let ahead = 0
  const system = createSystemClock()
  const clock = { ...system, now: () => system.now() + ahead }
  const connections = createConnections()
  const store = createLocalShared(clock)
  const settings = mcpSettings({
    name: 'crm',
    connection: { kind: 'http', url: servers.url, headers: {}, auth: auth(change) },
  })
  const told: string[] = []
  const all: SignIns[] = []
  for (let i = 0; i < replicas; i += 1) {
    const made = await openSignIns([{ tools: [settings] }], {
      connections,
      proxyVariables: null,
      clock,
      log: silentLogger,
      version: '0.0.0',
    })
    if (made === null) throw new Error('no server wants a sign-in')
    made.open({
      store,
      base,
      listener: {
        needed: (server, user, why) => void told.push(`needed ${server.name} ${user} ${why}`),
        done: (server, user) => void told.push(`done ${server.name} ${user}`),
      },
    })
    all.push(made)
  }
  const server = authServerOf(settings)
  const [signIns] = all
  if (server === null || signIns === undefined) throw new Error('no server wants a sign-in')
  const begin = (user: string | null = null, browser: string | null = null) =>
    signIns.begin({ server, user, by: 'olga', browser })
  const back = (url: URL, browser: string | null = null) =>
    signIns.end(
      {
        state: url.searchParams.get('state'),
        code: url.searchParams.get('code'),
        iss: url.searchParams.get('iss'),
        error: url.searchParams.get('error'),
      },
      browser,
    )
  return {
    /** So much later. */
    later(ms: number): void {
      ahead += ms
    },
    signIns,
    all,
    server,
    settings,
    store,
    told,
    begin,
    back,
    async signIn(user: string | null = null, account?: string) {
      await back(await walkThrough((await begin(user)).link, account))
    },
    [Symbol.asyncDispose]: async () => connections.close(),
  }
}

describe('a sign-in to an MCP server', () => {
  test('registers, asks with PKCE for the server as the resource, and its tools are there', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    await using mcp = openServer(own.settings, { signIn: own.signIns.of(own.server, null) })

    await expect(mcp.tools()).rejects.toMatchObject({ message: expect.stringContaining('needs a sign-in') })
    expect(mcp.server.needsSignIn()).toBe(true)

    const { link } = await own.begin()
    const asked = new URL(link).searchParams
    expect(asked.get('code_challenge_method')).toBe('S256')
    expect(asked.get('resource')).toBe(servers.url)
    expect(asked.get('scope')).toContain('read')
    await own.back(await walkThrough(link))

    expect((await mcp.tools()).map(({ name }) => name)).toEqual(['whoami', 'write'])
    expect((await mcp.call('whoami')).content).toContain('you are ann')
    expect(servers.tokenRequests[0]?.get('resource')).toBe(servers.url)
    expect(servers.registered()).toBe(1)
    expect(mcp.server.needsSignIn()).toBe(false)
    expect(own.told.at(-1)).toBe('done crm null')
  })

  test('uses the client id and the secret of the settings, and keeps the secret nowhere', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers, { clientId: 'given', clientSecret: 'given-secret-of-the-settings' })

    const { link } = await own.begin()
    expect(new URL(link).searchParams.get('client_id')).toBe('given')
    await own.back(await walkThrough(link))

    expect(await own.signIns.of(own.server, null).token()).toEqual(expect.any(String))
    expect(servers.registered()).toBe(0)
    expect(JSON.stringify(await own.store.list('mcp_sign_in'))).not.toContain('given-secret')
  })

  test('names its own document where the server is open at an https address', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers, {}, { base: 'https://deck.example.com' })

    // The provider cannot read a document of this machine over https, so only the link is looked at.
    const { link } = await own.begin()
    const asked = new URL(link).searchParams
    expect(asked.get('client_id')).toBe('https://deck.example.com/sign-ins/client.json')
    expect(asked.get('redirect_uri')).toBe('https://deck.example.com/sign-ins/callback')
    expect(own.signIns.document()).toEqual({
      client_id: 'https://deck.example.com/sign-ins/client.json',
      client_name: 'Quarterdeck',
      redirect_uris: ['https://deck.example.com/sign-ins/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
    expect(servers.registered()).toBe(0)
  })

  test('registers no second time for another sign-in', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)

    await own.signIn()
    await own.signIn()

    expect(servers.registered()).toBe(1)
  })

  test('each user has tools as who they are at the server', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers, { per: 'user' })
    await own.signIn('ann', 'ann-at-crm')
    await own.signIn('bob', 'bob-at-crm')
    await using ann = openServer(own.settings, { signIn: own.signIns.of(own.server, 'ann') })
    await using bob = openServer(own.settings, { signIn: own.signIns.of(own.server, 'bob') })

    expect((await ann.call('whoami')).content).toContain('you are ann-at-crm')
    expect((await bob.call('whoami')).content).toContain('you are bob-at-crm')
    await expect(own.signIns.of(own.server, 'eve').token()).rejects.toThrow('needs a sign-in')
  })

  test('of a user is forgotten, with one that they have only begun, and nobody else’s', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers, { per: 'user' })
    for (const user of ['ann', 'bob', null]) await own.signIn(user)
    const begun = await walkThrough((await own.begin('ann')).link)

    expect(await forgetSignIns(own.store, 'ann')).toMatchObject([{ server: 'crm', url: servers.url }])

    expect((await own.signIns.state(own.server, 'ann')).issuer).toBe(null)
    await expect(own.back(begun)).rejects.toThrow('This sign-in is over')
    for (const user of ['bob', null]) {
      expect((await own.signIns.state(own.server, user)).issuer).toBe(servers.issuer)
    }
    expect(await forgetSignIns(own.store, 'ann')).toEqual([])
  })

  test('a sign-out takes the tools away, and another sign-in brings them back', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    await using mcp = openServer(own.settings, { signIn: own.signIns.of(own.server, null) })
    await own.signIn(null, 'ann')
    expect((await mcp.call('whoami')).content).toContain('you are ann')

    expect(await own.signIns.out(own.server, null)).toBe(true)
    await expect(mcp.tools()).rejects.toThrow('needs a sign-in')
    await own.signIn(null, 'bob')

    expect((await mcp.call('whoami')).content).toContain('you are bob')
  })
})

describe('tokens', () => {
  test('are renewed before they end', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    await own.signIn()
    const signIn = own.signIns.of(own.server, null)
    await signIn.token()
    expect(servers.tokenRequests).toHaveLength(1)

    own.later(HOUR - 50_000)
    const token = await signIn.token()

    expect(servers.tokenRequests.map((sent) => sent.get('grant_type'))).toEqual(['authorization_code', 'refresh_token'])
    expect(await servers.provider.AccessToken.find(token)).toMatchObject({ accountId: 'ann' })
  })

  test('are renewed by one of two replicas: a refresh token is never used twice', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers, {}, { replicas: 2 })
    await own.signIn()

    const both = own.all.flatMap((one) => [one.of(own.server, null), one.of(own.server, null)])
    for (let round = 0; round < 5; round += 1) {
      own.later(HOUR)
      await Promise.all(both.map((one) => one.token()))
    }

    const used = servers.tokenRequests.flatMap((sent) => sent.get('refresh_token') ?? [])
    expect(used.length).toBe(5)
    expect(new Set(used).size).toBe(used.length)
    expect((await own.signIns.state(own.server, null)).problem).toBeNull()
  })

  test('of a process that was killed while it renewed them: another one tries once, then a person is asked', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    await own.signIn()
    const [kept] = await own.store.list('mcp_sign_in')
    if (kept === undefined) throw new Error('there is no record')
    const record = JSON.parse(kept.value)
    own.later(HOUR)
    // It had sent the refresh token, and had written that it does. Its time is over.
    await own.signIns.of(own.server, null).token()
    const late = { ...record, refreshing_until: Date.now() }
    await own.store.put({
      kind: 'mcp_sign_in',
      key: kept.key,
      value: JSON.stringify(late),
      version: null,
      expiresAt: null,
    })

    await expect(own.signIns.of(own.server, null).token()).rejects.toThrow('needs a sign-in')
    const asked = servers.tokenRequests.length
    await expect(own.signIns.of(own.server, null).token()).rejects.toThrow('needs a sign-in')

    expect(servers.tokenRequests.length).toBe(asked)
  })

  test('a refresh that the authorization server calls void asks for a sign-in, and nobody tries again', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    await own.signIn()
    const [sent] = servers.tokenRequests
    const clientId = sent?.get('client_id') ?? ''
    const refresh = JSON.parse((await own.store.list('mcp_sign_in'))[0]?.value ?? '').tokens.refresh_token
    const body = new URLSearchParams({ token: refresh, client_id: clientId })
    await fetch(`${servers.issuer}/token/revocation`, { method: 'POST', body })
    await (await servers.provider.RefreshToken.find(refresh))?.destroy()

    own.later(HOUR)
    await expect(own.signIns.of(own.server, null).token()).rejects.toThrow('does not renew the last sign-in')
    await expect(own.signIns.of(own.server, null).token()).rejects.toThrow('needs a sign-in')

    expect(servers.tokenRequests.filter((one) => one.get('grant_type') === 'refresh_token')).toHaveLength(1)
  })

  test('are kept while the authorization server is away', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    await own.signIn()
    servers.intercept = (request, response) => {
      if (request.url !== '/token') return false
      response.writeHead(503).end()
      return true
    }

    // Good for half a minute yet.
    own.later(HOUR - 30_000)
    expect(await own.signIns.of(own.server, null).token()).toEqual(expect.any(String))
    servers.intercept = () => false
    const before = servers.tokenRequests.length
    await own.signIns.of(own.server, null).token()

    expect(servers.tokenRequests.length).toBe(before + 1)
  })

  test('that the server refuses are renewed once; then a person is asked', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    await using mcp = openServer(own.settings, { signIn: own.signIns.of(own.server, null) })
    await own.signIn()
    await mcp.tools()

    servers.rules.isRevoked = true
    await expect(mcp.call('whoami')).rejects.toThrow()
    await expect(
      own.signIns.of(own.server, null).refused(await own.signIns.of(own.server, null).token()),
    ).rejects.toThrow('needs a sign-in')
    await expect(mcp.tools()).rejects.toThrow('needs a sign-in')

    expect(servers.tokenRequests.filter((one) => one.get('grant_type') === 'refresh_token')).toHaveLength(1)
  })

  test('that lack a right keep the tools; the next sign-in asks for more', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    await using mcp = openServer(own.settings, { signIn: own.signIns.of(own.server, null) })
    await own.signIn()

    await expect(mcp.call('write')).rejects.toThrow('needs a sign-in: a call needs more rights (write)')
    expect((await mcp.call('whoami')).content).toContain('ann')
    expect((await own.signIns.state(own.server, null)).lacks).toBe('write')
    await own.signIn()

    expect((await mcp.call('write')).content).toContain('ann')
    expect((await own.signIns.state(own.server, null)).lacks).toBeNull()
  })
})

describe('a sign-in is refused', () => {
  test('with a state that nobody gave, or a second time', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    const url = await walkThrough((await own.begin()).link)
    const forged = new URL(url)
    forged.searchParams.set('state', 'x'.repeat(43))

    await expect(own.back(forged)).rejects.toMatchObject({ code: 'code_invalid' })
    await own.back(url)
    await expect(own.back(url)).rejects.toMatchObject({ code: 'code_invalid' })
  })

  test('with a code that was used', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    const first = await walkThrough((await own.begin()).link)
    await own.back(first)
    const second = await walkThrough((await own.begin()).link)
    second.searchParams.set('code', first.searchParams.get('code') ?? '')

    await expect(own.back(second)).rejects.toThrow('did not accept the sign-in')
  })

  test('when the answer names another issuer, or none', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    const other = await walkThrough((await own.begin()).link)
    other.searchParams.set('iss', 'https://evil.example')
    const none = await walkThrough((await own.begin()).link)
    none.searchParams.delete('iss')

    await expect(own.back(other)).rejects.toThrow('does not come from')
    await expect(own.back(none)).rejects.toThrow('does not come from')

    expect(servers.tokenRequests).toEqual([])
  })

  test('in another browser than the one that began it', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    const url = await walkThrough((await own.begin('ann', 'browser of ann')).link)

    await expect(own.back(url, 'browser of eve')).rejects.toMatchObject({ code: 'forbidden' })
    await expect(own.back(url, 'browser of ann')).rejects.toMatchObject({ code: 'code_invalid' })
  })

  test('when the person says no: in our words, and whoever was signed in stays so', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    await own.signIn()
    const url = await walkThrough((await own.begin()).link)
    url.searchParams.delete('code')
    url.searchParams.set('error', '<script>alert(1)</script>')

    await expect(own.back(url)).rejects.toThrow('said no: it did not say why')

    expect(await own.signIns.of(own.server, null).token()).toEqual(expect.any(String))
  })

  test.each([
    ['offers no PKCE with S256', { code_challenge_methods_supported: ['plain'] }, 'PKCE'],
    ['does not say that it knows PKCE', { code_challenge_methods_supported: undefined }, 'PKCE'],
    ['takes tokens in the clear', { token_endpoint: 'http://as.example.com/token' }, 'in the clear'],
    ['names another issuer', { issuer: 'https://evil.example' }, 'wrongly'],
  ])('by an authorization server that %s', async (_, change, why) => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    servers.metadata = (published) => ({ ...published, ...change })

    await expect(own.begin()).rejects.toThrow(why)
  })

  test('by a server that says it is another one', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    servers.rules.resource = 'https://bank.example.com/'

    await expect(own.begin()).rejects.toThrow('which is another server')
  })

  test('by an authorization server at a private address, which is not even asked', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers, { allowPrivate: false })
    let asked = 0
    servers.intercept = () => {
      asked += 1
      return false
    }

    await expect(own.begin()).rejects.toThrow('allow_private: true')

    expect(asked).toBe(0)
  })

  test('by a description without an end', async () => {
    await using servers = await openOAuthServers()
    await using own = await open(servers)
    servers.metadata = (published) => ({ ...published, padding: 'x'.repeat(1_000_000) })

    await expect(own.begin()).rejects.toThrow('sent too much')
  })
})
