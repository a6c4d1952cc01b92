import { describe, expect, test } from 'vitest'
import { formatIssue } from '../config-error.ts'
import { createMemoryFiles } from '../testing/memory-files.ts'
import { loadAgents } from './load-agents.ts'

function warningsOf(...lines: string[]): string[] {
  const text = ['name: a', 'model: { provider: demo }', 'instructions: Be kind.', ...lines].join('\n')
  const warnings: string[] = []
  loadAgents(['/a/agent.yaml'], {
    env: {},
    files: createMemoryFiles({ '/a/agent.yaml': text, '/a/tools.ts': '' }),
    warn: (one) => warnings.push(formatIssue(one)),
  })
  return warnings
}

const advice = 'Write otherwise: run next to when to let the other calls run, or remove when.'
const pay = (...more: string[]) => [
  'tools:',
  `  - { type: function, name: pay, file: tools.ts, parameters: { n: { type: number } }, ${more.join(', ')} }`,
]
const when = 'approval: { when: { n: { above: 9 } } }'

describe('conditions that change nothing are reported with their file and line', () => {
  test('if the risk of the tool asks about every call', () => {
    expect(warningsOf(...pay(when))).toEqual([
      `/a/agent.yaml:5:97 tools[0].approval: every call of pay needs approval because its risk is high, so these conditions change nothing. ${advice}`,
    ])
  })

  test('for a tool of an MCP server', () => {
    const lines = [
      'tools:',
      '  - type: mcp',
      '    name: notes',
      '    command: npx',
      '    tools:',
      '      write_file: { approval: { when: { path: "*.env" } } }',
      '      read_file: { risk: low, approval: { when: { path: "*.env" } } }',
    ]
    expect(warningsOf(...lines)).toEqual([
      `/a/agent.yaml:9:31 tools[0].tools.write_file.approval: every call of write_file needs approval because its risk is high, so these conditions change nothing. ${advice}`,
    ])
  })

  test('for a tool whose server may say that it only reads', () => {
    const lines = [
      'tools:',
      '  - type: mcp',
      '    name: notes',
      '    command: npx',
      '    trust_hints: true',
      '    tools:',
    ]
    expect(warningsOf(...lines, '      edit: { approval: { when: { path: "*.env" } } }')).toEqual([
      expect.stringContaining('every call of edit needs approval because its risk is high unless it only reads, so'),
    ])
  })

  test('for the agent’s default', () => {
    expect(warningsOf('approval: { default: { when: { n: { above: 9 } } } }', ...pay('effect: once'))).toEqual([
      `/a/agent.yaml:4:22 approval.default: every call of pay needs approval because of its risk, so these conditions change nothing. ${advice}`,
    ])
  })

  test.each([
    ['always', [when], 'every call of pay needs approval because approval.default is always'],
    ['risk >= critical', [when, 'risk: critical'], 'every call of pay needs approval because its risk is critical'],
  ])('if the agent’s default is %s', (rule, more, reason) => {
    expect(warningsOf(`approval: { default: ${rule} }`, ...pay(...more))).toEqual([expect.stringContaining(reason)])
  })
})

test.each<[string, string[]]>([
  ['all other calls run', pay('approval: { when: { n: { above: 9 } }, otherwise: run }')],
  ['the risk is low', pay(when, 'effect: read')],
  ['the agent never asks', ['approval: { default: never }', ...pay(when)]],
  ['the agent asks about more risk', ['approval: { default: risk >= critical }', ...pay(when)]],
  ['there are no conditions', pay('effect: once')],
])('there is no warning if %s', (_, lines) => {
  expect(warningsOf(...lines)).toEqual([])
})
