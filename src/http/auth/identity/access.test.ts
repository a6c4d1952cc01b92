// Tokens of identity providers and names of a proxy, as requests bring them.

import { describe, expect, test } from 'vitest'
import type { ProxyAuthSettings } from '../../../domain/settings/identity-settings.ts'
import type { Role } from '../../route.ts'
import {
  collectLines,
  createManualClock,
  exchange,
  operatorToken,
  route,
  startServer,
  userToken,
} from '../../testing/server-fixture.ts'
import { createOidc } from './oidc.ts'
import { createProxyAuth } from './proxy-auth.ts'
import { openIssuer } from './testing/local-issuer.ts'

const listed = { operators: [], operatorGroups: [{ group: 'sre' }] }
const roles: Role[] = ['public', 'user', 'operator', 'agent']
const routes = roles.flatMap((role) => [
  route(`GET /${role}`, ({ principal }, reply) => reply.json(200, principal), { role }),
  route(`POST /${role}`, ({ principal }, reply) => reply.json(200, principal), { role }),
])

const trustsLoopback: ProxyAuthSettings = {
  name: 'corp',
  trusted: ['127.0.0.1'],
  headers: { user: 'x-forwarded-user', groups: 'x-forwarded-groups', email: 'x-forwarded-email' },
  roles: { user: null, operator: [], admin: [] },
}

async function setUp({ trusted = null as string[] | null } = {}) {
  const issuer = await openIssuer()
  const clock = createManualClock()
  const oidc = createOidc({ issuers: [issuer.settings], listed, fetch, clock, log: collectLines([]) })
  const server = await startServer({
    routes,
    clock,
    auth: { tokenRequired: true, oidc },
    ...(trusted === null ? {} : { proxyAuth: createProxyAuth({ ...trustsLoopback, trusted }, listed) }),
  })
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const answer = await fetch(`${server.url}${path}`, { method, headers })
    return { status: answer.status, body: await answer.json(), why: answer.headers.get('www-authenticate') }
  }
  const status = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    (await ask(path, headers, method)).status
  const end = async () => {
    await server[Symbol.asyncDispose]()
    await issuer[Symbol.asyncDispose]()
  }
  return { issuer, clock, server, ask, status, [Symbol.asyncDispose]: end }
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

