import { chmod, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { agentToken } from '../../../http/testing/server-fixture.ts'
import { initialize, openMcpDoor } from '../../../protocols/mcp/testing/open-mcp-door.ts'
import { createAgentConnections } from '../../agent-connection.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'

test('carries messages of standard input to the server, prints nothing else, and ends with its input', async () => {
  const cwd = await tempFolder()
  const token = { ...agentToken, workspace: cwd }
  const { url } = await openMcpDoor({ server: { auth: { tokens: () => [token] } } })
  const stdin = new PassThrough()
  const tokenFile = join(cwd, 'token')
  await writeFile(tokenFile, `${token.token}\n`, { mode: 0o600 })
  const io = createTestIo({ cwd, stdin, clock: createSystemClock() })

  const ended = main(['mcp', '--url', url, '--token-file', 'token'], io)
  stdin.write(`${JSON.stringify(initialize)}\n`)
  await io.until('serverInfo')
  stdin.end()

  expect([await ended, io.complained()]).toEqual([0, ''])
  const lines = io.printed().trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { jsonrpc: '2.0', id: 0, result: expect.objectContaining({ protocolVersion: '2025-11-25' }) },
  ])
  await chmod(tokenFile, 0o644)
  const open = createTestIo({ cwd })
  expect(await main(['mcp', '--url', url, '--token-file', 'token'], open)).toBe(2)
  expect(open.complained()).toContain('chmod 600')
})

test.each([
  [['mcp', '--url', 'http://127.0.0.1:1'], {}, 'no agent’s token'],
  [['mcp', '--url', 'http://192.0.2.1:8000'], { QUARTERDECK_AGENT_TOKEN: 'x' }, 'which others can read'],
  [['mcp', '--url', 'http://127.0.0.1:1', '--limit', '0'], { QUARTERDECK_AGENT_TOKEN: 'x' }, 'from 1 to 86400'],
  [['mcp', '--url', 'ftp://x'], { QUARTERDECK_AGENT_TOKEN: 'x' }, 'is not the address of a server'],
])('%j with %j is refused: %s', async (args, env, why) => {
  const io = createTestIo({ cwd: await tempFolder(), env })

  expect(await main(args, io)).toBe(2)
  expect([io.printed(), io.complained()]).toEqual(['', expect.stringContaining(why)])
})

test('uses what connect stored for the host and the folder', async () => {
  const cwd = await tempFolder()
  const token = { ...agentToken, workspace: await realpath(cwd) }
  const { url } = await openMcpDoor({ server: { auth: { tokens: () => [token] } } })
  const configDir = await tempFolder()
  await chmod(configDir, 0o700)
  const known = { workspace: token.workspace, url: url.replace('/mcp', ''), tokenId: token.id, token: token.token }
  createAgentConnections(configDir, 'claude').write(known)
  const env = { QUARTERDECK_CONFIG_DIR: configDir, QUARTERDECK_MCP_URL: url }
  const stdin = new PassThrough()
  const io = createTestIo({ cwd, stdin, clock: createSystemClock(), env })

  const ended = main(['mcp', '--connection', 'claude'], io)
  stdin.write(`${JSON.stringify(initialize)}\n`)
  await io.until('serverInfo')
  stdin.end()

  expect(await ended).toBe(0)
  const other = createTestIo({ cwd, env })
  expect(await main(['mcp', '--connection', 'codex'], other)).toBe(2)
  expect(other.complained()).toContain('quarterdeck connect')
})
