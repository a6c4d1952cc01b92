import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { resolveSettings } from '../../../config/settings/resolve-settings.ts'
import { botScopes, slackManifest } from '../../../operators/slack/app-manifest.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'

async function connectSlack(...args: string[]) {
  const cwd = await tempFolder()
  const io = createTestIo({ cwd })
  const code = await main(['connect', 'slack', ...args], io)
  return { code, out: io.printed(), err: io.complained(), written: readdirSync(cwd) }
}

test('prints the manifest and nothing else on standard output, and writes no file', async () => {
  const yaml = await connectSlack()
  const json = await connectSlack('--json')

  expect([yaml.code, json.code, yaml.written, json.written]).toEqual([0, 0, [], []])
  expect(parse(yaml.out)).toEqual(slackManifest())
  expect(JSON.parse(json.out)).toEqual(slackManifest())
})

test('the manifest opens a socket and no address, and keeps Slack’s limits', () => {
  const { display_information: shown, features, oauth_config: oauth, settings } = slackManifest()

  expect(settings).toEqual({
    event_subscriptions: { bot_events: ['message.channels', 'message.groups'] },
    interactivity: { is_enabled: true },
    org_deploy_enabled: false,
    socket_mode_enabled: true,
    token_rotation_enabled: false,
  })
  expect(oauth).toEqual({ scopes: { bot: [...botScopes] } })
  expect(JSON.stringify(slackManifest())).not.toMatch(/url|https?:/)
  expect([shown.name.length <= 35, (shown.description ?? '').length <= 140]).toEqual([true, true])
  expect(features?.bot_user?.display_name).toMatch(/^[a-z0-9._-]{1,80}$/)
  expect(features?.slash_commands?.map(({ command }) => command)).toEqual(['/quarterdeck'])
})

test('the printed settings have the given ids and are valid', async () => {
  const { err } = await connectSlack('--channel', 'C0OPS', '--user', 'U0ANA')
  const [text = ''] = /^ {5}slack:\n(?: {5}.*\n)+/m.exec(err) ?? []
  const { supervision } = resolveSettings({
    flags: {},
    env: {},
    file: { path: 'quarterdeck.yaml', text },
    onTerminal: false,
  }).settings

  expect(supervision.slack).toEqual({ channelId: 'C0OPS', channels: ['C0OPS'] })
  expect(supervision.operators).toMatchObject([{ name: 'local_user', contacts: { slack: 'U0ANA' }, local: true }])
})

test.each([
  [['--channel', 'U0ANA'], 'Such an id begins with C or G, as C012AB3CD does.'],
  [['--channel', '#ops'], 'Such an id begins with C or G, as C012AB3CD does.'],
  [['--user', 'ana'], 'Such an id begins with U or W, as U012AB3CD does.'],
])('refuses %j', async (args, why) => {
  const { code, out, err } = await connectSlack(...args)

  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(why)
})
