import { expect, test } from 'vitest'
import { createSoftwareAuthenticator } from '../http/auth/console/testing/software-authenticator.ts'
import { operatorToken } from '../http/testing/server-fixture.ts'
import { openSignIn } from '../protocols/manage/devices/testing/open-sign-in.ts'
import { createClient, encodeProof, type PasskeyChallenge } from './client.ts'

test('a client signs in, adds a passkey and proves what needs one', async () => {
  await using door = await openSignIn()
  const { origin, place, codes } = door
  const { text: code } = await codes.make({ user: 'local_user', isVouched: false })
  const { token, device } = await createClient({ url: origin }).signIn({ code, label: 'Büro', keep: true })
  const client = createClient({ url: origin, token })
  expect(await client.me()).toMatchObject({ user: 'operator', device: { ...device, kept: true, label: 'Büro' } })

  const key = createSoftwareAuthenticator()
  const challengeIn = ({ options }: PasskeyChallenge) => ({ challenge: String(options.challenge) })
  const asked = await client.passkeys.options()
  const response = key.create(challengeIn(asked), place)
  const made = await client.passkeys.add({ challenge_id: asked.challenge_id, response, label: 'Schlüssel' })
  expect((await client.passkeys.list()).passkeys).toEqual([made])

  await expect(client.devices.makeCode()).rejects.toMatchObject({ code: 'passkey_required', status: 403 })
  const prove = async (challenge: PasskeyChallenge) => encodeProof(challenge, key.get(challengeIn(challenge), place))
  const passkey = await prove(await client.passkeys.challenge({ kind: 'device_code' }))
  expect(await client.devices.makeCode({ user: 'eve', passkey })).toMatchObject({
    url: expect.stringContaining('#code='),
  })

  // The refusal of a new device brings its challenge along.
  const operator = createClient({ url: origin, token: operatorToken.token })
  const refused = await operator.signIn().catch((error: { problem: { passkey: PasskeyChallenge } }) => error.problem)
  if (!('passkey' in refused)) throw new Error('a passkey was not asked for')
  const second = await operator.signIn({ passkey: await prove(refused.passkey) })

  // A passkey alone, in a browser that has nothing else.
  const stranger = createClient({ url: origin })
  expect(await stranger.who()).toMatchObject({ user: null, passkey: true })
  const third = await stranger.signIn({ passkey: await prove(await stranger.signInChallenge()) })

  expect((await client.devices.list()).map(({ current }) => current)).toEqual([true, false, false])
  await client.devices.revoke(second.device.device_id)
  await client.devices.revoke(third.device.device_id)
  await client.passkeys.remove(made.passkey_id, {
    passkey: await prove(await client.passkeys.challenge({ kind: 'passkey' })),
  })
  await client.signOut()
  await expect(client.me()).rejects.toMatchObject({ code: 'unauthorized' })
})
