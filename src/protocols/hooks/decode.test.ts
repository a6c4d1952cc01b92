import { describe, expect, test } from 'vitest'
import type { HostName } from '../../hosts/hosts.ts'
import type { HookCall } from '../../supervision/hooks/hook-service.ts'
import { decodeHook } from './decode.ts'

/** As the real hosts sent them, without what we do not read. */
const session = { session_id: '01a1', cwd: '/home/ada/shop', transcript_path: '/t.jsonl', model: 'x' }
const source = { hostSessionId: '01a1', cwd: '/home/ada/shop' }

describe('a host’s question before a tool runs', () => {
  test.each<[HostName, Record<string, unknown>, Partial<HookCall>]>([
    [
      'claude',
      {
        hook_event_name: 'PreToolUse',
        permission_mode: 'default',
        tool_name: 'Write',
        tool_input: { file_path: '/home/ada/shop/a.txt', content: 'hello' },
        tool_use_id: 'toolu_1',
      },
      {
        toolName: 'Write',
        input: { file_path: '/home/ada/shop/a.txt', content: 'hello' },
        toolUseId: 'toolu_1',
        isOwn: false,
      },
    ],
    [
      'claude',
      { hook_event_name: 'PreToolUse', tool_name: 'Read', tool_input: { file_path: 'a' }, tool_use_id: 't' },
      { toolName: 'Read', input: { file_path: 'a' }, toolUseId: 't', isOwn: false },
    ],
    [
      'claude',
      { hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: { command: 'ls' } },
      { toolName: 'Bash', input: { command: 'ls' }, toolUseId: null, isOwn: false, command: 'ls' },
    ],
    [
      'codex',
      { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'call_1' },
      { toolName: 'Bash', input: { command: 'ls' }, toolUseId: 'call_1', isOwn: false, command: 'ls' },
    ],
    [
      'codex',
      {
        hook_event_name: 'PreToolUse',
        tool_name: 'apply_patch',
        tool_input: { command: '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** End Patch' },
        tool_use_id: 'c',
      },
      {
        toolName: 'apply_patch',
        input: { command: '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** End Patch' },
        toolUseId: 'c',
        isOwn: false,
      },
    ],
    [
      'copilot',
      { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls', description: 'x' } },
      {
        toolName: 'Bash',
        input: { command: 'ls', description: 'x' },
        toolUseId: null,
        isOwn: false,
        command: 'ls',
      },
    ],
    [
      'gemini',
      { hook_event_name: 'BeforeTool', tool_name: 'read_file', tool_input: { file_path: 'a' } },
      { toolName: 'read_file', input: { file_path: 'a' }, toolUseId: null, isOwn: false },
    ],
  ])('%s: %j', (host, body, expected) => {
    expect(decodeHook(host, { ...session, ...body })).toEqual({
      wireEvent: body.hook_event_name,
      asked: { host, ...source, event: 'permission', ...expected },
    })
  })

  test.each([
    ['mcp__quarterdeck__ask_approval', true],
    ['mcp_quarterdeck_heartbeat', true],
    ['quarterdeck-ask_approval', true],
    ['mcp__quarterdeck__delete_everything', false],
    ['mcp__other__ask_approval', false],
    ['ask_approval', false],
    ['__proto__', false],
    ['Read', false],
  ])('is the tool %s one of ours? %s', (tool, isOwn) => {
    const body = { ...session, hook_event_name: 'PreToolUse', tool_name: tool, tool_input: {} }

    expect(decodeHook('claude', body).asked).toMatchObject({ isOwn })
  })
})

describe('what a host tells', () => {
  test.each<[HostName, Record<string, unknown>, readonly [string, string]]>([
    ['claude', { hook_event_name: 'SessionStart', source: 'startup' }, ['session_start', 'startup']],
    ['claude', { hook_event_name: 'SessionEnd', reason: 'other' }, ['session_end', 'other']],
    ['claude', { hook_event_name: 'Stop', last_assistant_message: 'Done.' }, ['notification', 'stop']],
    [
      'claude',
      { hook_event_name: 'Notification', notification_type: 'permission_prompt', message: 'Claude needs you' },
      ['notification', 'permission_prompt'],
    ],
    ['gemini', { hook_event_name: 'AfterAgent', prompt_response: 'Done.' }, ['notification', 'stop']],
  ])('%s: %j', (host, body, [event, reason]) => {
    expect(decodeHook(host, { ...session, ...body })).toEqual({
      wireEvent: body.hook_event_name,
      asked: { host, ...source, event, reason },
    })
  })
})

test.each([
  [null, ''],
  [[], ''],
  ['PreToolUse', ''],
  [{}, '/hook_event_name'],
  [{ hook_event_name: 'constructor' }, '/hook_event_name'],
  [{ hook_event_name: 7 }, '/hook_event_name'],
  [{ hook_event_name: 'PreToolUse' }, '/tool_name'],
  [{ hook_event_name: 'PreToolUse', tool_name: 'x'.repeat(501), tool_input: {} }, '/tool_name'],
  [{ hook_event_name: 'PreToolUse', tool_name: 'Bash' }, '/tool_input'],
  [{ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: 'ls' }, '/tool_input'],
])('%j is not the input of a hook', (body, pointer) => {
  expect(() => decodeHook('claude', body)).toThrow(
    expect.objectContaining({ code: 'invalid_request', problems: [expect.objectContaining({ pointer })] }),
  )
})
