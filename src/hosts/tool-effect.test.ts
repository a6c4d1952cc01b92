import { describe, expect, test } from 'vitest'
import { hosts } from './hosts.ts'
import { toolEffect, writeShapes } from './tool-effect.ts'

describe('a host that we know goes by its own list', () => {
  test.each([
    ['claude', 'Bash', 'runs'],
    ['claude-code', 'WaitForMcpServers', 'host'],
    ['claude', 'bash', 'unknown'],
    ['claude', 'view', 'unknown'],
    ['claude', '__proto__', 'unknown'],
    ['claude', 'mcp__github__merge', 'unknown'],
    ['claude', 'Skill', 'unknown'],
    ['codex', 'apply_patch', 'writes'],
    ['codex', 'write_stdin', 'unknown'],
    ['copilot', 'Read', 'reads'],
    ['copilot', 'sql', 'host'],
    ['gemini', 'google_web_search', 'reaches'],
  ])('%s: %s %s', (host, tool, effect) => {
    expect(toolEffect(host, tool)).toBe(effect)
  })
})

describe('any other goes by all lists', () => {
  test.each([
    ['BASH', 'runs'],
    ['exec', 'runs'],
    ['read_file', 'reads'],
    ['ask_approval', 'writes'],
    // It may query anybody's database.
    ['sql', 'unknown'],
    ['todowrite', 'unknown'],
    ['constructor', 'unknown'],
  ])('%s %s', (tool, effect) => {
    expect([toolEffect('mine', tool), toolEffect(null, tool)]).toEqual([effect, effect])
  })
})

test.each([
  ['claude', 'Agent', { prompt: 'Look around.' }, 'host'],
  ['claude', 'Agent', { prompt: 'Look around.', isolation: 'remote' }, 'unknown'],
  ['claude', 'Monitor', { command: 'npm test' }, 'runs'],
  ['claude', 'Monitor', { ws: { url: 'wss://example.com' } }, 'unknown'],
  // It is not the shell whose commands are looked into.
  ['claude', 'PowerShell', { command: 'echo "\\"; rm -rf x; echo "' }, 'unknown'],
])('%s: %s with %j: %s', (host, tool, input, effect) => {
  expect(toolEffect(host, tool, input)).toBe(effect)
})

test('lists that know the same name agree about it, so that their order does not matter', () => {
  const effects = new Map<string, Set<string>>()
  for (const [name, { tools }] of Object.entries(hosts)) {
    for (const tool of Object.keys(tools)) {
      const effect = toolEffect(name, tool)
      const known = effects.get(tool.toLowerCase()) ?? new Set()
      effects.set(tool.toLowerCase(), known.add(effect === 'host' ? 'unknown' : effect))
    }
  }

  expect([...effects].filter(([, known]) => known.size > 1)).toEqual([])
})

test('Copilot CLI says Write and Edit in its hooks, with the arguments of its own tools', () => {
  const pathOf = (host: string | null, tool: string) => writeShapes(host, tool).map(({ path }) => path)

  expect([pathOf('copilot', 'Write'), pathOf('claude', 'Write'), pathOf(null, 'write')]).toEqual([
    ['path'],
    ['file_path'],
    ['file_path', 'path'],
  ])
})
