import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../cli/testing/temp-folder.ts'
import { startedAgents } from '../../config/agent/started-agents.ts'
import { agentDefaults } from '../../config/source/load-context.ts'
import { createLacks } from './lacks.ts'
import { readStartable } from './startable.ts'

/** A server whose PATH has these programs. */
async function startableWith(programs: readonly string[], hostCli: string | null, hasSandbox = true) {
  const bin = join(await tempFolder(), 'bin')
  mkdirSync(bin)
  for (const name of programs) {
    writeFileSync(join(bin, name), '#!/bin/sh\n')
    chmodSync(join(bin, name), 0o755)
  }
  const sandbox = async () => (hasSandbox ? { program: '/usr/bin/bwrap' } : null)
  const workspaces = [{ path: '/srv/shop', id: 'shop', channelId: null, label: 'Shop' }]
  return readStartable({
    agents: startedAgents({ hostCli: hostCli?.replace('BIN', bin) ?? null, hostCliArgs: ['--verbose'] }, agentDefaults),
    lacks: createLacks({ search: { searchPath: bin, workspaces: [] }, sandbox }),
    settings: { workspaces, defaultWorkspaceRoot: null },
  })
}

test('every host whose program is installed can be started, and each of the others says what it lacks', async () => {
  const { hosts, workspaces, root } = await startableWith(['codex-acp', 'gemini'], null)

  expect(hosts.map(({ name, problem, command }) => [name, problem, command])).toEqual([
    ['codex', null, null],
    ['gemini', null, null],
    [
      'claude',
      expect.stringContaining('there is no program claude-agent-acp in the PATH'),
      'npm install -g @agentclientprotocol/claude-agent-acp',
    ],
    ['copilot', expect.stringContaining('there is no program copilot'), 'npm install -g @github/copilot'],
  ])
  expect({ workspaces, root }).toEqual({ workspaces: [{ path: '/srv/shop', id: 'shop', label: 'Shop' }], root: null })
})

test('the host of the settings comes first: by its name, by the path of its program, or another program', async () => {
  const named = await startableWith(['codex-acp', 'gemini'], 'gemini')
  const byPath = await startableWith(['codex-acp', 'gemini'], 'BIN/codex-acp')
  const other = await startableWith(['codex-acp', 'own'], 'BIN/own')

  expect([named, byPath, other].map(({ hosts: [first] }) => [first?.name, first?.problem])).toEqual([
    ['gemini', null],
    ['codex', null],
    ['custom', null],
  ])
  expect(other.hosts[0]?.title).toMatch(/\/own$/)
})

test('nothing is started where nothing confines it', async () => {
  const { hosts } = await startableWith(['gemini'], null, false)

  expect(hosts.find(({ name }) => name === 'gemini')).toMatchObject({
    problem: expect.stringContaining('bubblewrap'),
    command: 'apt install bubblewrap',
  })
})
