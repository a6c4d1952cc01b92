import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { Role } from '../route.ts'
import {
  createManualClock,
  eveToken,
  knownToken,
  operatorToken,
  testAuth,
  userToken,
} from '../testing/server-fixture.ts'
import type { Access, AuthOptions } from './auth.ts'
import type { Token } from './tokens/token.ts'

function setUp(options: Partial<AuthOptions> = {}) {
  const clock = createManualClock()
  const auth = testAuth({ tokens: () => [userToken, operatorToken], clock, ...options })
  function ask(authorization: string | undefined, role: Role = 'user', address = '10.0.0.1'): unknown {
    try {
      return atOnce(auth.authenticate(authorization, address, role)).principal
    } catch (error) {
      return error instanceof ServerError ? { code: error.code, ...error.details } : error
    }
  }
  return { clock, auth, ask }
}

/** A token of this server is known at once: no request of its holder waits for a promise. */
function atOnce(access: Access | Promise<Access>): Access {
  if (access instanceof Promise) throw new Error('it took a promise')
  return access
}

const bearer = ({ token }: { token: string }) => `Bearer ${token}`
const local = { owner: 'local_user', role: 'user', hasToken: false }
const nobody = { owner: 'local_user', role: 'public', hasToken: false }
const ada = { owner: 'ada', role: 'user', hasToken: true }
const operator = { owner: 'local_user', role: 'operator', hasToken: true }
const unauthorized = { code: 'unauthorized' }

describe('who may do what', () => {
  test.each([
    // The credential, then the result on a public, a user and an operator route.
    ['no token on loopback', false, undefined, local, local, unauthorized],
    ["a user's token on loopback", false, bearer(userToken), ada, ada, { code: 'forbidden' }],
    ["the operator's token on loopback", false, bearer(operatorToken), operator, operator, operator],
    ['a wrong token on loopback', false, 'Bearer wrong-token', nobody, unauthorized, unauthorized],
    ['no token beyond', true, undefined, nobody, unauthorized, unauthorized],
    ["a user's token beyond", true, bearer(userToken), ada, ada, { code: 'forbidden' }],
    ["the operator's token beyond", true, bearer(operatorToken), operator, operator, operator],
    ['a wrong token beyond', true, 'Bearer wrong-token', nobody, unauthorized, unauthorized],
  ])('%s', (_name, tokenRequired, authorization, onPublic, onUser, onOperator) => {
    const { ask } = setUp({ tokenRequired })

    expect([ask(authorization, 'public'), ask(authorization, 'user'), ask(authorization, 'operator')]).toEqual([
      onPublic,
      onUser,
      onOperator,
    ])
  })

  test('where clients must send a key, one that is none of ours counts as none, unless a token is needed', () => {
    const at = (authorization: string, options: Partial<AuthOptions> = {}) => {
      const { auth } = setUp(options)
      const ask = () => atOnce(auth.authenticate(authorization, '::1', 'user', { isLocal: true, takesAnyKey: true }))
      try {
        // More often than wrong tokens may be sent.
        return Array.from({ length: 20 }, () => ask().principal).at(-1)
      } catch (error) {
        return error instanceof ServerError ? { code: error.code, ...error.details } : error
      }
    }

    expect(at('Bearer sk-anything')).toEqual(local)
    expect(at(bearer(userToken))).toEqual(ada)
    expect(at('Bearer qd_was-revoked')).toEqual(unauthorized)
    expect(at('Bearer sk-anything', { tokenRequired: true })).toEqual(unauthorized)
  })

  test('a caller that may be on another machine needs a token, unless the server is insecure', () => {
    const from = (isLocal: boolean, insecure: boolean) => {
      const { auth } = setUp({ insecure })
      return () => atOnce(auth.authenticate(undefined, '10.0.0.1', 'user', { isLocal })).principal
    }
    expect(from(true, false)()).toEqual(local)
    expect(from(false, false)).toThrow('This route needs a token')
    expect(from(false, true)()).toEqual(local)
  })

  test.each([
    '',
    'Bearer',
    'Bearer ',
    userToken.token,
    `Basic ${userToken.token}`,
    `Bearer ${userToken.token} x`,
    `Bearer ${userToken.token.toUpperCase()}`,
    `Bearer ${userToken.token.slice(0, -1)}`,
    `Bearer ${userToken.token}, Bearer ${operatorToken.token}`,
  ])('refuses the header %j', (authorization) => {
    expect(setUp().ask(authorization)).toEqual(unauthorized)
  })

  test('the scheme may be written in any case', () => {
    expect(setUp().ask(`bearer ${userToken.token}`)).toEqual(ada)
  })

  test('a changed token table counts at once, also for callers that were admitted before', () => {
    let tokens: readonly Token[] = [userToken]
    const { auth, ask } = setUp({ tokens: () => tokens })
    const access = atOnce(auth.authenticate(bearer(userToken), '10.0.0.1', 'user'))

    tokens = [{ ...userToken }]
    expect(access.isValid()).toBe(true)
    tokens = [{ ...userToken, role: 'operator' }]
    expect(access.isValid()).toBe(false)
    tokens = []
    expect(access.isValid()).toBe(false)
    expect(ask(bearer(userToken))).toEqual(unauthorized)
  })
})

