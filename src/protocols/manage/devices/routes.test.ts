import { describe, expect, test } from 'vitest'
import { proofText } from '../../../http/auth/console/testing/open-proofs.ts'
import { createSoftwareAuthenticator } from '../../../http/auth/console/testing/software-authenticator.ts'
import { eveToken, exchange, operatorToken, statusOfText, userToken } from '../../../http/testing/server-fixture.ts'
import { openSignIn } from './testing/open-sign-in.ts'

const operator = { token: operatorToken.token }
const eve = { token: eveToken.token }
const HOUR = 3_600_000

const codeOf = ({ status, body }: { status: number; body: { code?: string } | null }) => `${status} ${body?.code}`

describe('a one-time code', () => {
  test('signs a browser in, once', async () => {
    await using door = await openSignIn()
    const { text: code } = await door.codes.make({ user: 'local_user', isVouched: false })

    const { status, body } = await door.post('/sign-in', { code, label: 'Firefox' })

    const device = {
      device_id: body.device.device_id,
      user: 'operator',
      label: 'Firefox',
      created_at: '2027-01-15T08:00:00.000Z',
      last_used_at: '2027-01-15T08:00:00.000Z',
      expires_at: '2027-01-15T20:00:00.000Z',
      kept: false,
      current: true,
    }
    expect([status, body]).toEqual([200, { token: expect.stringMatching(/^qd_[\w-]{43}$/), user: 'operator', device }])
    expect((await door.get('/me', { token: body.token })).body).toEqual({
      user: 'operator',
      ...{ signed_in_by: 'device', groups: [], email: null },
      owner: 'local_user',
      role: 'operator',
      admin: true,
      device,
      passkeys: { registered: 0, mine: 0, possible: true, why_not: null },
      version: '1.2.3',
      program: { name: 'quarterdeck', data_dir_flag: '' },
      agent: 'tester',
      operators: ['local_user', 'eve'],
    })
    expect(codeOf(await door.post('/sign-in', { code }))).toBe('401 code_invalid')
    const about = { session: null, run: null, agent: '', tool: '', call: null }
    expect(door.trail).toEqual([
      {
        at: door.clock.now(),
        kind: 'signed_in',
        by: 'operator',
        ...about,
        details: { device: device.device_id, channel: 'console', with: 'code' },
      },
    ])
  })

  test('that two browsers send at once signs one of them in', async () => {
    await using door = await openSignIn()
    const { text: code } = await door.codes.make({ user: 'local_user', isVouched: false })

    const all = await Promise.all(Array.from({ length: 5 }, () => door.post('/sign-in', { code })))

    expect(all.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401])
    expect(await door.devices.list()).toHaveLength(1)
  })

  test('is too old after five minutes', async () => {
    await using door = await openSignIn()
    const { text: code } = await door.codes.make({ user: 'local_user', isVouched: false })
    door.clock.advance(300_000)

    expect(codeOf(await door.post('/sign-in', { code }))).toBe('401 code_invalid')
  })

  test('cannot be guessed: after ten wrong ones an address waits, and a right one still works', async () => {
    await using door = await openSignIn()
    const tries = await Promise.all(
      Array.from({ length: 100 }, (_, i) => door.post('/sign-in', { code: `wrong ${i}` })),
    )
    const wrong = await door.post('/sign-in', {}, { token: 'qd_a-token-that-nobody-has' })

    expect(tries.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(codeOf(tries.at(-1) ?? wrong)).toBe('429 rate_limited')
    expect(codeOf(wrong)).toBe('429 rate_limited')
    expect(await door.signedIn()).toMatch(/^qd_/)
    expect((await door.post('/sign-in', {}, operator)).status).toBe(200)
    door.clock.advance(60_000)
    expect(codeOf(await door.post('/sign-in', { code: 'wrong' }))).toBe('401 code_invalid')
  })

  test('for a new device is made by an operator for themselves, and by an admin for another one', async () => {
    await using door = await openSignIn()

    const { status, body } = await door.post('/devices/codes', { user: 'eve' }, operator)

    expect([status, body]).toEqual([
      201,
      {
        code: expect.stringMatching(/^[\w-]{22}$/),
        url: `http://localhost:8000/console#code=${body.code}`,
        expires_at: '2027-01-15T08:05:00.000Z',
      },
    ])
    expect((await door.post('/sign-in', { code: body.code })).body.user).toBe('eve')
    expect(door.trail.map(({ kind, by, details }) => [kind, by, details])).toEqual([
      ['device_code_made', 'operator', { user: 'eve', channel: 'http' }],
      ['signed_in', 'eve', expect.anything()],
    ])
    expect((await door.post('/devices/codes', { user: 'eve' }, eve)).status).toBe(201)
    // She would be two of the people whom a quorum asks for.
    expect(codeOf(await door.post('/devices/codes', { user: 'operator' }, eve))).toBe('403 forbidden')
    expect(codeOf(await door.post('/devices/codes', { user: 'local_user' }, eve))).toBe('403 forbidden')
    expect(codeOf(await door.post('/devices/codes', { user: 'mallory' }, operator))).toBe('403 forbidden')
    expect(codeOf(await door.post('/devices/codes', { user: '../x' }, operator))).toBe('400 invalid_request')
  })
})

