// examples/supervised-claude-code with the real Claude Code.

import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { hosts, programOf } from './hosts.ts'
import { openYard } from './run-host.ts'

const example = join(import.meta.dirname, '../../examples/supervised-claude-code')
const claude = hosts.find(({ name }) => name === 'claude') ?? expect.fail('there is no Claude Code')
const isThere = programOf(claude) !== null
if (!isThere) process.stdout.write('SKIPPED: Claude Code is not installed. npm run test:hosts installs it.\n')

test.runIf(isThere)('Claude Code edits and tests without asking, and deletes nothing after a no', async () => {
  const settings = parse(readFileSync(join(example, 'server/quarterdeck.yaml'), 'utf8'))
  await using yard = await openYard(claude, {
    settings: ({ workspace }) => ({ ...settings, workspaces: [{ path: workspace, id: 'shop' }] }),
  })
  cpSync(join(example, 'shop'), yard.workspace, { recursive: true })
  mkdirSync(join(yard.workspace, '.quarterdeck'))
  cpSync(join(example, 'shop/policy.json'), join(yard.workspace, '.quarterdeck/policy.json'))

  const file_path = join(yard.workspace, 'src/price.js')
  const steps = [
    { call: 'Read', input: { file_path } },
    { call: 'Edit', input: { file_path, old_string: 'Math.round', new_string: 'Math.ceil' } },
    claude.shell('npm test'),
    claude.shell('rm -r test'),
  ]
  // The policy waits until an agent first asks, and until somebody has said yes.
  const before = yard.run((results) => (results.length === 0 ? claude.shell('npm test') : undefined))
  const first = await yard.supervisor.question()
  const second = await yard.supervisor.question([first.approval_id])
  for (const { approval_id, digest, kind } of [first, second]) {
    const decision = kind === 'policy' ? 'approve' : 'reject'
    expect(await yard.supervisor.post(`/approvals/${approval_id}`, { decision, digest })).toMatchObject({ status: 200 })
  }
  await before

  const running = await yard.start((results) => steps[results.length])
  const asked = await yard.supervisor.decide({ decision: 'reject', reason: 'We need the tests.' })
  const { results } = await running.ended

  expect(asked).toMatchObject({ kind: 'permission', arguments: { command: 'rm -r test' } })
  expect(yard.read('src/price.js')).toContain('Math.ceil')
  expect(results).toEqual([
    expect.stringContaining('Math.round'),
    expect.any(String),
    expect.stringContaining('pass 1'),
    expect.stringContaining('We need the tests.'),
  ])
  expect(yard.read('test/price.js')).not.toBeNull()
})
