// Who may decide what an agent elsewhere asks, on the whole server.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { testAppOptions } from '../../src/app/testing/test-app.ts'
import { createClient } from '../../src/client/client.ts'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { callAsAgent } from './call-as-agent.ts'

test('those whom an escalation names decide with the owner, and others do not', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-escalation-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const workspace = join(root, 'shop')
  mkdirSync(workspace)
  const operators = {
    people: [{ name: 'ada', admin: true }, { name: 'ben' }, { name: 'cid' }],
    escalation: [
      { after: 0, to: ['ben'] },
      { after: '1h', to: ['cid'] },
    ],
    quorum: 2,
  }
  const file = { path: join(root, 'quarterdeck.yaml'), text: JSON.stringify({ operators }) }
  const app = await createApp({
    ...testAppOptions(),
    agents: [{ ...testAgent, model: { ...testAgent.model, provider: 'demo' } }],
    settings: resolveSettings({ flags: { port: '0', store: ':memory:' }, env: {}, file, onTerminal: false }).settings,
    dataDir: join(root, 'data'),
    configDir: join(root, 'config'),
  })
  onTestFinished(() => app.close({ drainMs: 0 }))
  const { url, tokens } = await app.listen()
  const client = async (user: string) => {
    const { token } = await tokens.create({ user, role: 'operator', name: user }, 'test')
    return createClient({ url, token })
  }
  const [ada, ben, cid] = [await client('ada'), await client('ben'), await client('cid')]
  const { token } = await tokens.create({ user: 'ada', role: 'agent', name: 'agent', workspace }, 'test')
  const input = { title: 'Write a note', file_path: 'note.txt', diff: 'hello\n' }
  const asked = callAsAgent({ url, token, bridge: 'window', tool: 'ask_approval', input })
  const item = await vi.waitFor(
    async () => (await ada.inbox({ kind: 'approval' })).items[0] ?? Promise.reject(new Error('nothing waits')),
    { timeout: 10_000 },
  )
  if (item.kind !== 'approval') return expect.fail('something else waits')

  await expect(cid.approve(item.approval)).rejects.toMatchObject({ code: 'forbidden' })
  expect(await ben.approve(item.approval)).toMatchObject({ status: 'pending', decisions: [{ by: 'ben' }] })
  expect(await ada.approve(item.approval)).toMatchObject({ status: 'approved' })
  expect(await asked).toMatchObject({ status: 'approved' })
})