describe('a token of an identity provider', () => {
  test('opens what its role may use, and names its user', async () => {
    await using world = await setUp()
    const { issuer, clock, ask, status } = world
    const user = bearer(await issuer.token(clock.now(), { sub: 'bob' }))
    const operator = bearer(await issuer.token(clock.now(), { groups: ['sre'] }))

    expect([
      await status('/public', user),
      await status('/user', user),
      await status('/operator', user),
      await status('/agent', user),
    ]).toEqual([200, 200, 403, 403])
    expect(await ask('/operator', operator)).toMatchObject({
      status: 200,
      body: { owner: 'corp:ada', role: 'operator', hasToken: true, groups: ['sre'], source: 'oidc' },
    })
    expect(await status('/agent', operator)).toBe(403)
    // The tokens of this server go on beside it.
    expect(await status('/user', bearer(userToken.token))).toBe(200)
  })

  test('that is refused says why, in words and for programs', async () => {
    await using world = await setUp()
    const { issuer, clock, ask } = world
    const old = bearer(await issuer.token(clock.now(), { exp: 1_700_000_000 }))
    const detail = 'The token has expired. Get a new one from your identity provider.'

    expect(await ask('/user', old)).toMatchObject({
      status: 401,
      body: { code: 'unauthorized', reason: 'expired', detail },
      why: `Bearer realm="quarterdeck", error="invalid_token", error_description="${detail}"`,
    })
    expect(await ask('/public', old)).toMatchObject({ status: 200, body: { role: 'public' } })
    // One that is only old does not count as a failed login, however often it comes.
    for (let i = 0; i < 12; i += 1) expect(await ask('/user', old)).toMatchObject({ status: 401 })
    const madeUp = bearer(await issuer.token(clock.now(), { iss: 'https://evil.example.com' }))
    for (let i = 0; i < 10; i += 1) expect(await ask('/user', madeUp)).toMatchObject({ status: 401 })
    expect(await ask('/user', madeUp)).toMatchObject({ status: 429 })
    expect(await ask('/user', bearer(await issuer.token(clock.now())))).toMatchObject({ status: 200 })
  })

  test('cannot be checked while its issuer is away: 503 and when to try again', async () => {
    await using world = await setUp()
    const { issuer, clock, server } = world
    issuer.answer = (_request, response) => response.writeHead(500).end()
    const answer = await fetch(`${server.url}/user`, { headers: bearer(await issuer.token(clock.now())) })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30'])
    expect(await answer.json()).toMatchObject({ code: 'identity_unavailable' })
  })

  test('a client that leaves while its token is checked is not served', async () => {
    await using world = await setUp()
    const { issuer, clock, server } = world
    issuer.answer = () => {}
    const gone = new AbortController()
    const asked = fetch(`${server.url}/user`, { headers: bearer(await issuer.token(clock.now())), signal: gone.signal })
    await expect.poll(() => issuer.asked.length).toBe(1)
    gone.abort()
    await expect(asked).rejects.toThrow()
    await expect.poll(() => server.lines.filter(({ status }) => status === 499).length).toBe(1)
    clock.advance(5_000)
    await expect.poll(() => server.server.stats().inWork).toBe(0)
    expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('a name from a proxy', () => {
  const ada = { 'X-Forwarded-User': 'ada', 'X-Forwarded-Groups': 'sre' }

  test('counts on a connection of the proxy, and needs no token', async () => {
    await using world = await setUp({ trusted: ['127.0.0.1'] })
    const { ask, status } = world
    expect(await ask('/operator', { ...ada, 'X-Forwarded-Email': 'ada@example.com' })).toMatchObject({
      status: 200,
      body: { owner: 'corp:ada', role: 'operator', hasToken: true, source: 'proxy', email: 'ada@example.com' },
    })
    expect(await status('/user', { 'X-Forwarded-User': 'bob' })).toBe(200)
    expect(await status('/operator', { 'X-Forwarded-User': 'bob' })).toBe(403)
    expect(await status('/agent', ada)).toBe(403)
    expect(await status('/user')).toBe(401)
  })

  test('is ignored from everybody else, also on this machine', async () => {
    for (const trusted of [null, ['10.0.3.7']]) {
      await using world = await setUp({ trusted })
      const { ask, status } = world
      expect(await status('/user', ada)).toBe(401)
      expect(await ask('/public', ada)).toMatchObject({ body: { owner: 'local_user', role: 'public' } })
      expect(await ask('/user', { ...ada, ...bearer(userToken.token) })).toMatchObject({ body: { owner: 'ada' } })
    }
  })

  test('together with a token counts only if both mean the same person', async () => {
    await using world = await setUp({ trusted: ['127.0.0.1'] })
    const { issuer, clock, ask, status } = world
    const same = bearer(await issuer.token(clock.now(), { groups: [] }))
    const other = bearer(await issuer.token(clock.now(), { sub: 'bob' }))

    // The token is what the caller sent, so it says what they may do.
    expect(await ask('/user', { ...ada, ...same })).toMatchObject({
      body: { owner: 'corp:ada', role: 'user', source: 'oidc' },
    })
    expect(await ask('/user', { ...ada, ...other })).toMatchObject({ status: 401, body: { reason: 'two_identities' } })
    expect(await ask('/operator', { ...ada, ...bearer(operatorToken.token) })).toMatchObject({
      status: 401,
      body: { reason: 'two_identities' },
    })
    // A wrong token does not fall back to the name.
    expect(await status('/user', { ...ada, ...bearer('wrong-wrong-wrong') })).toBe(401)
    expect(await ask('/public', { ...ada, ...other })).toMatchObject({ status: 200, body: { role: 'public' } })
  })

  test('sent twice is refused on every route', async () => {
    await using world = await setUp({ trusted: ['127.0.0.1'] })
    const { port } = world.server
    for (const path of ['/user', '/public']) {
      const text = await exchange(
        port,
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Forwarded-User: root\r\nx-forwarded-user: ada\r\nConnection: close\r\n\r\n`,
      )
      expect(text).toMatch(/^HTTP\/1\.1 400 /)
    }
  })

  test('in a browser counts only for pages of this server', async () => {
    await using world = await setUp({ trusted: ['127.0.0.1'] })
    const { ask, status } = world
    const from = (site: string) => ({ ...ada, 'Sec-Fetch-Site': site })

    expect(await ask('/operator', from('same-origin'), 'POST')).toMatchObject({
      status: 200,
      body: { isConsole: true },
    })
    expect(await status('/operator', from('cross-site'), 'POST')).toBe(403)
    expect(await status('/operator', from('same-site'), 'POST')).toBe(403)
    expect(await status('/user', { ...from('cross-site'), 'X-Forwarded-Groups': '' }, 'POST')).toBe(403)
    // An address that somebody types. It changes nothing.
    expect([await status('/operator', from('none')), await status('/operator', from('none'), 'POST')]).toEqual([
      200, 403,
    ])
    // A link in a chat leads to the console.
    expect(await status('/public', from('cross-site'))).toBe(200)
  })
})
