// The whole server in memory on a free port, with a model that answers at once.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/app/app.ts'
import { testAppOptions } from '../../src/app/testing/test-app.ts'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { serverTool } from '../../src/tools/testing/server-tool.ts'

const to = { type: 'object', properties: { to: { type: 'string' } } }

const note = serverTool({
  name: 'note',
  description: 'Notes something down.',
  parameters: to,
  effect: 'once',
  risk: 'low',
  approval: { ask: 'always' },
  timeoutMs: 1_000,
  call: async ({ arguments: args }) => ({ content: `Noted ${String(args.to)}.`, isError: false }),
})

const hello = { parts: [{ text: 'Hello ' }, { text: 'you.' }] }
const asks = { parts: [{ tool_call: { name: 'note', arguments: { to: 'bob' } } }] }

/** With `asking`, every third answer needs an approval. Use it with `await using`. */
export async function openApp({ asking = false } = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-openapi-'))
  const script = join(dataDir, 'script.json')
  await writeFile(script, JSON.stringify({ loop: true, answers: asking ? [hello, asks, hello] : [hello] }))
  const flags = { port: '0', store: ':memory:' }
  const { settings } = resolveSettings({ flags, env: {}, file: null, onTerminal: false })
  const app = await createApp({
    ...testAppOptions(),
    agents: [
      {
        ...testAgent,
        directory: dataDir,
        model: { ...testAgent.model, script },
        approval: { ...testAgent.approval, by: 'owner' },
      },
    ],
    tools: { [testAgent.name]: asking ? [note] : [] },
    settings,
    dataDir,
  })
  const { url, tokens } = await app.listen()
  return {
    url,
    /** The header with an operator's token. */
    asOperator: { authorization: `Bearer ${tokens.operatorToken}` },
    [Symbol.asyncDispose]: async () => {
      await app.close({ drainMs: 0 })
      await rm(dataDir, { recursive: true })
    },
  }
}
