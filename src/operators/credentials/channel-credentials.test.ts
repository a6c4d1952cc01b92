import { expect, test } from 'vitest'
import { resolveSettings } from '../../config/settings/resolve-settings.ts'
import { readChannelCredentials } from './channel-credentials.ts'
import { keychainWith } from './testing/keychain-with.ts'

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