describe('a token that ends', () => {
  const ending = { ...knownToken('x'.repeat(32), 'bob', 'user'), expires_at: '2027-01-15T08:00:01.000Z' }

  test('is refused from then on, also where it was admitted before', () => {
    const { auth, ask, clock } = setUp({ tokens: () => [ending] })
    const access = atOnce(auth.authenticate(bearer(ending), '10.0.0.1', 'user'))

    clock.advance(999)
    expect(access.isValid()).toBe(true)
    clock.advance(1)
    expect(access.isValid()).toBe(false)
    expect(ask(bearer(ending))).toEqual({ code: 'unauthorized', reason: 'expired' })
    expect(ask(bearer(ending), 'public')).toEqual(nobody)
  })

  test('says what it is limited to', () => {
    const limited = { ...ending, scopes: ['read'] as const, agent: 'crow' }
    expect(setUp({ tokens: () => [limited] }).ask(bearer(limited))).toEqual({
      owner: 'bob',
      role: 'user',
      hasToken: true,
      scopes: ['read'],
      agent: 'crow',
      expiresAt: 1_800_000_001_000,
    })
  })
})

describe('failed logins', () => {
  const limited = (seconds: number) => ({ code: 'rate_limited', retry_after_seconds: seconds })

  test('the eleventh within a minute is refused, only from that address', () => {
    const { clock, ask } = setUp()

    for (let i = 0; i < 10; i += 1) expect(ask(`Bearer wrong-${i}`)).toEqual(unauthorized)
    expect(ask('Bearer wrong-10')).toEqual(limited(60))
    expect(ask('Bearer wrong-10', 'user', '10.0.0.2')).toEqual(unauthorized)
    expect(ask(undefined)).toEqual(local)
    clock.advance(60_000)
    expect(ask('Bearer wrong-11')).toEqual(unauthorized)
  })

  test('a correct guess is not confirmed while the address waits, not even by a public route', () => {
    const { ask } = setUp()
    for (let i = 0; i < 10; i += 1) ask(`Bearer wrong-${i}`, 'public')

    expect(ask(bearer(userToken))).toEqual(limited(60))
    expect(ask(bearer(userToken), 'public')).toEqual(nobody)
  })

  test('a token too long to guess still passes, so that others behind the same proxy cannot lock out its owner', () => {
    const long = knownToken('x'.repeat(32), 'bob', 'user')
    const { ask } = setUp({ tokens: () => [long] })
    for (let i = 0; i < 11; i += 1) ask(`Bearer wrong-${i}`)

    expect(ask(bearer(long))).toEqual({ owner: 'bob', role: 'user', hasToken: true })
  })
})

test('looks for tokens of other processes, but not for whoever keeps sending wrong ones', async () => {
  let looks = 0
  const lookAgain = async () => {
    looks += 1
  }
  const { auth } = setUp({ tokenRequired: true, lookAgain })
  for (let i = 0; i < 30; i += 1) {
    const wrong = `Bearer ${String(i).padStart(40, 'x')}`
    await expect((async () => auth.authenticate(wrong, '10.0.0.9', 'user'))()).rejects.toThrow()
  }

  expect(looks).toBe(10)
})

test('a token that may have been revoked elsewhere is looked for before it counts, and refused if nobody can look', async () => {
  const state = { isFresh: true, isAway: false, tokens: [operatorToken, eveToken] }
  const lookAgain = async () => {
    if (state.isAway) throw new ServerError('storage_failed', 'away')
  }
  const { auth, ask } = setUp({ tokens: () => state.tokens, isFresh: () => state.isFresh, lookAgain })
  const eve = { owner: 'eve', role: 'operator', hasToken: true, tokenId: 'token-of-eve' }
  const asked = async () => auth.authenticate(bearer(eveToken), '10.0.0.1', 'operator')
  expect(ask(bearer(eveToken), 'operator')).toEqual(eve)

  state.isFresh = false
  expect((await asked()).principal).toEqual(eve)
  state.isAway = true
  await expect(asked()).rejects.toMatchObject({ code: 'storage_failed' })
  // Nobody can revoke a token from a setting.
  expect(ask(bearer(operatorToken), 'operator')).toEqual(operator)
  state.isAway = false
  state.tokens = [operatorToken]
  await expect(asked()).rejects.toMatchObject({ code: 'unauthorized' })
})