describe('POST /sign-in', () => {
  test.each([
    ['the operator’s token', operator, {}, 200],
    ['a user’s token', { token: userToken.token }, {}, 403],
    ['a wrong token', { token: 'qd_a-token-that-nobody-has' }, {}, 401],
    ['nothing', {}, {}, 400],
    ['a code that is no text', {}, { code: 1 }, 400],
    ['a long label', operator, { label: 'x'.repeat(101) }, 400],
    ['a label with a hidden character', operator, { label: 'a\u202eb' }, 400],
    ['something else', operator, { role: 'operator' }, 400],
  ])('with %s', async (_name, headers, body, status) => {
    await using door = await openSignIn()

    expect((await door.post('/sign-in', body, headers)).status).toBe(status)
    expect(await door.devices.list()).toHaveLength(status === 200 ? 1 : 0)
  })

  test('does not make a second device of a first one', async () => {
    await using door = await openSignIn()

    expect(codeOf(await door.post('/sign-in', {}, { token: await door.signedIn() }))).toBe('403 forbidden')
  })

  test('is only for pages of this server', async () => {
    await using door = await openSignIn()
    const from = async (headers: Record<string, string>) =>
      codeOf(await door.post('/sign-in', {}, { ...operator, ...headers }))

    expect(await from({ Origin: 'http://localhost:9999' })).toBe('403 origin_not_allowed')
    expect(await from({ Origin: door.origin, 'Sec-Fetch-Site': 'same-site' })).toBe('403 origin_not_allowed')
    expect(await from({ Origin: door.origin, 'Sec-Fetch-Site': 'same-origin' })).toBe('200 undefined')
  })
})

