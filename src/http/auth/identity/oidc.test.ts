import { createHmac, generateKeyPairSync } from 'node:crypto'
import { type CryptoKey, exportSPKI, importJWK, UnsecuredJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import type { IssuerSettings } from '../../../domain/settings/identity-settings.ts'
import { collectLines, createManualClock, type LogLine } from '../../testing/server-fixture.ts'
import type { ListedOperators } from './identity.ts'
import { createOidc } from './oidc.ts'
import { type LocalIssuer, openIssuer } from './testing/local-issuer.ts'

const nobodyListed: ListedOperators = { operators: [], operatorGroups: [] }

function setUp(issuers: readonly IssuerSettings[], listed: Partial<ListedOperators> = {}) {
  const clock = createManualClock()
  const lines: LogLine[] = []
  const oidc = createOidc({ issuers, listed: { ...nobodyListed, ...listed }, fetch, clock, log: collectLines(lines) })
  /** Who it is, or why the token is refused. */
  async function check(token: string): Promise<unknown> {
    try {
      const identity = await oidc.check(token)
      return identity === null ? null : identity.user
    } catch (error) {
      return error instanceof ServerError ? (error.details.reason ?? error.code) : error
    }
  }
  return { clock, lines, oidc, check }
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('a token of an identity provider', () => {
  test('names a user of this provider, and is checked once', async () => {
    await using issuer = await openIssuer()
    const { clock, oidc } = setUp([issuer.settings])
    const token = await issuer.token(clock.now(), { email: 'ada@example.com', email_verified: true, groups: ['staff'] })

    const first = oidc.check(token)
    expect(first).toBeInstanceOf(Promise)
    const identity = {
      user: 'corp:ada',
      role: 'user',
      isAdmin: false,
      groups: ['staff'],
      email: 'ada@example.com',
      source: 'oidc',
      isBrowser: false,
      endsAt: clock.now() + 300_000,
    }
    expect(await first).toEqual(identity)
    // No promise, no signature, no request.
    expect(oidc.check(token)).toEqual(identity)
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys'])
  })

  test('is refused when it has ended, also if it was checked before', async () => {
    await using issuer = await openIssuer()
    const { clock, check } = setUp([issuer.settings])
    const token = await issuer.token(clock.now())

    expect(await check(token)).toBe('corp:ada')
    clock.advance(300_000)
    expect(await check(token)).toBe('expired')
  })

  test('that several requests bring at once is checked once', async () => {
    await using issuer = await openIssuer()
    const { clock, oidc } = setUp([issuer.settings])
    const token = await issuer.token(clock.now())
    const all = await Promise.all(Array.from({ length: 50 }, () => oidc.check(token)))
    expect(new Set(all).size).toBe(1)
    expect(issuer.asked.length).toBe(2)
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['another audience', { aud: 'somebody-else' }, 'wrong_audience'],
    ['no audience', { aud: undefined }, 'wrong_audience'],
    ['no end', { exp: undefined }, 'missing_claim'],
    ['a start in the future', { nbf: 1_900_000_000 }, 'not_yet_valid'],
    ['an end in the past', { exp: 1_700_000_000 }, 'expired'],
    ['no user', { sub: undefined }, 'missing_claim'],
    ['a user that is no text', { sub: { name: 'ada' } }, 'missing_claim'],
    ['a user with letters of another script', { sub: 'аda' }, 'unusable_name'],
    ['a user with a comma', { sub: 'ada,bob' }, 'unusable_name'],
    ['the user that means everybody', { sub: '*' }, 'unusable_name'],
    ['a long user', { sub: 'a'.repeat(129) }, 'unusable_name'],
    ['another issuer', { iss: 'https://evil.example.com' }, 'unknown_issuer'],
    ['no issuer', { iss: undefined }, 'unknown_issuer'],
  ])('with %s is refused', async (_name, claims, reason) => {
    await using issuer = await openIssuer()
    const { clock, check } = setUp([issuer.settings])
    expect(await check(await issuer.token(clock.now(), claims))).toBe(reason)
  })

  test('that nobody signed, or that somebody else signed, is refused', async () => {
    await using issuer = await openIssuer()
    const rsa = await issuer.newKey('rsa', 'RS256')
    issuer.published = [issuer.key.jwk, rsa.jwk]
    const { clock, check } = setUp([issuer.settings])
    const claims = { iss: issuer.url, aud: 'quarterdeck', sub: 'ada', exp: Math.floor(clock.now() / 1000) + 300 }
    const unsigned = new UnsecuredJWT(claims).encode()
    // The classic: the public key, which everybody has, as the secret of a symmetric signature.
    const pem = await exportSPKI((await importJWK(rsa.jwk, 'RS256', { extractable: true })) as CryptoKey)
    const head = `${encoded({ alg: 'HS256', typ: 'JWT', kid: 'rsa' })}.${encoded(claims)}`
    const confused = `${head}.${createHmac('sha256', pem).update(head).digest('base64url')}`
    const stranger = await openIssuer()
    await using _other = stranger
    const forged = await stranger.token(clock.now(), { iss: issuer.url })
    const good = await issuer.token(clock.now())
    const [header = '', , signature = ''] = good.split('.')

    expect(await check(unsigned)).toBe('wrong_algorithm')
    expect(await check(unsigned.replace(/\.$/, '.AAAA'))).toBe('wrong_algorithm')
    expect(await check(confused)).toBe('wrong_algorithm')
    expect(await check(forged)).toBe('wrong_signature')
    expect(await check(`${header}.${encoded({ ...claims, sub: 'root' })}.${signature}`)).toBe('wrong_signature')
    expect(await check(`${header}.${encoded(claims)}.`)).toBe('wrong_signature')
  })

  test('with a key of its own in the header is checked with the keys of the issuer', async () => {
    await using issuer = await openIssuer()
    const { clock, check } = setUp([issuer.settings])
    const mine = await issuer.newKey('mine')
    const header = { jwk: mine.jwk, jku: 'http://127.0.0.1:1/keys', kid: 'first' }
    expect(await check(await issuer.token(clock.now(), {}, { key: mine, header }))).toBe('wrong_signature')
  })

  test('of another kind is refused', async () => {
    await using issuer = await openIssuer()
    const { clock, check } = setUp([issuer.settings])
    const typed = (typ: string) => issuer.token(clock.now(), {}, { header: { typ } })
    expect(await check(await typed('logout+jwt'))).toBe('wrong_type')
    expect(await check(await typed('at+jwt'))).toBe('corp:ada')
    const critical = await issuer.token(clock.now(), {}, { header: { crit: ['exp'], exp: 1 } }).catch(() => 'not made')
    expect(critical).toBe('not made')
    expect(await check(`${encoded({ alg: 'ES256', crit: ['x'], x: 1 })}.${encoded({ iss: issuer.url })}.AA`)).toBe(
      'wrong_algorithm',
    )
  })

  test('that is too long, encrypted, nested or no token at all is not even looked at', async () => {
    await using issuer = await openIssuer()
    const { clock, check } = setUp([issuer.settings])
    const inner = await issuer.token(clock.now())
    expect(await check(await issuer.token(clock.now(), { more: 'x'.repeat(12_000) }))).toBe('malformed')
    expect(await check('eyJhbGciOiJkaXIifQ.a.b.c.d')).toBe('encrypted')
    expect(await check(`${encoded({ alg: 'ES256', cty: 'JWT' })}.${Buffer.from(inner).toString('base64url')}.AA`)).toBe(
      'malformed',
    )
    expect(await check(`${encoded({ alg: 'ES256' })}.${encoded(['a', 'list'])}.AA`)).toBe('malformed')
    expect(await check('qd_some-token-of-this-server')).toBe(null)
    expect(await check('a.b.c')).toBe(null)
    expect(issuer.asked).toEqual([])
  })

  test.each<[string, string, unknown]>([
    ['that breaks off', Buffer.from('{"alg":').toString('base64url'), 'malformed'],
    ['without an algorithm', encoded({ ab: 1 }), 'malformed'],
    ['whose algorithm is a number', encoded({ alg: 5 }), 'malformed'],
    ['whose key id is an object', encoded({ alg: 'ES256', kid: {} }), 'unknown_key'],
    ['whose type is a list', encoded({ alg: 'ES256', typ: ['at+jwt'] }), 'wrong_type'],
  ])('with a header %s is refused', async (_name, header, reason) => {
    await using issuer = await openIssuer()
    const { check } = setUp([issuer.settings])
    expect(await check(`${header}.${encoded({ iss: issuer.url })}.AA`)).toBe(reason)
  })

  test('is refused if the key of its issuer is broken', async () => {
    await using issuer = await openIssuer()
    const { clock, check } = setUp([issuer.settings])
    issuer.published = [{ ...issuer.key.jwk, x: 'AA' }]
    expect(await check(await issuer.token(clock.now()))).toBe('unknown_key')
  })

  test('is bound to its own issuer: two providers cannot have the same user', async () => {
    await using one = await openIssuer()
    await using other = await openIssuer({ name: 'partner' })
    const { clock, check } = setUp([one.settings, other.settings])

    expect(await check(await one.token(clock.now()))).toBe('corp:ada')
    expect(await check(await other.token(clock.now()))).toBe('partner:ada')
    expect(await check(await other.token(clock.now(), { iss: one.url }))).toBe('wrong_signature')
  })
})

describe('what the claims say', () => {
  const claims = {
    preferred_username: 'ada@example.com',
    'https://example.com/tenant': 'blue',
    realm_access: { roles: ['sre', 'staff', 7] },
    roles: 'platform',
  }
  const named = { user: 'preferred_username', groups: 'realm_access.roles', role: 'roles' }

  async function person(
    settings: Partial<IssuerSettings>,
    more: Record<string, unknown> = {},
    listed: Partial<ListedOperators> = {},
  ) {
    await using issuer = await openIssuer({ claims: named, ...settings })
    const { clock, oidc } = setUp([issuer.settings], listed)
    return await oidc.check(await issuer.token(clock.now(), { ...claims, ...more }))
  }

  test('gives the name, the groups and the role', async () => {
    const rules = { user: ['staff'], operator: ['sre'], admin: [] }
    expect(await person({ roles: rules })).toMatchObject({
      user: 'corp:ada@example.com',
      role: 'operator',
      isAdmin: false,
      groups: ['sre', 'staff', '7', 'platform'],
    })
    expect(await person({ roles: { ...rules, admin: ['platform'] } })).toMatchObject({
      role: 'operator',
      isAdmin: true,
    })
    expect(await person({ roles: { ...rules, operator: ['none'] } })).toMatchObject({ role: 'user' })
    await expect(person({ roles: { user: ['hr'], operator: [], admin: [] } })).rejects.toMatchObject({
      code: 'forbidden',
    })
  })

  test('people and groups that the settings list as operators are operators', async () => {
    expect(await person({})).toMatchObject({ role: 'user' })
    const byLogin = { operators: [{ logins: ['corp:ada@example.com'] }] }
    expect(await person({}, {}, byLogin)).toMatchObject({ role: 'operator', isAdmin: false })
    expect(await person({}, {}, { operatorGroups: [{ group: 'sre' }] })).toMatchObject({ role: 'operator' })
    expect(await person({}, {}, { operators: [{ logins: ['partner:ada@example.com'] }] })).toMatchObject({
      role: 'user',
    })
  })

  test('claims that must be there are looked at by name and by path', async () => {
    const required = (name: string, ...values: string[]) => person({ required: { [name]: values } })
    expect(await required('https://example.com/tenant', 'green', 'blue')).toMatchObject({ role: 'user' })
    expect(await required('realm_access.roles', '7')).toMatchObject({ role: 'user' })
    for (const [name, value] of [
      ['https://example.com/tenant', 'green'],
      ['missing', 'x'],
      ['__proto__.x', 'x'],
      ['constructor.name', 'Object'],
    ] as const) {
      await expect(required(name, value)).rejects.toMatchObject({ details: { reason: 'wrong_claim' } })
    }
  })

  test('an address that was not verified names nobody', async () => {
    const byEmail = { claims: { ...named, user: 'email' } }
    const email = 'a@example.com'
    const refused = { code: 'unauthorized', details: { reason: 'unverified_email' } }
    const known = { user: 'corp:a@example.com', email }
    for (const verified of [true, 'true']) {
      expect(await person(byEmail, { email, email_verified: verified })).toMatchObject(known)
    }
    for (const more of [{}, { email_verified: false }, { email_verified: 'false' }, { email_verified: null }]) {
      await expect(person(byEmail, { email, ...more })).rejects.toMatchObject(refused)
      expect(await person({}, { email, ...more })).toMatchObject({ email: null })
    }

    const assumed = { ...byEmail, assumeVerifiedEmail: true }
    expect(await person(assumed, { email })).toMatchObject(known)
    await expect(person(assumed, { email, email_verified: false })).rejects.toMatchObject(refused)
  })
})

describe('the keys of an issuer', () => {
  const keysAsked = (issuer: LocalIssuer) => issuer.asked.filter((path) => path === '/keys').length

  test('are fetched again when a token names a new one, but not for every made-up name', async () => {
    await using issuer = await openIssuer()
    const { clock, check } = setUp([issuer.settings])
    const second = await issuer.newKey('second')
    const sign = (kid: string, sub: string) => issuer.token(clock.now(), { sub }, { key: second, header: { kid } })

    expect(await check(await issuer.token(clock.now()))).toBe('corp:ada')
    issuer.published = [issuer.key.jwk, second.jwk]
    // Just fetched: a stranger could make us ask all the time.
    expect(await check(await sign('second', 'bob'))).toBe('unknown_key')
    clock.advance(30_000)
    expect(await check(await sign('second', 'bob'))).toBe('corp:bob')
    expect(keysAsked(issuer)).toBe(2)
    clock.advance(30_000)
    const madeUp = await Promise.all(Array.from({ length: 20 }, (_, i) => sign(`made-up-${i}`, 'eve')))
    expect(new Set(await Promise.all(madeUp.map(check)))).toEqual(new Set(['unknown_key']))
    expect(keysAsked(issuer)).toBe(3)
  })

  test('that the issuer no longer publishes stop counting for new tokens', async () => {
    await using issuer = await openIssuer()
    const { clock, check } = setUp([issuer.settings])
    expect(await check(await issuer.token(clock.now()))).toBe('corp:ada')
    issuer.published = [(await issuer.newKey('second')).jwk]
    clock.advance(10 * 60_000)
    // They are fetched in the background, and nobody waits.
    expect(await check(await issuer.token(clock.now(), { sub: 'bob' }))).toBe('corp:bob')
    await expect.poll(() => keysAsked(issuer)).toBe(2)
    await expect.poll(async () => check(await issuer.token(clock.now(), { sub: 'eve' }))).toBe('unknown_key')
  })

  test('go on for a day while the issuer is away, and then the server says so', async () => {
    const { url, settings, ...issuer } = await openIssuer()
    const { clock, check, lines } = setUp([{ ...settings, jwksUri: `${url}/keys` }])
    const token = async (sub: string) => issuer.token(clock.now(), { sub, iss: url })
    expect(await check(await token('ada'))).toBe('corp:ada')
    await issuer[Symbol.asyncDispose]()

    clock.advance(60 * 60_000)
    expect(await check(await token('bob'))).toBe('corp:bob')
    await expect
      .poll(() => lines.map(({ message }) => message))
      .toContain('the keys of an identity provider could not be fetched')
    clock.advance(23 * 60 * 60_000 - 1)
    expect(await check(await token('cy'))).toBe('corp:cy')
    clock.advance(1)
    expect(await check(await token('dee'))).toBe('identity_unavailable')
  })

  test('are not asked for again and again while the issuer is away', async () => {
    await using issuer = await openIssuer()
    issuer.answer = (_request, response) => response.writeHead(500).end()
    const { clock, check } = setUp([issuer.settings])
    const token = (sub: string) => issuer.token(clock.now(), { sub })
    for (const sub of ['a', 'b', 'c']) expect(await check(await token(sub))).toBe('identity_unavailable')
    expect(issuer.asked.length).toBe(1)
    issuer.answer = null
    clock.advance(30_000)
    expect(await check(await token('a'))).toBe('corp:a')
  })

  test.each<[string, LocalIssuer['answer']]>([
    ['too much', (_request, response) => response.writeHead(200).end(`{"keys": [${' '.repeat(600_000)}]}`)],
    ['no JSON', (_request, response) => response.writeHead(200).end('<html>')],
    ['something else', (_request, response) => response.writeHead(200).end('{"keys": "none"}')],
    ['a redirect', (_request, response) => response.writeHead(302, { location: '/keys' }).end()],
    [
      'a document of another issuer',
      (_request, response) =>
        response.writeHead(200).end(JSON.stringify({ issuer: 'https://other', jwks_uri: 'https://other/keys' })),
    ],
  ])('an issuer that answers with %s has none', async (_name, answer) => {
    await using issuer = await openIssuer()
    issuer.answer = answer
    const { clock, check } = setUp([issuer.settings])
    expect(await check(await issuer.token(clock.now()))).toBe('identity_unavailable')
  })

  test('an issuer that never answers is given up', async () => {
    await using issuer = await openIssuer()
    issuer.answer = () => {}
    const { clock, check } = setUp([issuer.settings])
    const checked = check(await issuer.token(clock.now()))
    await expect.poll(() => issuer.asked.length).toBe(1)
    clock.advance(5_000)
    expect(await checked).toBe('identity_unavailable')
  })

  test('a token without a key id is checked with all that fit, and a key id that two keys share with both', async () => {
    await using issuer = await openIssuer()
    const second = await issuer.newKey('first')
    issuer.published = [issuer.key.jwk, second.jwk]
    const { clock, check } = setUp([issuer.settings])
    const stranger = await issuer.newKey('first')
    const token = (key: typeof second, sub: string, kid?: string) =>
      issuer.token(clock.now(), { sub }, { key, header: { kid } as Record<string, unknown> })

    expect(await check(await token(second, 'bob', 'first'))).toBe('corp:bob')
    expect(await check(await token(second, 'cy'))).toBe('corp:cy')
    expect(await check(await token(issuer.key, 'dee'))).toBe('corp:dee')
    expect(await check(await token(stranger, 'eve'))).toBe('wrong_signature')
    expect(await check(await token(stranger, 'eve', 'first'))).toBe('wrong_signature')
  })

  test('that are secrets, too small or for encryption are not used', async () => {
    await using issuer = await openIssuer()
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
    issuer.published = [
      { kty: 'oct', k: 'AAAA', kid: 'first', alg: 'HS256' },
      { ...issuer.key.jwk, use: 'enc' },
      { ...publicKey.export({ format: 'jwk' }), kty: 'RSA', kid: 'small', alg: 'RS256' },
    ]
    const { clock, check } = setUp([issuer.settings])
    expect(await check(await issuer.token(clock.now()))).toBe('unknown_key')
    const head = `${encoded({ alg: 'RS256', kid: 'small' })}.${encoded({ iss: issuer.url, aud: 'quarterdeck', sub: 'eve', exp: 1e12 })}`
    expect(await check(`${head}.AAAA`)).toBe('unknown_key')
  })
})
