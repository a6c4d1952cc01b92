// Slack on two servers that share a Postgres: one of them has the socket. When it stops, the other one takes what people answer.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { testAppOptions } from '../../src/app/testing/test-app.ts'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import { testAgent, testTool } from '../../src/engine/testing/open-engine.ts'
import { keychainWith } from '../../src/operators/credentials/testing/keychain-with.ts'
import { textOf } from '../../src/operators/slack/testing/open-slack.ts'
import { buttonsOf } from '../../src/operators/slack/testing/people.ts'
import { createSlackStandIn } from '../../src/operators/slack/testing/slack-stand-in.ts'
import type { ShownMessage } from '../../src/operators/slack/testing/slack-workspace.ts'
import { openTestDatabase } from '../postgres/test-database.ts'
import { agUiInput } from './doors.ts'
import { BUSY_MS, OPS, until } from './slack-house.ts'

const ANA = 'U0ANA'

/** Two servers of the same team. Each has folders of its own. */
async function openTwo() {
  const database = await openTestDatabase()
  onTestFinished(() => database.drop())
  const root = mkdtempSync(join(tmpdir(), 'quarterdeck-handover-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const slack = await createSlackStandIn()
  onTestFinished(() => slack.close())
  const script = join(root, 'script.json')
  const answers = [
    { when: { tool: 'send' }, parts: [{ text: 'Sent.' }] },
    { when: 'send it', parts: [{ tool_call: { name: 'send' } }] },
  ]
  writeFileSync(script, JSON.stringify({ answers }))
  const sent: string[] = []

  async function start(name: string) {
    const folder = join(root, name)
    for (const one of ['data', 'config']) mkdirSync(join(folder, one), { recursive: true, mode: 0o700 })
    const { settings } = resolveSettings({
      flags: { port: '0' },
      env: { QUARTERDECK_STORE: database.url },
      file: {
        path: join(folder, 'quarterdeck.yaml'),
        text: JSON.stringify({
          slack: { channel_id: OPS, api_url: slack.apiUrl },
          operators: [{ name: 'ana', slack: ANA }],
        }),
      },
      onTerminal: false,
    })
    const send = testTool({
      name: 'send',
      effect: 'once',
      approval: { ask: 'always' },
      async call() {
        sent.push(name)
        return { content: 'Sent.', isError: false }
      },
    })
    const app = await createApp({
      ...testAppOptions(),
      agents: [{ ...testAgent, directory: root, model: { ...testAgent.model, script } }],
      tools: { [testAgent.name]: [send] },
      settings,
      dataDir: join(folder, 'data'),
      configDir: join(folder, 'config'),
      makeTokens: true,
      credentials: {
        keychain: keychainWith({}),
        env: { SLACK_APP_TOKEN: slack.appToken, SLACK_BOT_TOKEN: slack.botToken },
      },
    })
    const { url } = await app.listen()
    let isOpen = true
    const close = async () => {
      if (isOpen) await app.close({ drainMs: 0 })
      isOpen = false
    }
    onTestFinished(close)
    return { url, close }
  }

  const a = await start('a')
  await slack.whenConnected()
  await start('b')
  return { a, slack, sent }
}

const cardsOf = (slack: Awaited<ReturnType<typeof createSlackStandIn>>) =>
  slack.messages(OPS).filter(({ metadata }) => String(metadata?.event_payload.key).startsWith('card/'))

test('an answer in Slack counts once after another server has taken the channels over', {
  timeout: BUSY_MS,
}, async () => {
  const { a, slack, sent } = await openTwo()
  const asked = await fetch(`${a.url}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(agUiInput({ session: crypto.randomUUID(), message: 'send it' })),
  })
  await asked.text()
  const card = await until(() => cardsOf(slack).find((one) => buttonsOf(one).length > 0))
  await a.close()
  await until(() => slack.socketCount === 1)

  // A person is impatient, and presses twice.
  const click = { user: ANA, channel: OPS, ts: card.ts, actionId: 'quarterdeck:approve' }
  await Promise.all([slack.click(click), slack.click({ ...click, stale: true })])
  const isUsed = (message: Pick<ShownMessage, 'text' | 'blocks'>) => textOf(message).includes('Used')
  await until(() => cardsOf(slack).some(isUsed))
  const told = await until(() => slack.ephemerals(OPS, ANA)[0])

  expect(sent).toEqual(['b'])
  const [after, ...more] = cardsOf(slack)
  expect([after?.ts, more]).toEqual([card.ts, []])
  expect(after?.text).toContain('Approved by ana')
  expect(after?.versions.filter(isUsed).length).toBe(1)
  expect(told.text).toContain('That answer counts, once.')
})
