// Hosted agents in Slack: started by a command, and answered by buttons and in their threads. The stand-in is real up to its sockets.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { testAppOptions } from '../../src/app/testing/test-app.ts'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import { createSystemClock } from '../../src/domain/clock.ts'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { keychainWith } from '../../src/operators/credentials/testing/keychain-with.ts'
import { textOf } from '../../src/operators/slack/testing/open-slack.ts'
import { buttonsOf } from '../../src/operators/slack/testing/people.ts'
import { createSlackStandIn } from '../../src/operators/slack/testing/slack-stand-in.ts'
import type { ShownMessage } from '../../src/operators/slack/testing/slack-workspace.ts'
import { scripted, until } from './hosted-house.ts'
import { ANN, EVE, OPS, recordOf } from './slack-house.ts'

async function openHouse() {
  const clock = createSystemClock()
  const root = mkdtempSync(join(tmpdir(), 'quarterdeck-hosted-slack-'))
  const shop = join(root, 'shop')
  for (const name of ['data', 'config', 'shop', 'agent']) mkdirSync(join(root, name), { mode: 0o700 })
  writeFileSync(join(shop, 'a.txt'), 'one\n')
  const script = join(root, 'agent', 'script.json')
  writeFileSync(script, JSON.stringify({ answers: [{ parts: [{ text: 'Hello.' }] }] }))
  const slack = await createSlackStandIn({ clock })
  for (const [id, name] of Object.entries({ [ANN]: 'ann', [EVE]: 'eve' })) {
    slack.addUser(id, name)
    slack.join(OPS, id)
  }
  const yaml = {
    workspaces: [{ path: shop, id: 'shop' }],
    slack: { channel_id: OPS, api_url: slack.apiUrl },
    operators: [
      { name: 'ann', slack: ANN, local: true, admin: true },
      { name: 'eve', slack: EVE },
    ],
    host_cli: scripted.command,
    host_cli_args: scripted.args,
  }
  const file = { path: join(root, 'quarterdeck.yaml'), text: JSON.stringify(yaml) }
  const { settings } = resolveSettings({ flags: { port: '0' }, env: {}, file, onTerminal: false })
  const app = await createApp({
    ...testAppOptions(),
    agents: [{ ...testAgent, directory: join(root, 'agent'), model: { ...testAgent.model, script } }],
    settings,
    dataDir: join(root, 'data'),
    configDir: join(root, 'config'),
    makeTokens: true,
    credentials: {
      keychain: keychainWith({}),
      env: { SLACK_APP_TOKEN: slack.appToken, SLACK_BOT_TOKEN: slack.botToken },
    },
    clock,
  })
  const { url, madeToken } = await app.listen()
  onTestFinished(async () => {
    await app.close({ drainMs: 0 })
    await slack.close()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })
  await slack.whenConnected()
  async function read(path: string): Promise<Record<string, unknown>> {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${madeToken}` } })
    return (await response.json()) as Record<string, unknown>
  }
  const seen = new Set<string>()
  const isOpen = (message: ShownMessage) =>
    String(message.metadata?.event_payload.key).startsWith('card/') && buttonsOf(message).length > 0
  return {
    slack,
    shop,
    /** The next card that can be answered. */
    async card() {
      const card = await until(() => slack.messages(OPS).find((one) => isOpen(one) && !seen.has(recordOf(one))))
      seen.add(recordOf(card))
      // A reply is understood once the server has written down where the card is.
      await until(async () => {
        const { channels } = (await read('/channels')) as { channels: { name: string; waiting: number }[] }
        return channels.some(({ name, waiting }) => name === `slack:${OPS}` && waiting === 0)
      })
      return card
    },
    press: (user: string, { channel, ts }: ShownMessage, action: string) =>
      slack.click({ user, channel, ts, actionId: `quarterdeck:${action}` }),
    approval: (card: ShownMessage) => read(`/approvals/${recordOf(card)}`),
  }
}

test('a command starts one, its changes are approved or rejected with a reason, and its question is answered', async () => {
  const { slack, shop, card, press, approval } = await openHouse()
  await slack.slash({ user: ANN, channel: OPS, text: 'session-start write new.txt made' })
  const changes = await card()
  expect(textOf(changes)).toContain('new.txt')
  expect(changes.threadTs).not.toBe(null)
  await press(EVE, changes, 'approve')
  await until(() => slack.ephemerals(OPS, EVE).length > 0)
  expect(existsSync(join(shop, 'new.txt'))).toBe(false)
  await press(ANN, changes, 'approve')
  await until(() => existsSync(join(shop, 'new.txt')))
  expect(readFileSync(join(shop, 'new.txt'), 'utf8')).toBe('made')
  expect(await approval(changes)).toMatchObject({ status: 'consumed', decided_by: 'ann', decided_channel: 'slack' })

  await slack.slash({ user: ANN, channel: OPS, text: 'session-start write a.txt worse' })
  const worse = await card()
  await slack.reply({ user: ANN, channel: OPS, thread: worse.threadTs, text: 'reject Keep it.' })
  await until(async () => (await approval(worse)).status === 'rejected')
  expect(await approval(worse)).toMatchObject({ reason: 'Keep it.', decided_by: 'ann' })
  expect(readFileSync(join(shop, 'a.txt'), 'utf8')).toBe('one\n')

  await slack.slash({ user: ANN, channel: OPS, text: 'session-start elicit Which size?|S|L' })
  const question = await card()
  await press(ANN, question, 'answer:1')
  await until(async () => (await approval(question)).status === 'answered')
  await slack.slash({ user: ANN, channel: OPS, text: 'sessions' })
  await until(() => slack.ephemerals(OPS, ANN).some((one) => textOf(one).includes('3 open sessions')))
})
