import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { resolveSettings } from '../../../config/settings/resolve-settings.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { createConfigFile } from '../../../http/auth/config-folder/config-file.ts'
import { keychainWith } from '../../../operators/credentials/testing/keychain-with.ts'
import { botScopes } from '../../../operators/slack/app-manifest.ts'
import { createSlackStandIn, type SlackStandIn } from '../../../operators/slack/testing/slack-stand-in.ts'
import { sendJson, startFakeServer } from '../../testing/fake-server.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { instantClock } from '../../testing/test-io.ts'
import { checkChannels } from './channel-checks.ts'

const settingsOf = (text: string) =>
  resolveSettings({ flags: {}, env: {}, file: { path: 'quarterdeck.yaml', text }, onTerminal: false }).settings

const nowhere = async (name: string): Promise<never> => {
  throw new Error(`nobody should ask for ${name}`)
}

function check(text: string, deps: Partial<Parameters<typeof checkChannels>[1]> = {}) {
  const sources = { keychain: keychainWith({}), env: {} }
  return checkChannels(settingsOf(text), { sources, kept: null, clock: createSystemClock(), lookup: nowhere, ...deps })
}

test('doctor says nothing of channels that are not configured', async () => {
  const keychain = keychainWith({ slack_bot_token: 'xoxb-1' })

  expect(await check('port: 0', { sources: { keychain, env: {} } })).toEqual([])
  expect(keychain.asked).toEqual([])
})

describe('doctor, about credentials', () => {
  test('says where each is, which is missing, wrong or different, but never a value', async () => {
    const keychain = keychainWith({ slack_team_id: 'T1', ntfy_token: 'ada:secret' })
    const env = { SLACK_APP_TOKEN: 'xapp-env', SLACK_TEAM_ID: 'T2' }
    const text = `
slack: { channel_id: C1 }
operators: [{ name: ada, ntfy: ada-7f3kq9 }]
ntfy: { url: "http://127.0.0.1:9" }
webhooks: [{ name: pager, url: "https://example.com/hook" }]`
    const checks = await check(text, { sources: { keychain, env }, lookup: async () => [] })

    expect(checks.filter(({ detail }) => !/^http|^pager/.test(detail))).toEqual([
      { name: 'Slack', status: 'ok', detail: 'slack_app_token is in SLACK_APP_TOKEN' },
      { name: 'Slack', status: 'fail', detail: expect.stringContaining('The credential slack_bot_token is missing.') },
      { name: 'Slack', status: 'ok', detail: 'slack_team_id is in the keychain' },
      {
        name: 'Slack',
        status: 'warn',
        detail: 'The keychain and SLACK_TEAM_ID have different values for slack_team_id; the keychain counts',
        mend: expect.stringContaining('Remove SLACK_TEAM_ID'),
      },
      {
        name: 'ntfy',
        status: 'fail',
        detail: expect.stringMatching(
          /^The credential in the keychain cannot be right: ntfy_token must be an access token/,
        ),
        mend: 'Set it again: quarterdeck ctl credential set ntfy_token',
      },
      { name: 'Hooks', status: 'fail', detail: expect.stringContaining('The credential webhook_secret is missing.') },
    ])
    expect(JSON.stringify(checks)).not.toMatch(/xapp-env|ada:secret/)
  })
})

