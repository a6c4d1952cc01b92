import { describe, expect, test } from 'vitest'
import { proofText } from '../../../http/auth/console/testing/open-proofs.ts'
import {
  createSoftwareAuthenticator,
  type SoftwareAuthenticator,
} from '../../../http/auth/console/testing/software-authenticator.ts'
import { eveToken, operatorToken } from '../../../http/testing/server-fixture.ts'
import { openSignIn } from './testing/open-sign-in.ts'

type Door = Awaited<ReturnType<typeof openSignIn>>
type Place = Parameters<SoftwareAuthenticator['get']>[1]

const operator = { token: operatorToken.token }
const codeOf = ({ status, body }: { status: number; body: { code?: string } | null }) => `${status} ${body?.code}`

/** A server where the operator has a passkey, and a browser that nobody is signed in at. */
async function openWithPasskey() {
  const door = await openSignIn()
  const token = await door.signedIn()
  const { key, id } = await door.addPasskey(token)
  return { door, token, key, id }
}

/** What a browser sends whose person agrees. */
async function answerTo(door: Door, key: SoftwareAuthenticator, place: Place = door.place) {
  const { status, body } = await door.post('/sign-in/challenges', {})
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { 'X-Passkey': proofText(body.challenge_id, key.get(body.options, place)) }
}

/** Nothing but what somebody puts back in. */
async function lockOut(door: Door): Promise<void> {
  door.held.tokens = []
  for (const { id } of await door.devices.list()) await door.devices.remove(id)
}

