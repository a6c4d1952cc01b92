// The calls are those that the real programs sent, in the versions of test/hosts/hosts.ts, with every update of a call merged.

import { describe, expect, test } from 'vitest'
import type { AcpCall } from './host.ts'
import { type HostName, hostNames, hosts } from './hosts.ts'
import { toolEffect } from './tool-effect.ts'

const file = '/shop/old.txt'
const diff = (path: string, oldText: string | null, newText: string, kind?: string) => ({
  type: 'diff' as const,
  path,
  oldText,
  newText,
  ...(kind === undefined ? {} : { _meta: { kind } }),
})

const told = (host: HostName, call: AcpCall) => hosts[host].acp.toolOf(call)

describe('a call that is told over ACP becomes one of the tools that we know', () => {
  test.each<[HostName, AcpCall, { tool: string; input: object }]>([
    [
      'claude',
      {
        toolCallId: 'toolu_1',
        name: 'Bash',
        kind: 'execute',
        rawInput: { command: 'echo hi > ran.txt', description: 'Write a file' },
        content: [{ type: 'content', content: { type: 'text', text: 'Write a file' } }],
        _meta: { claudeCode: { toolName: 'Bash' } },
      },
      { tool: 'Bash', input: { command: 'echo hi > ran.txt', description: 'Write a file' } },
    ],
    [
      'claude',
      {
        toolCallId: 'toolu_4',
        kind: 'edit',
        rawInput: { file_path: file, old_string: 'two', new_string: 'TWO', replace_all: false },
        content: [diff(file, 'two', 'TWO')],
        locations: [{ path: file }],
        _meta: { claudeCode: { toolName: 'Edit' } },
      },
      { tool: 'Edit', input: { file_path: file, old_string: 'two', new_string: 'TWO', replace_all: false } },
    ],
    [
      'codex',
      {
        toolCallId: 'call_3',
        kind: 'execute',
        content: [{ type: 'terminal', terminalId: 'call_3' }],
        rawInput: { command: 'echo hi > ran.txt', cwd: '/shop' },
      },
      { tool: 'exec_command', input: { command: 'echo hi > ran.txt', cwd: '/shop' } },
    ],
    [
      'codex',
      {
        toolCallId: 'call_2',
        kind: 'edit',
        content: [diff('/shop/new.txt', null, 'hello\n', 'add')],
        locations: [{ path: '/shop/new.txt' }],
      },
      { tool: 'fileChange', input: { file_path: '/shop/new.txt', content: 'hello\n' } },
    ],
    [
      'codex',
      {
        toolCallId: 'call_3',
        kind: 'edit',
        content: [diff(file, 'one\ntwo\n', 'one\nTWO\n', 'update')],
        locations: [{ path: file }],
      },
      { tool: 'fileChange', input: { file_path: file, old_string: 'one\ntwo\n', new_string: 'one\nTWO\n' } },
    ],
    [
      'copilot',
      {
        toolCallId: 'call_1',
        kind: 'execute',
        rawInput: { command: 'echo hi', description: 'Say hi', commands: ['echo hi'] },
      },
      { tool: 'bash', input: { command: 'echo hi', description: 'Say hi' } },
    ],
    [
      'copilot',
      {
        toolCallId: 'call_2',
        kind: 'edit',
        rawInput: { path: file, file_text: 'hello\n', fileName: file, diff: 'diff --git a/shop/old.txt …' },
        locations: [{ path: file }],
        content: [diff(file, '', 'hello\n')],
      },
      { tool: 'create', input: { path: file, file_text: 'hello\n' } },
    ],
    [
      'copilot',
      {
        toolCallId: 'call_4',
        kind: 'edit',
        rawInput: { path: file, old_str: 'two', new_str: 'TWO', fileName: file, diff: 'diff --git a/shop/old.txt …' },
        locations: [{ path: file }],
        content: [diff(file, 'two', 'TWO')],
      },
      { tool: 'edit', input: { path: file, old_str: 'two', new_str: 'TWO' } },
    ],
    [
      'gemini',
      {
        toolCallId: 'replace__call_4',
        kind: 'edit',
        content: [diff(file, 'one\ntwo\nthree\n', 'one\nTWO\nthree\n', 'modify')],
        locations: [{ path: file }],
      },
      { tool: 'write_file', input: { file_path: file, content: 'one\nTWO\nthree\n' } },
    ],
    // Nobody has told the command.
    [
      'gemini',
      { toolCallId: 'run_shell_command__call_1', kind: 'execute', content: [], locations: [] },
      { tool: 'run_shell_command', input: {} },
    ],
  ])('%s %#', (host, call, expected) => {
    expect(told(host, call)).toEqual(expected)
  })

  test('and no other: what is not told clearly is known to nobody, or may write anything', () => {
    const moved = { content: [diff('/shop/moved.txt', 'a', 'b', 'update')], locations: [{ path: file }] }
    const network = { command: 'curl x', cwd: '/shop', url: 'https://x' }
    const elsewhere = { path: file, file_text: 'x', fileName: '/etc/passwd', diff: '' }
    expect([
      told('claude', { toolCallId: '1', kind: 'execute', rawInput: { command: 'ls' } }),
      told('codex', { toolCallId: '2', kind: 'execute', rawInput: network }),
      told('codex', { toolCallId: '3', kind: 'other', name: 'request_permissions', rawInput: { permissions: {} } }),
      told('codex', { toolCallId: '4', kind: 'edit', ...moved }),
      told('codex', { toolCallId: '5', kind: 'edit', content: [diff(file, 'a', '', 'delete')] }),
      told('codex', { toolCallId: '6', kind: 'edit', content: [diff(file, 'a', 'b', 'update'), ...moved.content] }),
      // It asks about the folder of a file first, under the id of the same call.
      told('copilot', { toolCallId: '7', kind: 'read', rawInput: { path: '/etc/passwd', file_text: 'x' } }),
      told('copilot', { toolCallId: '8', kind: 'edit', rawInput: elsewhere }),
      // A tool of an MCP server with the name of an argument that the shell has.
      told('copilot', { toolCallId: '9', kind: 'execute', rawInput: { command: 'ls' } }),
      told('gemini', { toolCallId: '10', kind: 'execute' }),
    ]).toEqual([
      null,
      null,
      null,
      { tool: 'apply_patch', input: {} },
      { tool: 'apply_patch', input: {} },
      { tool: 'apply_patch', input: {} },
      null,
      { tool: 'apply_patch', input: {} },
      null,
      null,
    ])
  })
})

test('the tools are those of the host', () => {
  const effects = (host: HostName, ...tools: string[]) => tools.map((tool) => toolEffect(host, tool))
  expect(effects('codex', 'exec_command', 'fileChange', 'apply_patch')).toEqual(['runs', 'writes', 'writes'])
  expect(effects('copilot', 'bash', 'create', 'edit', 'apply_patch')).toEqual(['runs', 'writes', 'writes', 'writes'])
  expect(effects('gemini', 'run_shell_command', 'write_file')).toEqual(['runs', 'writes'])
})

test.each(hostNames)('%s does not begin in a mode in which it acts without asking', (name) => {
  const { askingMode, bold } = hosts[name].acp
  expect(bold.modes).not.toContain(askingMode)
})
