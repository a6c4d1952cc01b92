import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from './load-config.ts'
import { tempFolder } from './testing/temp-folder.ts'
import { createTestIo } from './testing/test-io.ts'

const tool = 'type: client, description: Shows something.'
const agent = `name: crow
model: { provider: demo }
instructions: Caw.
tools: [{ name: slow, ${tool} }, { name: quick, ${tool}, timeout: 2s }]
`

test('a tool without a timeout gets that of the settings', async () => {
  const cwd = await tempFolder()
  await writeFile(join(cwd, 'agent.yaml'), agent)
  const timeouts = (env: Record<string, string>) =>
    loadConfig({ files: [], flags: {} }, createTestIo({ cwd, env })).agents.map(({ tools }) =>
      tools.map(({ timeoutMs }) => timeoutMs),
    )

  expect(timeouts({})).toEqual([[30_000, 2_000]])
  expect(timeouts({ TOOL_TIMEOUT_SECONDS: '7' })).toEqual([[7_000, 2_000]])
  await writeFile(join(cwd, 'quarterdeck.yaml'), 'tools: { timeout_seconds: 1m }\n')
  expect(timeouts({})).toEqual([[60_000, 2_000]])
})