describe('a passkey alone', () => {
  test('signs its person in, and the trail says so', async () => {
    const { door, key, id } = await openWithPasskey()
    await using _ = door

    const { status, body } = await door.post('/sign-in', { label: 'Safari', keep: true }, await answerTo(door, key))

    expect([status, body.user, body.device]).toMatchObject([200, 'operator', { label: 'Safari', kept: true }])
    expect((await door.get('/me', { token: body.token })).body).toMatchObject({ user: 'operator', owner: 'local_user' })
    expect(door.trail.at(-1)).toMatchObject({
      kind: 'signed_in',
      by: 'operator',
      details: { device: body.device.device_id, channel: 'console', with: 'passkey', passkey: id },
    })
    expect((await door.passkeys.list())[0]?.lastUsedAt).toBe(door.clock.now())
  })

  test('is asked for without a name: nobody learns who has one, or what it is called', async () => {
    const { door, key } = await openWithPasskey()
    await using _ = door

    const { status, body } = await door.post('/sign-in/challenges', {})

    expect([status, body]).toEqual([
      200,
      {
        challenge_id: expect.any(String),
        options: {
          challenge: expect.any(String),
          rpId: 'localhost',
          allowCredentials: [],
          userVerification: 'required',
          timeout: 120_000,
        },
      },
    ])
    expect(JSON.stringify(body)).not.toContain(key.credentialId)
    const stranger = { user: null, role: 'user', signed_in_by: null }
    expect((await door.get('/sign-in')).body).toEqual({ ...stranger, passkey: true })
    expect((await door.get('/sign-in', operator)).body).toMatchObject({ user: 'operator', passkey: false })
  })

  test('is not offered where nobody has one, where it does not work, or to a page of somebody else', async () => {
    await using empty = await openSignIn()
    expect((await empty.get('/sign-in')).body.passkey).toBe(false)
    expect(codeOf(await empty.post('/sign-in/challenges', {}))).toBe('400 invalid_request')

    const { door } = await openWithPasskey()
    await using _ = door
    const foreign = { Origin: 'http://localhost:9999' }
    expect(codeOf(await door.post('/sign-in/challenges', {}, foreign))).toBe('403 origin_not_allowed')
    expect(codeOf(await door.post('/sign-in/challenges', { user: 'eve' }))).toBe('400 invalid_request')
    const number = await fetch(`http://127.0.0.1:${door.port}/sign-in`)
    expect(await number.json()).toMatchObject({ passkey: false })
  })

  test('counts once, for five minutes', async () => {
    const { door, key } = await openWithPasskey()
    await using _ = door
    const answer = await answerTo(door, key)
    const late = await answerTo(door, key)

    const both = await Promise.all([door.post('/sign-in', {}, answer), door.post('/sign-in', {}, answer)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
    door.clock.advance(300_000)
    const refused = await door.post('/sign-in', {}, late)
    expect([codeOf(refused), refused.body.detail]).toEqual([
      '401 unauthorized',
      'This passkey does not sign you in. It was used already, or it is older than five minutes. Try again.',
    ])
  })

  test('counts only for this page, with a person there, and with a key that was not removed or copied', async () => {
    const { door, token, key, id } = await openWithPasskey()
    await using _ = door
    const tryWith = async (with_: SoftwareAuthenticator, place?: Place) =>
      codeOf(await door.post('/sign-in', {}, await answerTo(door, with_, place)))

    expect(await tryWith(key, { ...door.place, origin: 'http://localhost:9999' })).toBe('401 unauthorized')
    expect(await tryWith(key, { ...door.place, rpId: 'agents.example.com' })).toBe('401 unauthorized')
    expect(await tryWith(key, { ...door.place, isUnverified: true })).toBe('401 unauthorized')
    expect(await tryWith(createSoftwareAuthenticator())).toBe('401 unauthorized')
    expect(await tryWith(key)).toBe('200 undefined')
    key.counter = 0
    expect(await tryWith(key)).toBe('401 unauthorized')
    key.counter = 100
    const answer = await answerTo(door, key)
    expect(codeOf(await door.post('/sign-in', {}, { ...answer, Origin: 'http://localhost:9999' }))).toBe(
      '403 origin_not_allowed',
    )
    const proof = await door.proofFor(token, { kind: 'passkey' }, key)
    expect((await door.remove(`/passkeys/${id}`, { token, ...proof })).status).toBe(204)
    expect(codeOf(await door.post('/sign-in', {}, answer))).toBe('401 unauthorized')
  })

  test('is no proof for something else, and a proof for something else is none of it', async () => {
    const { door, token, key } = await openWithPasskey()
    await using _ = door
    const signIn = () => answerTo(door, key)
    const decision = { kind: 'decision', approval_id: 'a', digest: 'd', decision: 'approve' }

    for (const purpose of [decision, { kind: 'device_code' }, { kind: 'passkey' }, { kind: 'token' }]) {
      const proof = await door.proofFor(token, purpose, key)
      expect(codeOf(await door.post('/sign-in', {}, proof))).toBe('401 unauthorized')
    }
    // That of somebody who has shown a token or a code, and so is known.
    const { body } = await door.post('/sign-in', {}, operator)
    const known = proofText(body.passkey.challenge_id, key.get(body.passkey.options, door.place))
    expect(codeOf(await door.post('/sign-in', {}, { 'X-Passkey': known }))).toBe('401 unauthorized')

    expect(codeOf(await door.post('/devices/codes', {}, { token, ...(await signIn()) }))).toBe('403 passkey_required')
    expect(codeOf(await door.post('/sign-in', {}, { ...operator, ...(await signIn()) }))).toBe('403 passkey_required')
    const asked = await door.post('/sign-in/challenges', {})
    const made = createSoftwareAuthenticator().create(asked.body.options, door.place)
    const add = { challenge_id: asked.body.challenge_id, response: made }
    const proof = await door.proofFor(token, { kind: 'passkey' }, key)
    expect(codeOf(await door.post('/passkeys', add, { token, ...proof }))).toBe('400 invalid_request')
  })

  test('that is wrong counts like a wrong token, and a right one passes while others wait', async () => {
    const { door, key } = await openWithPasskey()
    await using _ = door
    const wrong = createSoftwareAuthenticator()
    const answers: string[] = []
    for (let i = 0; i < 11; i += 1) answers.push(codeOf(await door.post('/sign-in', {}, await answerTo(door, wrong))))

    expect(answers).toEqual([...Array(10).fill('401 unauthorized'), '429 rate_limited'])
    expect(codeOf(await door.post('/sign-in', { code: 'wrong' }))).toBe('429 rate_limited')
    expect((await door.post('/sign-in', {}, await answerTo(door, key))).status).toBe(200)
    expect(codeOf(await door.post('/sign-in', {}, { 'X-Passkey': 'no proof' }))).toBe('400 invalid_request')
  })

  test('is asked for thirty times a minute by one address, and a sign-in that was begun goes on', async () => {
    const { door, key } = await openWithPasskey()
    await using _ = door
    const first = await answerTo(door, key)
    const begun = await Promise.all(Array.from({ length: 40 }, () => door.post('/sign-in/challenges', {})))

    expect(begun.filter(({ status }) => status === 200)).toHaveLength(29)
    expect(codeOf(await door.post('/sign-in/challenges', {}))).toBe('429 rate_limited')
    expect((await door.post('/sign-in', {}, first)).status).toBe(200)
    door.clock.advance(60_000)
    expect((await door.post('/sign-in/challenges', {})).status).toBe(200)
  })
})

describe('a passkey is not enough', () => {
  test('for somebody whose tokens are revoked and whose devices are signed out', async () => {
    const { door, key } = await openWithPasskey()
    await using _ = door
    await lockOut(door)
    const tryIt = async () => door.post('/sign-in', {}, await answerTo(door, key))

    const refused = await tryIt()

    expect([codeOf(refused), refused.body.detail]).toEqual([
      '403 forbidden',
      expect.stringMatching(/^Your passkey is right, but operator is locked out: .* Ask an admin for a link/),
    ])
    // Whatever is limited would lose its limit.
    const limits = [
      { scopes: ['read' as const] },
      { agent: 'helper' },
      { expires_at: '2099-01-01T00:00:00Z' },
      { role: 'user' as const },
    ]
    for (const limit of limits) {
      door.held.tokens = [eveToken, { ...operatorToken, ...limit }]
      expect(codeOf(await tryIt())).toBe('403 forbidden')
    }
    expect(await door.devices.list()).toEqual([])
    door.held.tokens = [operatorToken]
    expect((await tryIt()).status).toBe(200)
    // Now there is a device, until it is signed out by itself.
    door.held.tokens = []
    expect((await tryIt()).status).toBe(200)
    door.clock.advance(12 * 3_600_000)
    expect(codeOf(await tryIt())).toBe('403 forbidden')
  })

  test('unless the settings name them', async () => {
    await using door = await openSignIn()
    const { key } = await door.addPasskey(await door.signedIn('eve'))
    await lockOut(door)

    const { status, body } = await door.post('/sign-in', {}, await answerTo(door, key))

    expect([status, body.user]).toEqual([200, 'eve'])
  })

  test('for people of an identity provider or a proxy', async () => {
    const { door, token, key } = await openWithPasskey()
    await using _ = door
    const bob = { 'X-Forwarded-User': 'bob', 'X-Forwarded-Groups': 'sre' }
    const proof = await door.proofFor(token, { kind: 'device_code' }, key)
    const { code } = (await door.post('/devices/codes', { user: 'corp:bob' }, { token, ...proof })).body
    const { body } = await door.post('/passkeys/options', {}, bob)
    const his = createSoftwareAuthenticator()
    const made = { challenge_id: body.challenge_id, response: his.create(body.options, door.place), code }
    expect((await door.post('/passkeys', made, bob)).status).toBe(201)

    const refused = await door.post('/sign-in', {}, await answerTo(door, his))
    expect([codeOf(refused), refused.body.detail]).toEqual([
      '403 forbidden',
      'An identity provider signs corp:bob in. Sign in there: no passkey does it here.',
    ])
    // A token of this server for him changes nothing, and a proxy has signed its people in already.
    door.held.tokens = [{ ...eveToken, user: 'corp:bob' }]
    expect(codeOf(await door.post('/sign-in', {}, await answerTo(door, his)))).toBe('403 forbidden')
    expect(codeOf(await door.post('/sign-in', {}, { ...bob, ...(await answerTo(door, key)) }))).toBe('403 forbidden')
    for (const { id, user } of await door.passkeys.list()) if (user === 'local_user') await door.passkeys.remove(id)
    expect((await door.get('/sign-in')).body.passkey).toBe(false)
  })
})
