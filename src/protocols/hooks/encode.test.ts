import { describe, expect, test } from 'vitest'
import { type HostName, hostNames } from '../../hosts/hosts.ts'
import { type HookVerdict, MOST_REPLY_CHARS } from '../../supervision/hooks/hook-service.ts'
import { encodeDenial, encodeReply, encodeVerdict } from './encode.ts'

const pre = (output: Record<string, unknown>) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...output } })
const asked = (decision: Record<string, unknown>) => ({
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
})
const given = { command: 'ls', description: 'list' }
const updatedInput = { command: 'ls -l', description: 'list' }
const shorter = { command: 'ls -l' }

const told = (input: object) => ({
  additionalContext: `A person changed the arguments of this call before it ran, to: ${JSON.stringify(input)}`,
})

describe('a verdict in the words of the host', () => {
  test.each<[HostName, string, HookVerdict, Record<string, unknown>]>([
    ['claude', 'PreToolUse', { behavior: 'allow' }, pre({ permissionDecision: 'allow' })],
    [
      'claude',
      'PreToolUse',
      { behavior: 'allow', updatedInput: shorter },
      pre({ permissionDecision: 'allow', updatedInput: shorter, ...told(shorter) }),
    ],
    ['claude', 'PermissionRequest', { behavior: 'allow', updatedInput }, asked({ behavior: 'allow', updatedInput })],
    ['codex', 'PreToolUse', { behavior: 'allow' }, {}],
    [
      'codex',
      'PreToolUse',
      { behavior: 'allow', updatedInput },
      pre({ permissionDecision: 'allow', updatedInput, ...told(updatedInput) }),
    ],
    ['codex', 'PermissionRequest', { behavior: 'allow' }, asked({ behavior: 'allow' })],
    [
      'copilot',
      'PreToolUse',
      { behavior: 'allow', updatedInput },
      pre({ permissionDecision: 'allow', updatedInput, ...told(updatedInput) }),
    ],
    ['gemini', 'BeforeTool', { behavior: 'allow' }, { decision: 'allow' }],
    [
      'gemini',
      'BeforeTool',
      { behavior: 'allow', updatedInput },
      { decision: 'allow', hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: updatedInput } },
    ],
    [
      'claude',
      'PreToolUse',
      { behavior: 'deny', message: 'No.' },
      pre({ permissionDecision: 'deny', permissionDecisionReason: 'No.' }),
    ],
    ['codex', 'PermissionRequest', { behavior: 'deny', message: 'No.' }, asked({ behavior: 'deny', message: 'No.' })],
    ['gemini', 'BeforeTool', { behavior: 'deny', message: 'No.' }, { decision: 'deny', reason: 'No.' }],
  ])('%s, %s: %j', (host, event, verdict, words) => {
    expect(encodeVerdict(host, event, verdict, given)).toEqual(words)
  })

  test.each(hostNames)('%s: no opinion says nothing', (host) => {
    expect(encodeVerdict(host, 'PreToolUse', { behavior: 'pass' }, given)).toEqual({})
  })

  test.each<[HostName, string, Record<string, unknown>]>([
    ['codex', 'PermissionRequest', updatedInput],
    ['copilot', 'PreToolUse', shorter],
    ['gemini', 'BeforeTool', shorter],
  ])('%s, %s: a change that the host cannot make is a refusal that names it', (host, event, changed) => {
    const words = encodeVerdict(host, event, { behavior: 'allow', updatedInput: changed }, given)

    const [said] = /A person approved[^}]*}/.exec(JSON.stringify(words).replaceAll('\\"', '"')) ?? ['']
    expect(said.endsWith(JSON.stringify(changed))).toBe(true)
    expect(words).toEqual(encodeDenial(host, event, said))
  })

  test.each(hostNames)('%s: a refusal always has a reason', (host) => {
    expect(JSON.stringify(encodeDenial(host, 'PreToolUse', ' '))).toContain('Quarterdeck refused this call.')
  })
})

describe('text for the agent', () => {
  test.each<[HostName, string, string | undefined, Record<string, unknown>]>([
    ['claude', 'Stop', 'Go on.', { decision: 'block', reason: 'Go on.' }],
    ['codex', 'Stop', 'Go on.', { decision: 'block', reason: 'Go on.' }],
    ['gemini', 'AfterAgent', 'Go on.', { decision: 'deny', reason: 'Go on.' }],
    ['claude', 'Stop', undefined, {}],
    [
      'claude',
      'SessionStart',
      'Hello.',
      { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'Hello.' } },
    ],
    ['claude', 'SessionEnd', 'Too late.', {}],
  ])('%s, %s: %s', (host, event, text, words) => {
    expect(encodeReply(host, event, text === undefined ? {} : { text })).toEqual(words)
  })
  test('is never cut', () => {
    const text = 'x'.repeat(MOST_REPLY_CHARS)

    expect(encodeReply('claude', 'Stop', { text })).toEqual({ decision: 'block', reason: text })
  })
})
