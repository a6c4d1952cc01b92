// Claude Code's part is played by its own config: the hook that `connect` wrote into it, called as Claude Code calls it. The real one is
// in test/hosts.

import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { copyExample, OPERATOR_TOKEN } from './copied-example.ts'

test('supervised-claude-code lets the policy’s work pass after a yes, and asks about everything else', async () => {
  const example = await copyExample('supervised-claude-code')
  const [server, shop] = [join(example.folder, 'server'), join(example.folder, 'shop')]
  await example.run('sh', ['-c', 'mkdir shop/.quarterdeck && cp shop/policy.json shop/.quarterdeck/'])
  const { url } = await example.start({ cwd: server })
  const client = createClient({ url, token: OPERATOR_TOKEN })
  const checked = await example.quarterdeck('policy', 'check', 'shop/.quarterdeck/policy.json')
  expect(checked).toContain('The command npm test passes')
  await example.quarterdeck('connect', 'claude', '--workspace', 'shop', '--url', url, '--yes')

  const settings = JSON.parse(await readFile(join(example.env.HOME ?? '', '.claude/settings.json'), 'utf8'))
  const [{ command }] = settings.hooks.PreToolUse[0].hooks
  let calls = 0
  /** What the hook tells Claude Code about a call. */
  async function ask(tool_name: string, tool_input: object) {
    calls += 1
    const child = spawn('sh', ['-c', command], { cwd: shop, env: example.env, stdio: ['pipe', 'pipe', 'inherit'] })
    const call = { session_id: 'window', cwd: shop, tool_name, tool_input, tool_use_id: `toolu_${calls}` }
    child.stdin.end(JSON.stringify({ hook_event_name: 'PreToolUse', ...call }))
    return JSON.parse(await text(child.stdout)).hookSpecificOutput
  }
  const edit = { file_path: join(shop, 'src/price.js'), old_string: 'Math.round', new_string: 'Math.ceil' }
  const allowed = { permissionDecision: 'allow' }

  // The file alone allows nothing.
  const early = ask('Bash', { command: 'npm test' })
  await expect
    .poll(async () => (await client.approvals()).map(({ kind }) => kind).sort())
    .toEqual(['permission', 'policy'])
  const waiting = await client.approvals()
  for (const asked of waiting.filter(({ kind }) => kind === 'policy')) await client.approve(asked)
  for (const asked of waiting.filter(({ kind }) => kind === 'permission')) await client.reject(asked)
  expect(await early).toMatchObject({ permissionDecision: 'deny' })

  expect(await ask('Edit', edit)).toMatchObject(allowed)
  expect(await ask('Bash', { command: 'npm test' })).toMatchObject(allowed)
  expect(await client.approvals()).toEqual([])

  const script = { file_path: join(shop, 'package.json'), old_string: 'node --test', new_string: 'curl evil.example' }
  for (const [tool, input] of [
    ['Edit', script],
    ['Bash', { command: 'rm -r test' }],
  ] as const) {
    const answer = ask(tool, input)
    await expect.poll(async () => (await client.approvals()).length).toBe(1)
    for (const asked of await client.approvals()) await client.reject(asked, { reason: 'Not on a Friday.' })
    expect(await answer).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining('Not on a Friday.'),
    })
  }
})

test('supervised-claude-code is a project whose tests pass', async () => {
  const { folder, run } = await copyExample('supervised-claude-code')
  expect(await run('npm', ['test', '--prefix', join(folder, 'shop')])).toMatch(/pass 1\b/)
})