describe('doctor, about Slack', () => {
  /** The stand-in, and what doctor says about it besides that the tokens are there. */
  async function open({
    text = 'slack: { channel_id: C0OPS }',
    team = '',
    scopes = botScopes as readonly string[],
  } = {}) {
    const slack = await createSlackStandIn({ scopes })
    onTestFinished(() => slack.close())
    const tokens = { SLACK_APP_TOKEN: slack.appToken, SLACK_BOT_TOKEN: slack.botToken, SLACK_TEAM_ID: team }
    const look = async (env: Record<string, string> = {}) => {
      const settings = text.replace('slack: {', `slack: { api_url: "${slack.apiUrl}",`)
      const sources = { keychain: keychainWith({}), env: { ...tokens, ...env } }
      const checks = await check(settings, { sources })
      expect(JSON.stringify(checks)).not.toMatch(/xoxb-\w|xapp-\d/)
      return checks.filter(({ detail }) => !/^slack_\w+ is in /.test(detail))
    }
    return { slack, look }
  }
  const all = {
    app: { name: 'Slack', status: 'ok', detail: 'App token: connections can be opened' },
    bot: { name: 'Slack', status: 'ok', detail: 'Bot token: quarterdeck in the workspace acme' },
    room: { name: 'Slack', status: 'ok', detail: 'Channel C0OPS: #ops, and the bot is in it' },
    scopes: { name: 'Slack', status: 'ok', detail: 'Scopes: all are there' },
  }
  const fail = (detail: string, mend: RegExp) => ({
    name: 'Slack',
    status: 'fail',
    detail,
    mend: expect.stringMatching(mend),
  })

  test('finds nothing wrong with an app that was made from our manifest, and posts nothing', async () => {
    const { slack, look } = await open({
      text: `slack: { channel_id: C0OPS, channels: [C0SHOP] }\noperators: [{ name: ana, slack: U0ANA }, { name: ben }]`,
      team: 'T0ACME',
    })
    slack.addChannel('C0SHOP', 'shop', { isPrivate: true })

    expect(await look()).toEqual([
      all.app,
      all.bot,
      all.room,
      { name: 'Slack', status: 'ok', detail: 'Channel C0SHOP: #shop, and the bot is in it' },
      all.scopes,
      { name: 'Slack', status: 'ok', detail: 'Operator ana: U0ANA is ana in Slack' },
    ])
    expect(new Set(slack.requests.map(({ method }) => method))).toEqual(
      new Set(['apps.connections.open', 'auth.test', 'conversations.info', 'users.info']),
    )
  })

  test('tells which token Slack refuses, and how to get a new one', async () => {
    const { slack, look } = await open()
    slack.revokeToken('bot')
    expect(await look()).toEqual([
      all.app,
      fail(
        'Bot token',
        /^The bot token of Slack is no longer valid \(token_revoked\)\. Install the app again .*credential set slack_bot_token/,
      ),
    ])
    slack.revokeToken('bot', 'valid')
    slack.revokeToken('app', 'invalid_auth')
    expect(await look()).toEqual([
      fail('App token', /\(invalid_auth\).*connections:write.*credential set slack_app_token/),
      all.bot,
      all.room,
      all.scopes,
    ])
  })

  test('does not show a token to Slack that cannot be right', async () => {
    const { slack, look } = await open()
    const checks = await look({ SLACK_BOT_TOKEN: 'xapp-mixed-up' })

    expect(checks).toEqual([
      fail(
        'The credential in SLACK_BOT_TOKEN cannot be right: slack_bot_token must be a token that begins with xoxb-.',
        /^Correct SLACK_BOT_TOKEN/,
      ),
    ])
    expect(slack.requests).toEqual([])
  })

  test('names the scopes that are missing, those of private channels only if there is one', async () => {
    const { slack, look } = await open({ scopes: ['chat:write', 'commands', 'channels:read', 'groups:read'] })
    expect((await look()).at(-1)).toEqual(
      fail(
        'Scopes',
        /lacks the scope files:read, files:write, channels:history\. Add it under .*, and install the app again\.$/,
      ),
    )
    slack.addChannel('C0OPS', 'ops', { isPrivate: true })
    expect((await look()).at(-1)).toEqual(fail('Scopes', /lacks the scope .*groups:history/))
  })

  test.each([
    ['archived', (slack: SlackStandIn) => slack.archive('C0OPS'), /is archived\. Unarchive it/],
    [
      'without the bot',
      (slack: SlackStandIn) => slack.leave('C0OPS'),
      /To let it in, write “\/invite @quarterdeck” there/,
    ],
    [
      'hidden from it',
      (slack: SlackStandIn) => slack.addChannel('C0OPS', 'ops', { isPrivate: true, members: [] }),
      /no channel C0OPS that the bot can see\. Check slack\.channel_id/,
    ],
  ])('says what to do about a channel that is %s', async (_what, happen, mend) => {
    const { slack, look } = await open()
    happen(slack)

    expect(await look()).toEqual([all.app, all.bot, fail('Channel C0OPS', mend), all.scopes])
  })

  test('finds a token of another workspace and an operator whom Slack does not know', async () => {
    const text = 'slack: { channel_id: C0OPS }\noperators: [{ name: ana, slack: U0NOBODY }]'
    const { look } = await open({ text, team: 'T0OTHER' })

    expect(await look()).toEqual([
      all.app,
      all.bot,
      fail('Workspace', /belongs to the Slack workspace T0ACME, but slack_team_id says T0OTHER/),
      all.room,
      all.scopes,
      fail('Operator ana', /knows nobody with the id U0NOBODY.*Copy member ID/),
    ])
  })

  test('says that Slack is down', async () => {
    const { slack, look } = await open()
    await slack.goDown()

    expect(await look()).toEqual([
      fail('App token', /did not answer apps\.connections\.open\. Check the network/),
      fail('Bot token', /did not answer auth\.test\. Check the network/),
    ])
  })
})

