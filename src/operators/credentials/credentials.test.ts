import { describe, expect, test } from 'vitest'
import { resolveSettings } from '../../config/settings/resolve-settings.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { credentialNames, credentialProblem, findCredential, readChannelCredentials } from './credentials.ts'
import { createKeychain, type Keychain, type OpenEntry } from './keychain.ts'
import { keychainWith } from './testing/keychain-with.ts'

/** The keychain of the machine, with these values in it. */
function realKeychainWith(values: Record<string, string>) {
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

const required = { isRequired: true }

describe('credentials', () => {
  test('come from the keychain, then from the environment', async () => {
    const env = { SLACK_BOT_TOKEN: ' xoxb-env ', SLACK_APP_TOKEN: 'xapp-env', SLACK_TEAM_ID: '' }
    const sources = { keychain: realKeychainWith({ 'quarterdeck/slack_app_token': 'xapp-kept' }), env }
    expect([
      await findCredential('slack_app_token', required, sources),
      await findCredential('slack_bot_token', required, sources),
      await findCredential('slack_team_id', { isRequired: false }, sources),
    ]).toEqual([
      { value: 'xapp-kept', from: 'keychain', problem: null, isConflicting: true },
      { value: 'xoxb-env', from: 'environment', problem: null, isConflicting: false },
      { value: null, from: null, problem: null, isConflicting: false },
    ])
  })

  test('that are missing are asked for with both ways', async () => {
    const both =
      'The credential slack_bot_token is missing. Put it into the keychain with `quarterdeck ctl credential set slack_bot_token`, or set SLACK_BOT_TOKEN in the environment.'
    const problemWith = async (keychain: Keychain) =>
      (await findCredential('slack_bot_token', required, { keychain, env: {} })).problem

    expect(await problemWith(realKeychainWith({}))).toBe(both)
    expect(await problemWith(broken)).toBe(
      `${both} The keychain cannot be used here: Couldn't access platform storage: AccessDenied.`,
    )
  })

  test('work without a keychain', async () => {
    const sources = { keychain: broken, env: { SLACK_BOT_TOKEN: 'xoxb-1' } }
    expect(await findCredential('slack_bot_token', required, sources)).toEqual({
      value: 'xoxb-1',
      from: 'environment',
      problem: null,
      isConflicting: false,
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
    const missing = findCredential('slack_bot_token', required, { keychain, env: {} })
    await clock.advance(10_000)
    expect([clock.pending, (await missing).problem]).toEqual([
      0,
      expect.stringContaining('cannot be used here: it does not answer'),
    ])
  })

  test('that differ between both places are named', async () => {
    const keychain = realKeychainWith({
      'quarterdeck/slack_app_token': 'xapp-1',
      'quarterdeck/slack_bot_token': 'xoxb-1',
      'quarterdeck/slack_team_id': 'T1',
    })
    const env = { SLACK_APP_TOKEN: 'xapp-2', SLACK_BOT_TOKEN: 'xoxb-1' }
    const found = await Promise.all(credentialNames.map((name) => findCredential(name, required, { keychain, env })))
    expect(credentialNames.filter((_, i) => found[i]?.isConflicting)).toEqual(['slack_app_token'])
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

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const all = {
  slack_app_token: 'xapp-1',
  slack_bot_token: 'xoxb-1',
  slack_team_id: 'T1',
  ntfy_token: 'tk_1',
  webhook_secret: secret,
}

const configs = {
  slack: 'slack: { channel_id: C1 }',
  ntfy: 'operators: [{ name: ada, ntfy: ada-7f3kq9 }]',
  webhooks: 'webhooks: [{ name: pager, url: "https://example.com" }]',
}

/** A server with these lines in quarterdeck.yaml. */
function settingsOf(...lines: string[]) {
  const file = { path: 'quarterdeck.yaml', text: ['port: 0', ...lines].join('\n') }
  return resolveSettings({ flags: {}, env: {}, file, onTerminal: false }).settings
}

test.each([
  ['nothing', [], {}],
  ['Slack', [configs.slack], { slack_app_token: 'xapp-1', slack_bot_token: 'xoxb-1', slack_team_id: 'T1' }],
  ['ntfy', [configs.ntfy], { ntfy_token: 'tk_1' }],
  ['webhooks', [configs.webhooks], { webhook_secret: secret }],
])('for %s, only what it needs is read', async (_name, lines, expected) => {
  const keychain = keychainWith(all)

  expect(await readChannelCredentials(settingsOf(...lines), { keychain, env: {} })).toEqual(expected)
  expect(keychain.asked).toEqual(Object.keys(expected))
})

test('the workspace of Slack and the token of ntfy may be left out', async () => {
  const { slack_app_token, slack_bot_token } = all
  const sources = { keychain: keychainWith({ slack_app_token, slack_bot_token }), env: {} }

  expect(await readChannelCredentials(settingsOf(configs.slack, configs.ntfy), sources)).toEqual({
    slack_app_token,
    slack_bot_token,
    slack_team_id: null,
    ntfy_token: null,
  })
})

test.each([
  ['slack_bot_token', configs.slack, /^The credential slack_bot_token is missing\. .*SLACK_BOT_TOKEN/],
  ['slack_app_token', configs.slack, /^The credential slack_app_token is missing\. .*SLACK_APP_TOKEN/],
  ['webhook_secret', configs.webhooks, /^The credential webhook_secret is missing\. .*WEBHOOK_SECRET/],
])('without %s the channel cannot start, and the error names both ways', async (missing, line, message) => {
  const { [missing as keyof typeof all]: _, ...others } = all
  const reading = readChannelCredentials(settingsOf(line), { keychain: keychainWith(others), env: {} })

  await expect(reading).rejects.toMatchObject({ code: 'config_invalid', message: expect.stringMatching(message) })
})

test('credentials that cannot be right are refused together, and are not in the error', async () => {
  const env = { SLACK_APP_TOKEN: 'xoxb-swapped', SLACK_BOT_TOKEN: 'xapp-swapped' }
  const reading = readChannelCredentials(settingsOf(configs.slack), { keychain: keychainWith({}), env })

  await expect(reading).rejects.toThrow(
    `The credential in SLACK_APP_TOKEN cannot be right: slack_app_token must be a token that begins with xapp-.
The credential in SLACK_BOT_TOKEN cannot be right: slack_bot_token must be a token that begins with xoxb-.`,
  )
})
