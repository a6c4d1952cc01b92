import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../cli/testing/temp-folder.ts'
import { createTestIo } from '../cli/testing/test-io.ts'
import { loadConfig } from './load-config.ts'

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

test('a start without an agent file says what to do instead of variables that are not read', async () => {
  const cwd = await tempFolder()
  const env = {
    AZURE_AI_PROJECT_ENDPOINT: 'https://acme.services.ai.azure.com/api/projects/one',
    PDF_PATH: '/srv/handbook.pdf',
  }
  const load = (more: Record<string, string>) =>
    loadConfig({ files: [], flags: {} }, createTestIo({ cwd, env: { ...env, ...more } }))
  const project = expect.stringMatching(/^AZURE_AI_PROJECT_ENDPOINT is not read: set AZURE_OPENAI_ENDPOINT /)
  const pdf = expect.stringMatching(/^PDF_PATH is not read: attach the PDF to a message instead/)

  expect(load({}).warnings).toEqual([project, pdf])
  expect(load({ AZURE_OPENAI_ENDPOINT: 'https://acme.openai.azure.com' }).warnings).toEqual([pdf])
  expect(() => load({ LLM_PROVIDER: 'azure', LLM_MODEL: 'one' })).toThrow(/AZURE_AI_PROJECT_ENDPOINT is not read/)
  await writeFile(join(cwd, 'agent.yaml'), agent)
  expect(load({}).warnings).toEqual([])
})