describe('doctor, about ntfy', () => {
  const settings = (url: string) => `operators: [{ name: ada, ntfy: ada-7f3kq9 }]\nntfy: { url: "${url}" }`

  async function open(answer: Parameters<typeof startFakeServer>[0]) {
    const server = await startFakeServer(answer)
    onTestFinished(() => server.close())
    return server
  }

  test('asks for nothing but the health of its server', async () => {
    const server = await open((_, response) => sendJson(response, 200, { healthy: true }))

    expect(await check(settings(server.url))).toEqual([{ name: 'ntfy', status: 'ok', detail: `${server.url} works` }])
    expect(server.seen.map(({ method, path }) => [method, path])).toEqual([['GET', '/v1/health']])
  })

  test.each([
    [502, { error: 'bad gateway' }],
    [200, { healthy: false }],
  ])('does not take %i with %j for a server of ntfy', async (status, body) => {
    const server = await open((_, response) => sendJson(response, status, body))

    expect(await check(settings(server.url))).toEqual([
      {
        name: 'ntfy',
        status: 'fail',
        detail: `${server.url} answers ${status}, but not as a healthy ntfy server does`,
        mend: expect.stringContaining('fix ntfy.url'),
      },
    ])
  })

  test('says whether it is away or only silent', async () => {
    const away = await startFakeServer(() => {})
    await away.close()
    const silent = await open(() => {})

    expect(await check(settings(away.url))).toMatchObject([{ status: 'fail', detail: `${away.url} cannot be reached` }])
    expect(await check(settings(silent.url), { clock: instantClock() })).toMatchObject([
      { status: 'fail', detail: `${silent.url} does not answer within 10 s` },
    ])
  })
})

describe('doctor, about webhooks', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const sources = { keychain: keychainWith({ webhook_secret: secret }), env: {} }

  test('looks up their hosts and sends them nothing', async () => {
    const asked: string[] = []
    const lookup = async (name: string) => {
      asked.push(name)
      if (name === 'gone.example.com') throw new Error('ENOTFOUND')
      return ['192.0.2.1']
    }
    const text = `webhooks:
  - { name: pager, url: "https://example.com:8443/hook?team=1" }
  - { name: old, url: "https://gone.example.com/hook" }
  - { name: six, url: "http://[::1]:9/hook" }`

    expect(await check(text, { sources, lookup })).toEqual([
      { name: 'Hooks', status: 'ok', detail: 'webhook_secret is in the keychain' },
      { name: 'Hooks', status: 'ok', detail: 'pager: example.com:8443 has an address' },
      {
        name: 'Hooks',
        status: 'fail',
        detail: 'old: gone.example.com has no address: the name is not known',
        mend: expect.stringContaining('quarterdeck.yaml'),
      },
      { name: 'Hooks', status: 'ok', detail: 'six: [::1]:9 has an address' },
    ])
    expect(asked).toEqual(['example.com', 'gone.example.com', '::1'])
  })

  test('leaves the lookup to a proxy', async () => {
    const { supervision, channels, tools } = settingsOf('webhooks: [{ name: a, url: "https://example.com" }]')
    const proxied = { supervision, channels, tools: { ...tools, proxy: { HTTPS_PROXY: 'http://127.0.0.1:9' } } }
    const deps = { sources, kept: null, clock: createSystemClock(), lookup: nowhere }

    expect((await checkChannels(proxied, deps)).at(-1)).toEqual({
      name: 'Hooks',
      status: 'ok',
      detail: 'a: example.com is behind a proxy',
    })
  })
})

describe('doctor, about the keys for Web Push', () => {
  async function open() {
    const folder = await tempFolder()
    const kept = { configDir: join(folder, 'config'), dataDir: join(folder, 'data') }
    for (const path of Object.values(kept)) mkdirSync(path, { mode: 0o700 })
    const file = createConfigFile('push', { ...kept, makeFolder() {} })
    return { kept, file, look: () => check('port: 0', { kept }) }
  }

  test('says nothing as long as nobody has subscribed, and that they are there afterwards', async () => {
    const { file, look } = await open()
    expect(await look()).toEqual([])
    file.write(JSON.stringify({ publicKey: 'p', privateKey: 's' }))

    expect(await look()).toEqual([{ name: 'Push', status: 'ok', detail: 'the keys for Web Push are there' }])
  })

  test('warns if they are damaged or open to others, without showing them', async () => {
    const { file, look } = await open()
    for (const text of ['hidden', '{"privateKey":"hidden"}']) {
      file.write(text)
      const [found] = await look()
      expect(found).toMatchObject({ name: 'Push', status: 'warn', mend: expect.stringContaining('subscribe again') })
      expect(JSON.stringify(found)).not.toContain('hidden')
    }
    file.write(JSON.stringify({ publicKey: 'p', privateKey: 's' }))
    chmodSync(file.path, 0o644)
    expect(await look()).toMatchObject([{ status: 'warn', detail: expect.stringContaining('chmod 600') }])
  })
})
