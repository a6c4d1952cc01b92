import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createClient } from '../client/client.ts'
import { resolveSettings } from '../config/settings/resolve-settings.ts'
import { testAgent, testTool } from '../engine/testing/open-engine.ts'
import type { Keychain } from '../operators/credentials/keychain.ts'
import { openNtfy } from '../operators/ntfy/testing/ntfy-stand-in.ts'
import { openPushService } from '../operators/web-push/testing/push-stand-in.ts'
import { openReceiver } from '../operators/webhook/testing/webhook-stand-in.ts'
import { type App, createApp } from './app.ts'
import { testAppOptions } from './testing/test-app.ts'

const secret = `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}`
const noKeychain: Keychain = { get: async () => ({ value: null, problem: null }), set: async () => null }

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'quarterdeck-notices-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** A server whose agent wants to wipe something, with this quarterdeck.yaml. */
async function createServer(
  file: string,
  dataDir: string,
  configDir: string,
  env: Record<string, string>,
): Promise<App> {
  const script = join(dataDir, 'script.json')
  writeFileSync(
    script,
    JSON.stringify({ answers: [{ parts: [{ tool_call: { name: 'wipe' } }] }, { parts: [{ text: 'Done.' }] }] }),
  )
  const path = join(dataDir, 'quarterdeck.yaml')
  const flags = { port: '0' }
  const { settings } = resolveSettings({ flags, env: {}, file: { path, text: file }, onTerminal: false })
  const call = async () => ({ content: 'Wiped.', isError: false })
  const app = await createApp({
    ...testAppOptions(),
    agents: [{ ...testAgent, directory: dataDir, model: { ...testAgent.model, script } }],
    tools: {
      [testAgent.name]: [
        testTool({ name: 'wipe', risk: 'critical', effect: 'once', approval: { ask: 'always' }, call }),
      ],
    },
    settings,
    dataDir,
    configDir,
    makeTokens: true,
    credentials: { keychain: noKeychain, env },
  })
  onTestFinished(() => app.close({ drainMs: 0 }))
  return app
}

const soon = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 20 })

test('a server tells its operator everywhere, also that it is over, and once after a restart', async () => {
  const [ntfy, service, receiver] = await Promise.all([
    openNtfy({ token: 'tk_1' }),
    openPushService(),
    openReceiver(secret),
  ])
  const file = `
public_url: https://agents.example.com
operators: [{ name: ada, ntfy: ada-topic }]
ntfy: { url: "${ntfy.url.origin}" }
web_push: { contact: "mailto:ops@example.com" }
webhooks: [{ name: pager, url: "${receiver.url}", kinds: approval }]
`
  const [dataDir, configDir] = [folder(), folder()]
  const env = { NTFY_TOKEN: 'tk_1', WEBHOOK_SECRET: secret }
  const first = await createServer(file, dataDir, configDir, env)
  const { url, madeToken } = await first.listen()
  const token = madeToken ?? expect.fail('no token was made')
  const client = createClient({ url, token })
  const browser = service.subscribe(await client.push.key())
  const subscribed = await client.push.subscribe(browser.subscription, { label: 'phone' })
  expect(await client.push.list()).toEqual([subscribed])

  await client.send('trip', 'Go.')
  await soon(() => expect([ntfy.taken.length, browser.messages.length, receiver.received.length]).toEqual([1, 1, 1]))
  const [item] = (await client.inbox({ kind: 'approval' })).items
  if (item?.kind !== 'approval') return expect.fail('nothing waits')
  const { id, approval } = item
  expect([ntfy.phone('ada-topic')[0], browser.shown()[0]]).toMatchObject([
    { title: 'tester asks to call a tool', priority: 5, click: `https://agents.example.com/console/inbox/${id}` },
    { body: 'Tool wipe, risk critical.', url: `https://agents.example.com/console/inbox/${id}` },
  ])

  await client.approve(approval)
  await soon(() =>
    expect(receiver.messages()).toMatchObject(
      ['pending', 'approved', 'consumed'].map((status) => ({ type: `approval.${status}` })),
    ),
  )
  await soon(() =>
    expect([ntfy.phone('ada-topic'), browser.shown()]).toMatchObject([[{ priority: 1 }], [{ silent: true }]]),
  )
  // What was shown is written down a moment later.
  await soon(async () => {
    const shown = (await client.channels.list()).map(({ name, waiting, trouble }) => ({ name, waiting, trouble }))
    expect(shown).toEqual(
      ['ntfy:ada', 'push:ada', 'webhook:pager', 'webhook:pager:lines'].map((name) => ({
        name,
        waiting: 0,
        trouble: null,
      })),
    )
  })
  const counts = [ntfy.taken.length, browser.messages.length]
  await first.close({ drainMs: 0 })

  const second = await createServer(file, dataDir, configDir, env)
  const again = createClient({ url: (await second.listen()).url, token })
  expect(await again.push.list()).toEqual([subscribed])
  expect(await again.channels.replay('webhook:pager', 'f.0')).toMatchObject({ replayed: 3, has_more: false })
  await soon(() => expect(receiver.received.length).toBe(6))
  expect(receiver.messages().length).toBe(3)
  expect([ntfy.taken.length, browser.messages.length]).toEqual(counts)
  await again.push.unsubscribe(subscribed.subscription_id)
  expect(await again.push.list()).toEqual([])
})

test('a webhook without its secret, or with a weak one, stops the start', async () => {
  const file = 'webhooks: [{ name: pager, url: "http://127.0.0.1:1/" }]'
  const open = async (env: Record<string, string>) => (await createServer(file, folder(), folder(), env)).listen()

  await expect(open({})).rejects.toThrow(/The credential webhook_secret is missing.*WEBHOOK_SECRET/)
  await expect(open({ WEBHOOK_SECRET: 'whsec_abc' })).rejects.toThrow(/webhook_secret must be whsec_ and 24 to 64/)
})