describe('a device', () => {
  test('works only for pages of this server, or for no page at all', async () => {
    await using door = await openSignIn()
    const token = await door.signedIn()
    const from = async (headers: Record<string, string>) => codeOf(await door.get('/me', { token, ...headers }))

    // The operator's own token is taken from every page of this machine.
    expect((await door.get('/me', { ...operator, Origin: 'http://localhost:5173' })).status).toBe(200)
    expect(await from({ Origin: 'http://localhost:5173' })).toBe('403 origin_not_allowed')
    expect(await from({ Origin: `http://127.0.0.1:${door.port}` })).toBe('403 origin_not_allowed')
    expect(await from({ 'Sec-Fetch-Site': 'cross-site' })).toBe('403 origin_not_allowed')
    expect(await from({ 'Sec-Fetch-Site': 'none' })).toBe('403 origin_not_allowed')
    expect(await from({ Origin: door.origin })).toBe('200 undefined')
    expect(await from({ 'Sec-Fetch-Site': 'same-origin' })).toBe('200 undefined')
  })

  test('is signed out after 12 hours without use, and after 30 days if it was to be kept', async () => {
    await using door = await openSignIn()
    const [short, long] = [
      (await door.post('/sign-in', {}, operator)).body.token,
      (await door.post('/sign-in', { keep: true }, operator)).body.token,
    ]
    const statuses = async () => [
      (await door.get('/me', { token: short })).status,
      (await door.get('/me', { token: long })).status,
    ]

    door.clock.advance(11 * HOUR)
    expect(await statuses()).toEqual([200, 200])
    door.clock.advance(11 * HOUR)
    expect(await statuses()).toEqual([200, 200])
    door.clock.advance(12 * HOUR)
    expect(await statuses()).toEqual([401, 200])
    door.clock.advance(30 * 24 * HOUR)
    expect(await statuses()).toEqual([401, 401])
    expect(await door.devices.list()).toEqual([])
  })

  test('signs itself out', async () => {
    await using door = await openSignIn()
    const token = await door.signedIn()

    expect((await door.post('/sign-out', {}, { token })).status).toBe(204)
    expect((await door.get('/me', { token })).status).toBe(401)
    expect(codeOf(await door.post('/sign-out', {}, operator))).toBe('400 invalid_request')
    expect(door.trail.at(-1)).toMatchObject({ kind: 'signed_out', by: 'operator', details: { channel: 'console' } })
  })

  test('is seen and revoked by its person and by an admin, and by nobody else', async () => {
    await using door = await openSignIn()
    const [mine, hers] = [await door.signedIn('local_user'), await door.signedIn('eve')]
    const list = async (headers: Record<string, string>): Promise<{ device_id: string; user: string }[]> =>
      (await door.get('/devices', headers)).body.devices

    expect((await list({ token: hers })).map((one) => one.user)).toEqual(['eve'])
    const [first, second] = await list(operator)
    expect([first?.user, second?.user]).toEqual(['operator', 'eve'])
    expect(codeOf(await door.remove(`/devices/${first?.device_id}`, eve))).toBe('404 record_not_found')
    expect((await door.remove(`/devices/${second?.device_id}`, operator)).status).toBe(204)
    expect(codeOf(await door.remove(`/devices/${second?.device_id}`, operator))).toBe('404 record_not_found')
    expect((await door.get('/me', { token: hers })).status).toBe(401)
    expect((await door.get('/me', { token: mine })).status).toBe(200)
    expect(door.trail.at(-1)).toMatchObject({
      kind: 'device_revoked',
      by: 'operator',
      details: { device: second?.device_id, user: 'eve', channel: 'http' },
    })
  })

  test.each(['/me', '/devices', '/passkeys'])('GET %s is for operators', async (path) => {
    await using door = await openSignIn()

    expect((await door.get(path)).status).toBe(401)
    expect((await door.get(path, { token: userToken.token })).status).toBe(403)
  })
})

