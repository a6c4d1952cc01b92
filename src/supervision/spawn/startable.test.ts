import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../cli/testing/temp-folder.ts'
import { resolveHost } from './start-host.ts'
import { readStartable } from './startable.ts'

/** A server whose PATH has these programs. */
async function startableWith(programs: readonly string[], hostCli: string | null, extraArgs: string[] = []) {
  const bin = join(await tempFolder(), 'bin')
  mkdirSync(bin)
  for (const name of programs) {
    writeFileSync(join(bin, name), '#!/bin/sh\n')
    chmodSync(join(bin, name), 0o755)
  }
  const search = { searchPath: bin, workspaces: [] }
  const workspaces = [{ path: '/srv/shop', id: 'shop', channelId: null, label: 'Shop' }]
  const settings = { hostCli, workspaces, defaultWorkspaceRoot: null }
  return readStartable({ host: () => resolveHost(hostCli, search), extraArgs, settings, search })
}

test('the program of the settings comes first, and each of the others says what it lacks', async () => {
  const { hosts, workspaces, root } = await startableWith(['claude', 'codex'], 'claude')

  expect(hosts.map(({ name, problem, command, setting }) => [name, problem, command, setting])).toEqual([
    ['claude', null, null, null],
    ['codex', 'The server is set up to start Claude Code.', null, 'host_cli: codex'],
    ['copilot', 'Copilot CLI is not installed on the server.', 'npm install -g @github/copilot', null],
    ['gemini', expect.stringContaining('cannot be started from here'), 'quarterdeck connect gemini', null],
  ])
  expect({ workspaces, root }).toEqual({ workspaces: [{ path: '/srv/shop', id: 'shop', label: 'Shop' }], root: null })
})

test('a program of the settings that is not there, and none at all', async () => {
  const missing = await startableWith([], 'claude')
  const none = await startableWith(['codex'], null)

  expect(missing.hosts.every(({ problem }) => problem !== null)).toBe(true)
  expect(missing.hosts.find(({ name }) => name === 'claude')).toMatchObject({
    problem: expect.stringContaining('there is no program claude in the PATH'),
    command: 'npm install -g @anthropic-ai/claude-code',
  })
  expect(none.hosts.find(({ name }) => name === 'codex')).toMatchObject({
    problem: 'The server is set up to start no program.',
    setting: 'host_cli: codex',
  })
})

test('a program that only the settings know can be started if they say how it takes its servers', async () => {
  const told = await startableWith(['own'], 'own', ['--mcp', '{mcp_config}'])
  const silent = await startableWith(['own'], 'own')

  expect(told.hosts[0]).toEqual({ name: 'custom', title: 'own', problem: null, command: null, setting: null })
  expect(silent.hosts.at(-1)?.problem).toContain('host_cli_args')
})
