import { expect, test } from 'vitest'
import { proofText } from '../../../http/auth/console/testing/open-proofs.ts'
import { createManualClock, whileTimePasses } from '../../../http/testing/server-fixture.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import { openSignIn } from './testing/open-sign-in.ts'

/** Two servers on one store. */
async function openTwo() {
  const clock = createManualClock()
  const replica = { clock, shared: createLocalShared(clock) }
  return { clock, a: await openSignIn(null, replica), b: await openSignIn(null, replica) }
}

const codeOf = ({ status, body }: { status: number; body: { code?: string } | null }) => `${status} ${body?.code}`

test('a code that was made at one replica signs in once at the other, and the device is known at both at once', async () => {
  const { a, b } = await openTwo()
  await using _a = a
  await using _b = b
  const { text: code } = await a.codes.make({ user: 'local_user', isVouched: false })

  const tries = await Promise.all([a, b, a, b].map((door) => door.post('/sign-in', { code })))
  const signedIn = tries.filter(({ status }) => status === 200)
  expect(signedIn).toHaveLength(1)
  const { token } = signedIn[0]?.body ?? {}
  for (const door of [a, b]) expect((await door.get('/me', { token })).status).toBe(200)
})

test('a device that signs out at one replica is refused at the other when the answer comes', async () => {
  const { clock, a, b } = await openTwo()
  await using _a = a
  await using _b = b
  const token = await a.signedIn()
  expect((await b.get('/me', { token })).status).toBe(200)

  expect((await whileTimePasses(clock, a.post('/sign-out', {}, { token }))).status).toBe(204)
  expect(codeOf(await a.get('/me', { token }))).toBe('401 unauthorized')
  expect(codeOf(await b.get('/me', { token }))).toBe('401 unauthorized')
})

test('a challenge of one replica is answered at the other, once', async () => {
  const { a, b } = await openTwo()
  await using _a = a
  await using _b = b
  const token = await a.signedIn()
  const { key } = await a.addPasskey(token)
  expect((await b.get('/me', { token })).body.passkeys).toMatchObject({ registered: 1, mine: 1 })

  // The place that a browser signs is the one that it asked at: in production both have the same address.
  const proof = await a.proofFor(token, { kind: 'device_code' }, key)
  expect((await b.post('/devices/codes', {}, { token, ...proof })).status).toBe(201)
  expect(codeOf(await a.post('/devices/codes', {}, { token, ...proof }))).toBe('403 passkey_required')
})

test('a sign-in with a passkey begins at one replica and ends at the other, once', async () => {
  const { a, b } = await openTwo()
  await using _a = a
  await using _b = b
  const { key } = await a.addPasskey(await a.signedIn())
  const { body } = await b.post('/sign-in/challenges', {})
  // Signed at the address of the replica that asked.
  const proof = { 'X-Passkey': proofText(body.challenge_id, key.get(body.options, b.place)) }

  const tries = await Promise.all([a, b, a, b].map((door) => door.post('/sign-in', {}, proof)))
  expect(tries.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])
  const { token } = tries.find(({ status }) => status === 200)?.body ?? {}
  for (const door of [a, b]) expect((await door.get('/me', { token })).status).toBe(200)
})