describe('once somebody has a passkey', () => {
  test('a new device needs it, and a wrong proof does not use the code up', async () => {
    await using door = await openSignIn()
    const token = await door.signedIn()
    const { key } = await door.addPasskey(token)
    const { text: code } = await door.codes.make({ user: 'local_user', isVouched: false })

    const asked = await door.post('/sign-in', { code })

    expect(asked).toMatchObject({
      status: 403,
      body: {
        code: 'passkey_required',
        url: 'http://localhost:8000/console/settings',
        passkey: {
          challenge_id: expect.any(String),
          options: {
            rpId: 'localhost',
            userVerification: 'required',
            allowCredentials: [{ id: key.credentialId, transports: ['internal'], type: 'public-key' }],
          },
        },
      },
    })
    const sign = (with_: typeof key, { challenge_id, options }: { challenge_id: string; options: never }) => ({
      'X-Passkey': proofText(challenge_id, with_.get(options, door.place)),
    })
    const wrong = await door.post('/sign-in', { code }, sign(createSoftwareAuthenticator(), asked.body.passkey))
    expect(codeOf(wrong)).toBe('403 passkey_required')
    // The answer brings the next challenge.
    const right = sign(key, wrong.body.passkey)
    expect((await door.post('/sign-in', { code }, right)).status).toBe(200)
    expect(door.trail.at(-1)).toMatchObject({
      kind: 'signed_in',
      details: { with: 'code', passkey: (await door.passkeys.list())[0]?.id },
    })
    expect(codeOf(await door.post('/sign-in', {}, { ...operator, ...right }))).toBe('403 passkey_required')
  })

  test('somebody who has none is let in by somebody who has one, and may then add their own', async () => {
    await using door = await openSignIn()
    const token = await door.signedIn()
    const { key } = await door.addPasskey(token)
    const stranded = await door.post('/sign-in', {}, eve)
    expect(stranded.body).toMatchObject({
      code: 'passkey_required',
      passkey: null,
      detail: expect.stringContaining('ask somebody who has one to add your device'),
    })
    await expect(door.addPasskey(eve.token)).rejects.toThrow('passkey_required')
    expect(codeOf(await door.post('/devices/codes', {}, eve))).toBe('403 passkey_required')

    const proof = await door.proofFor(token, { kind: 'device_code' }, key)
    const { body } = await door.post('/devices/codes', { user: 'eve' }, { token, ...proof })
    const hers = (await door.post('/sign-in', { code: body.code })).body.token
    const added = await door.addPasskey(hers)

    expect((await door.get('/passkeys', { token: hers })).body).toMatchObject({
      passkeys: [{ passkey_id: added.id, user: 'eve', last_used_at: null }],
      possible: true,
    })
    // Her second one needs the first.
    await expect(door.addPasskey(hers)).rejects.toThrow('passkey_required')
    const second = await door.addPasskey(hers, await door.proofFor(hers, { kind: 'passkey' }, added.key))
    expect(door.trail.at(-1)).toMatchObject({
      kind: 'passkey_added',
      by: 'eve',
      details: { passkey: second.id, user: 'eve', channel: 'console', proof: added.id },
    })
  })

  test('a device that was signed in before cannot add a first passkey of somebody else', async () => {
    await using door = await openSignIn()
    const hers = await door.signedIn('eve')
    await door.addPasskey(await door.signedIn())

    await expect(door.addPasskey(hers)).rejects.toThrow('passkey_required')
  })

  test('removing one needs a proof, and the last one ends it all', async () => {
    await using door = await openSignIn()
    const token = await door.signedIn()
    const { key, id } = await door.addPasskey(token)

    expect(codeOf(await door.remove(`/passkeys/${id}`, { token }))).toBe('403 passkey_required')
    expect(codeOf(await door.remove(`/passkeys/${id}`, eve))).toBe('404 record_not_found')
    const wrong = await door.proofFor(token, { kind: 'device_code' }, key)
    expect(codeOf(await door.remove(`/passkeys/${id}`, { token, ...wrong }))).toBe('403 passkey_required')
    const proof = await door.proofFor(token, { kind: 'passkey' }, key)
    expect((await door.remove(`/passkeys/${id}`, { token, ...proof })).status).toBe(204)
    expect((await door.post('/sign-in', {}, operator)).status).toBe(200)
    expect(codeOf(await door.post('/passkeys/challenges', { for: { kind: 'token' } }, { token }))).toBe(
      '400 invalid_request',
    )
  })

  test('a passkey is not asked for where it does not work', async () => {
    await using door = await openSignIn()
    const token = await door.signedIn()
    await door.addPasskey(token)
    const headers = { Host: `127.0.0.1:${door.port}` }
    const raw = [
      'POST /sign-in HTTP/1.1',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `Authorization: Bearer ${operatorToken.token}`,
      'Content-Type: application/json',
      'Content-Length: 2',
      'Connection: close',
      '',
      '{}',
    ].join('\r\n')

    const answer = await exchange(door.port, raw)

    expect(statusOfText(answer)).toBe(403)
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      code: 'passkey_required',
      passkey: null,
      detail: `Signing in needs a passkey, and yours work only at localhost. Browsers have no passkeys for an IP address. Open http://localhost:${door.port}/console instead.`,
    })
  })
})

