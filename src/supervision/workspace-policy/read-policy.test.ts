import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { readPolicy } from './read-policy.ts'
import { flatText, nestedText, policies } from './testing/policies.ts'
import { defaultPolicy } from './workspace-policy.ts'

const problemsOf = (text: string): string[] =>
  readPolicy(text).problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)

describe('a policy file', () => {
  test('without any keys has the defaults, which allow nothing', () => {
    expect(readPolicy('{}')).toEqual({ policy: defaultPolicy, problems: [], settings: [] })
    expect(readPolicy('\ufeff{ }\r\n').policy).toEqual(defaultPolicy)
    expect(defaultPolicy.enabled).toBe(false)
  })

  test('may be flat in snake_case', () => {
    const text = `{
  "$schema": "https://example.com/policy.json",
  "enabled": true,
  "commands": ["npm test", "git *"],
  "tools": ["Read"],
  "file_patterns": { "write": ["src/**"], "read": [] },
  "risk_level_threshold": "high",
  "log_auto_approved": true,
  "summary_interval_seconds": 60
}`
    expect(readPolicy(text)).toEqual({
      policy: {
        enabled: true,
        commands: ['npm test', 'git *'],
        tools: ['Read'],
        filePatterns: { write: ['src/**'], read: [] },
        riskLevelThreshold: 'high',
        logAutoApproved: true,
        summaryIntervalSeconds: 60,
      },
      problems: [],
      settings: [
        { line: 3, column: 3, path: 'enabled', field: 'enabled', entry: null },
        { line: 4, column: 3, path: 'commands', field: 'commands', entry: null },
        { line: 4, column: 16, path: 'commands[0]', field: 'commands', entry: 'npm test' },
        { line: 4, column: 28, path: 'commands[1]', field: 'commands', entry: 'git *' },
        { line: 5, column: 3, path: 'tools', field: 'tools', entry: null },
        { line: 5, column: 13, path: 'tools[0]', field: 'tools', entry: 'Read' },
        { line: 6, column: 22, path: 'file_patterns.write', field: 'file_patterns.write', entry: null },
        { line: 6, column: 32, path: 'file_patterns.write[0]', field: 'file_patterns.write', entry: 'src/**' },
        { line: 6, column: 43, path: 'file_patterns.read', field: 'file_patterns.read', entry: null },
        { line: 7, column: 3, path: 'risk_level_threshold', field: 'risk_level_threshold', entry: null },
        { line: 8, column: 3, path: 'log_auto_approved', field: 'log_auto_approved', entry: null },
        { line: 9, column: 3, path: 'summary_interval_seconds', field: 'summary_interval_seconds', entry: null },
      ],
    })
  })

  test('means the same in both spellings', () => {
    fc.assert(
      fc.property(policies, (policy) => {
        expect(readPolicy(flatText(policy)).policy).toEqual(policy)
        expect(readPolicy(nestedText(policy)).policy).toEqual(policy)
      }),
    )
  })

  test.each([
    ['', '1:1 : the file is empty. Write {} for a policy that allows nothing.'],
    ['[]', '1:1 : expected keys with values: { "enabled": true }'],
    ['null', '1:1 : expected keys with values: { "enabled": true }'],
    ['{\n  "enabled": true,\n}', '3:1 : expected a key in double quotes. Remove the comma before it.'],
    ['{"enabled": "true"}', '1:13 enabled: expected true or false.'],
    ['{"enabled": null}', '1:13 enabled: expected true or false.'],
    ['{"enable": true}', '1:2 enable: unknown key. Did you mean enabled?'],
    ['{"riskLevelThreshold": "low"}', '1:2 riskLevelThreshold: unknown key. Did you mean risk_level_threshold?'],
    [
      '{"x": 1}',
      '1:2 x: unknown key. The keys are enabled, commands, tools, file_patterns, risk_level_threshold, log_auto_approved, summary_interval_seconds.',
    ],
    ['{"__proto__": {"enabled": true}}', expect.stringMatching(/^1:2 __proto__: unknown key\./)],
    ['{"toString": 1}', expect.stringMatching(/^1:2 toString: unknown key\./)],
    ['{"a\\u202eb": 1}', expect.stringMatching(/^1:2 a<U\+202E>b: unknown key\./)],
    ['{"commands": "npm test"}', '1:14 commands: expected a list of texts: ["…"]'],
    ['{"commands": [1]}', '1:15 commands[0]: expected a text in double quotes.'],
    ['{"commands": [["npm"]]}', '1:15 commands[0]: expected a text in double quotes.'],
    ['{"commands": [""]}', '1:15 commands[0]: the text is empty. Remove it.'],
    ['{"commands": [" a"]}', '1:15 commands[0]: the text begins or ends with a space. Remove it.'],
    ['{"commands": ["a\\nb"]}', '1:15 commands[0]: the text has a character that people do not see. Remove it.'],
    ['{"tools": ["Re\\u200bad"]}', '1:12 tools[0]: the text has a character that people do not see. Remove it.'],
    [`{"tools": ["${'a'.repeat(257)}"]}`, '1:12 tools[0]: the text is longer than 256 characters.'],
    [`{"commands": ["${'*a'.repeat(11)}"]}`, '1:15 commands[0]: the text has more than 10 wildcards.'],
    ['{"file_patterns": []}', '1:19 file_patterns: expected keys with values: write, read.'],
    ['{"file_patterns": {"wirte": []}}', '1:20 file_patterns.wirte: unknown key. Did you mean write?'],
    [
      '{"file_patterns": {"write": ["**", "!secret/**"]}}',
      '1:36 file_patterns.write[1]: a pattern cannot leave files out with "!". List only what may be touched.',
    ],
    ['{"risk_level_threshold": "medium"}', '1:26 risk_level_threshold: expected one of low, high, critical.'],
    ['{"risk_level_threshold": 1}', '1:26 risk_level_threshold: expected one of low, high, critical.'],
    [
      '{"summary_interval_seconds": 0.5}',
      '1:30 summary_interval_seconds: expected a whole number of seconds from 0 to 86400.',
    ],
    [
      '{"summary_interval_seconds": -1}',
      '1:30 summary_interval_seconds: expected a whole number of seconds from 0 to 86400.',
    ],
    [
      '{"autoApprove": {}, "enabled": true}',
      '1:21 enabled: unknown key here. A file with autoApprove or notifications has all its keys below these two.',
    ],
    ['{"autoApprove": {"enable": true}}', '1:18 autoApprove.enable: unknown key. Did you mean enabled?'],
    ['{"autoApprove": true}', expect.stringMatching(/^1:17 autoApprove: expected keys with values: enabled, /)],
    ['{"notifications": {"log_auto_approved": true}}', expect.stringContaining('Did you mean logAutoApproved?')],
  ])('%s is explained', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem])
  })

  test('with any mistake has no policy at all, and all mistakes are named', () => {
    const text = '{"enabled": 1, "commands": ["ok", 2], "tools": {}}'
    expect(readPolicy(text).policy).toBe(null)
    expect(problemsOf(text)).toEqual([
      '1:13 enabled: expected true or false.',
      '1:35 commands[1]: expected a text in double quotes.',
      '1:48 tools: expected a list of texts: ["…"]',
    ])
  })

  test('is bounded', () => {
    expect(problemsOf(`{"enabled": true}${' '.repeat(64 * 1024)}`)).toEqual([
      '1:1 : the file has more than 64 KiB. Shorten it.',
    ])
    expect(problemsOf(JSON.stringify({ tools: Array.from({ length: 101 }, (_, i) => `t${i}`) }))).toEqual([
      '1:10 tools: there are more than 100 entries. Use wider patterns.',
    ])
    expect(problemsOf(JSON.stringify({ tools: Array(100).fill(1) }))).toHaveLength(20)
  })

  test('never throws, whatever it contains', () => {
    const bytes = fc.uint8Array({ maxLength: 60 })
    const texts = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
      bytes.map((some) => Buffer.from(some).toString('latin1')),
      bytes.map((some) => JSON.stringify({ tools: [Buffer.from(some).toString('utf8')] })),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const { policy, problems } = readPolicy(text)
        expect(policy === null).toBe(problems.length > 0)
      }),
      { numRuns: runs(300) },
    )
  })
})
