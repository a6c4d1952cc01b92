import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { credentialNames, credentialProblem, findCredential, isConflicting, requireCredential } from './credentials.ts'
import { createKeychain, type OpenEntry } from './keychain.ts'

/** A keychain with these values. */
function keychainWith(values: Record<string, string>) {
  const open: OpenEntry = (service, name) => ({
    getPassword: async () => values[`${service}/${name}`] ?? null,
    setPassword: async (value) => {
      values[`${service}/${name}`] = value
    },
  })
  return createKeychain(createManualClock(), async () => open)
}

const broken = createKeychain(createManualClock(), async () => {
  throw new Error("Couldn't access platform storage: AccessDenied.\n    at native code")
})

describe('credentials', () => {
  test('come from the keychain, then from the environment', async () => {
    const env = { SLACK_BOT_TOKEN: ' xoxb-env ', SLACK_APP_TOKEN: 'xapp-env', SLACK_TEAM_ID: '' }
    const sources = { keychain: keychainWith({ 'quarterdeck/slack_app_token': 'xapp-kept' }), env }
    expect([
      await findCredential('slack_app_token', sources),
      await findCredential('slack_bot_token', sources),
      await findCredential('slack_team_id', sources),
    ]).toEqual([{ value: 'xapp-kept', from: 'keychain' }, { value: 'xoxb-env', from: 'environment' }, null])
  })

  test('that are missing are asked for with both ways', async () => {
    const both =
      'The credential slack_bot_token is missing. Put it into the keychain with `quarterdeck ctl credential set slack_bot_token`, or set SLACK_BOT_TOKEN in the environment.'
    await expect(requireCredential('slack_bot_token', { keychain: keychainWith({}), env: {} })).rejects.toThrow(
      new RegExp(`^${both}$`),
    )
    await expect(requireCredential('slack_bot_token', { keychain: broken, env: {} })).rejects.toThrow(
      `${both} The keychain cannot be used here: Couldn't access platform storage: AccessDenied.`,
    )
  })

  test('work without a keychain', async () => {
    expect(await findCredential('slack_bot_token', { keychain: broken, env: { SLACK_BOT_TOKEN: 'xoxb-1' } })).toEqual({
      value: 'xoxb-1',
      from: 'environment',
    })
    expect(await broken.set('slack_bot_token', 'x')).toBe("Couldn't access platform storage: AccessDenied")
  })

  test('do not wait for a keychain that is locked', async () => {
    const clock = createManualClock()
    const never = () => new Promise<never>(() => {})
    const keychain = createKeychain(clock, async () => () => ({ getPassword: never, setPassword: never }))
    const found = keychain.get('slack_bot_token')
    await clock.advance(10_000)
    expect([await found, clock.pending]).toEqual([{ value: null, problem: 'it does not answer; it may be locked' }, 0])
  })

  test('that are missing wait for a locked keychain once', async () => {
    const clock = createManualClock()
    const never = () => new Promise<never>(() => {})
    const keychain = createKeychain(clock, async () => () => ({ getPassword: never, setPassword: never }))
    const missing = requireCredential('slack_bot_token', { keychain, env: {} }).catch((error: Error) => error.message)
    await clock.advance(10_000)
    expect([clock.pending, await missing]).toEqual([
      0,
      expect.stringContaining('cannot be used here: it does not answer'),
    ])
  })

  test('that differ between both places are named', async () => {
    const keychain = keychainWith({
      'quarterdeck/slack_app_token': 'xapp-1',
      'quarterdeck/slack_bot_token': 'xoxb-1',
      'quarterdeck/slack_team_id': 'T1',
    })
    const env = { SLACK_APP_TOKEN: 'xapp-2', SLACK_BOT_TOKEN: 'xoxb-1' }
    const conflicting = await Promise.all(credentialNames.map((name) => isConflicting(name, { keychain, env })))
    expect(credentialNames.filter((_, i) => conflicting[i])).toEqual(['slack_app_token'])
  })

  test('have the shape that their services give them', () => {
    const webhook = 'webhook_secret must be whsec_ and 24 to 64 random bytes as base64'
    const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`
    expect([
      credentialProblem('slack_bot_token', 'xoxb-1-2'),
      credentialProblem('slack_bot_token', 'xapp-1-2'),
      credentialProblem('slack_team_id', 'T012'),
      credentialProblem('ntfy_token', 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2'),
      credentialProblem('ntfy_token', 'ada:secret'),
    ]).toEqual([
      null,
      'slack_bot_token must be a token that begins with xoxb-.',
      null,
      null,
      'ntfy_token must be an access token that begins with tk_.',
    ])
    expect([24, 25, 32, 64].map((bytes) => credentialProblem('webhook_secret', secret(bytes)))).toEqual(
      Array(4).fill(null),
    )
    for (const wrong of [secret(23), secret(65), secret(32).slice(6), `${secret(32)}=`, 'whsec_äöü']) {
      expect(credentialProblem('webhook_secret', wrong)).toContain(webhook)
    }
  })
})
