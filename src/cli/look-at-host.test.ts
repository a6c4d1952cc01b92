import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { HostAgent } from '../domain/agent/agent.ts'
import { lookAtHost } from './look-at-host.ts'
import { tempFolder } from './testing/temp-folder.ts'

async function hosted(more: Partial<HostAgent['host']>, env: Record<string, string> = {}) {
  const folder = await tempFolder()
  const bin = join(folder, 'lib', 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(folder, 'lib', 'package.json'), '{"version":"1.2.3"}')
  writeFileSync(join(bin, 'claude-agent-acp'), '')
  chmodSync(join(bin, 'claude-agent-acp'), 0o755)
  const workspace = join(folder, 'shop')
  mkdirSync(workspace)
  const host = {
    ...{ name: 'claude', command: null, args: [], workspace, env: [], network: true },
    ...{ writes: 'worktree' as const, unconfined: false },
    ...more,
  }
  // What is looked at is only this.
  const agent = { name: 'coder', host } as unknown as HostAgent
  const found = await lookAtHost(agent, { env: { PATH: bin, ...env } })
  const words = ({ path, status, detail, mend }: (typeof found)[number]) =>
    [path.at(-1), status, detail.replaceAll(folder, ''), mend] as const
  return found.map(words)
}

const NO_BWRAP = 'bubblewrap (bwrap) is not installed'
const INSTALL = 'Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap).'

test('a program is told with its version, and a missing sandbox keeps it from starting', async () => {
  expect(await hosted({}, { ANTHROPIC_API_KEY: 'key' })).toEqual([
    ['name', 'ok', 'coder: claude is /lib/bin/claude-agent-acp 1.2.3', ''],
    ['workspace', 'ok', 'coder: works in /shop', ''],
    ['unconfined', 'fail', `coder: it is not started without a sandbox: ${NO_BWRAP}`, INSTALL],
  ])
})

test('a missing program, variables that are not set and an unconfined program are told', async () => {
  const found = await hosted(
    { name: 'custom', command: 'nobody', env: ['HERE', 'GONE'], unconfined: true },
    { HERE: 'x' },
  )
  expect(found).toEqual([
    ['command', 'fail', 'coder: there is no program nobody in the PATH. Install it, or write its whole path', ''],
    ['workspace', 'ok', 'coder: works in /shop', ''],
    ['unconfined', 'warn', `coder: unconfined: runs without a sandbox: ${NO_BWRAP}`, INSTALL],
    ['env', 'warn', 'coder: GONE is not set, so the program does not get it', 'Set GONE.'],
  ])
  expect((await hosted({})).at(-1)?.slice(0, 2)).toEqual(['env', 'warn'])
})

test('a folder that is gone is told', async () => {
  const [, workspace] = await hosted({ workspace: '/nowhere/at/all' })
  expect(workspace).toEqual([
    'workspace',
    'fail',
    'coder: /nowhere/at/all cannot be written',
    'Give this user the right to write there.',
  ])
})
