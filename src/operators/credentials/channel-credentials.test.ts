import { expect, test } from 'vitest'
import { testOperator } from '../../domain/testing/test-operator.ts'
import { type ConfiguredChannels, readChannelCredentials } from './channel-credentials.ts'
import { keychainWith } from './testing/keychain-with.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const all = {
  slack_app_token: 'xapp-1',
  slack_bot_token: 'xoxb-1',
  slack_team_id: 'T1',
  ntfy_token: 'tk_1',
  webhook_secret: secret,
}

function settingsOf({ slack = false, ntfy = false, webhooks = false }): ConfiguredChannels {
  return {
    supervision: {
      slack: { channelId: null, channels: slack ? ['C1'] : [] },
      operators: [testOperator({ name: 'ada', ntfy: ntfy ? 'ada-7f3kq9' : null })],
    },
    channels: { webhooks: webhooks ? [{ name: 'pager', url: 'https://example.com', kinds: [] }] : [] },
  }
}

const nothing = { slack: null, ntfyToken: null, webhookSecret: null }
const slack = { tokens: { app: 'xapp-1', bot: 'xoxb-1' }, teamId: 'T1' }

test.each([
  ['nothing', {}, nothing, []],
  ['Slack', { slack: true }, { ...nothing, slack }, ['slack_app_token', 'slack_bot_token', 'slack_team_id']],
  ['ntfy', { ntfy: true }, { ...nothing, ntfyToken: 'tk_1' }, ['ntfy_token']],
  ['webhooks', { webhooks: true }, { ...nothing, webhookSecret: secret }, ['webhook_secret']],
])('for %s, only what it needs is read', async (_name, uses, expected, asked) => {
  const keychain = keychainWith(all)

  expect(await readChannelCredentials(settingsOf(uses), { keychain, env: {} })).toEqual(expected)
  expect(keychain.asked).toEqual(asked)
})

test('the workspace of Slack and the token of ntfy may be left out', async () => {
  const { slack_app_token, slack_bot_token } = all
  const sources = { keychain: keychainWith({ slack_app_token, slack_bot_token }), env: {} }

  expect(await readChannelCredentials(settingsOf({ slack: true, ntfy: true }), sources)).toEqual({
    ...nothing,
    slack: { ...slack, teamId: null },
  })
})

test.each([
  ['slack_bot_token', { slack: true }, /^The credential slack_bot_token is missing\. .*SLACK_BOT_TOKEN/],
  ['slack_app_token', { slack: true }, /^The credential slack_app_token is missing\. .*SLACK_APP_TOKEN/],
  ['webhook_secret', { webhooks: true }, /^The credential webhook_secret is missing\. .*WEBHOOK_SECRET/],
])('without %s the channel cannot start, and the error names both ways', async (missing, uses, message) => {
  const { [missing as keyof typeof all]: _, ...others } = all
  const reading = readChannelCredentials(settingsOf(uses), { keychain: keychainWith(others), env: {} })

  await expect(reading).rejects.toMatchObject({ code: 'config_invalid', message: expect.stringMatching(message) })
})

test('credentials that cannot be right are refused together, and are not in the error', async () => {
  const env = { SLACK_APP_TOKEN: 'xoxb-swapped', SLACK_BOT_TOKEN: 'xapp-swapped' }
  const reading = readChannelCredentials(settingsOf({ slack: true }), { keychain: keychainWith({}), env })

  await expect(reading).rejects.toThrow(
    `The credential in SLACK_APP_TOKEN cannot be right: slack_app_token must be a token that begins with xapp-.
The credential in SLACK_BOT_TOKEN cannot be right: slack_bot_token must be a token that begins with xoxb-.`,
  )
})
