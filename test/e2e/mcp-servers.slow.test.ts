// The whole server with MCP servers that work and one that hangs.

import { readFile } from 'node:fs/promises'
import { expect, test, vi } from 'vitest'
import { packageScript } from '../../src/tools/mcp/testing/open-server.ts'
import { isRunning } from '../../src/tools/process/testing/is-running.ts'
import { startAgentFiles } from './agent-files-app.ts'

test('a server that hangs delays no run, is named by health and log, and ends when we end', async () => {
  const node = JSON.stringify(process.execPath)
  const filesystem = JSON.stringify(packageScript('@modelcontextprotocol/server-filesystem'))
  const files = {
    'agent.yaml': `
name: harbour
model: { provider: scripted, script: script.json }
instructions: Use them.
approval: { default: never }
tools:
  - { type: mcp, name: hang, command: ${node}, args: [-e, "fs.writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)"] }
  - { type: mcp, name: files, command: ${node}, args: [${filesystem}, docs], trust_hints: true }
`,
    'docs/note.txt': 'remember the milk',
    'script.json': {
      answers: [
        {
          when: { user: 'look' },
          times: 1,
          parts: [{ tool_call: { name: 'list_directory', arguments: { path: 'docs' } } }],
        },
        { parts: [{ text: 'Done.' }] },
      ],
    },
  }
  const app = await startAgentFiles(files)
  let pid = 0
  try {
    const health = async () => (await fetch(`${app.url}/health`)).json()
    await vi.waitFor(
      async () =>
        expect(await health()).toMatchObject({
          status: 'degraded',
          checks: {
            'mcp:harbour/hang': { status: 'down', error: expect.stringContaining('"hang" did not answer within 5 s') },
            'mcp:harbour/files': { status: 'up' },
          },
        }),
      { timeout: 60_000 },
    )
    const answer = await fetch(`${app.url}/chat`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message: 'look', session_id: null }),
    })
    expect(await answer.json()).toMatchObject({
      message: 'Done.',
      metadata: { tool_calls: [{ name: 'list_directory' }] },
    })
    const { tools } = (await (await fetch(`${app.url}/tools`)).json()) as { tools: { name: string }[] }
    expect(tools.map(({ name }) => name)).toContain('read_text_file')
    pid = Number(await readFile(`${app.directory}/pid`, 'utf8'))
    expect(isRunning(pid)).toBe(true)
  } finally {
    await app[Symbol.asyncDispose]()
  }
  expect(isRunning(pid)).toBe(false)
})