test.each([
  ['/passkeys', {}],
  ['/passkeys', { challenge_id: 'x', response: { id: 'x' } }],
  ['/passkeys/options', { rp: 'evil.example' }],
  ['/passkeys/challenges', {}],
  ['/passkeys/challenges', { for: { kind: 'sign_in' } }],
  ['/passkeys/challenges', { for: { kind: 'decision', approval_id: 'x', digest: 'x', decision: 'reject' } }],
])('POST %s refuses %j', async (path, body) => {
  await using door = await openSignIn()

  expect(codeOf(await door.post(path, body, operator))).toBe('400 invalid_request')
})

describe('somebody whom a proxy has signed in', () => {
  const bob = { 'X-Forwarded-User': 'bob', 'X-Forwarded-Groups': 'sre' }

  test('is known without a token, and needs no device', async () => {
    await using door = await openSignIn()

    // Talking needs no token there.
    expect((await door.get('/sign-in')).body).toEqual({
      user: null,
      role: 'user',
      signed_in_by: null,
      passkey: false,
    })
    expect((await door.get('/sign-in', operator)).body).toEqual({
      user: 'operator',
      role: 'operator',
      signed_in_by: 'token',
      passkey: false,
    })
    expect((await door.get('/sign-in', { token: await door.signedIn() })).body).toMatchObject({
      signed_in_by: 'device',
    })
    expect((await door.get('/sign-in', bob)).body).toEqual({
      user: 'corp:bob',
      role: 'operator',
      signed_in_by: 'proxy',
      passkey: false,
    })
    expect((await door.get('/me', bob)).body).toMatchObject({
      user: 'corp:bob',
      admin: false,
      groups: ['sre'],
      device: null,
    })
    expect(codeOf(await door.post('/sign-in', {}, bob))).toBe('403 forbidden')
    const { text: code } = await door.codes.make({ user: 'local_user', isVouched: false })
    expect(codeOf(await door.post('/sign-in', { code }, bob))).toBe('403 forbidden')
    expect(codeOf(await door.post('/sign-out', {}, bob))).toBe('400 invalid_request')
  })

  test('adds a first passkey with a code of somebody who has one, and is one person for a proof', async () => {
    await using door = await openSignIn()
    const admin = await door.signedIn()
    const { key } = await door.addPasskey(admin)
    const makeCode = async (user: string) => {
      const proof = await door.proofFor(admin, { kind: 'device_code' }, key)
      return (await door.post('/devices/codes', { user }, { token: admin, ...proof })).body.code
    }
    const add = async (more: object, who: Record<string, string> = bob) => {
      const { body } = await door.post('/passkeys/options', {}, who)
      const made = createSoftwareAuthenticator()
      const response = made.create(body.options, door.place)
      return { made, answer: await door.post('/passkeys', { challenge_id: body.challenge_id, response, ...more }, who) }
    }

    expect(codeOf((await add({})).answer)).toBe('403 passkey_required')
    expect(codeOf((await add({ code: 'wrong' })).answer)).toBe('401 code_invalid')
    expect(codeOf((await add({ code: await makeCode('corp:cy') })).answer)).toBe('401 code_invalid')
    const { text: unvouched } = await door.codes.make({ user: 'corp:bob', isVouched: false })
    expect(codeOf((await add({ code: unvouched })).answer)).toBe('401 code_invalid')
    const code = await makeCode('corp:bob')
    // It signs nobody in, whoever finds it.
    expect(codeOf(await door.post('/sign-in', { code }))).toBe('403 forbidden')
    const { made, answer } = await add({ code })
    expect([answer.status, answer.body.user]).toEqual([201, 'corp:bob'])
    expect(codeOf((await add({ code })).answer)).toBe('401 code_invalid')
    // From now on a proof is theirs to give.
    const challenge = await door.post('/passkeys/challenges', { for: { kind: 'passkey' } }, bob)
    const proof = { 'X-Passkey': proofText(challenge.body.challenge_id, made.get(challenge.body.options, door.place)) }
    expect((await add({}, { ...bob, ...proof })).answer.status).toBe(201)
  })
})
