import { describe, expect, test } from 'vitest'
import { explainPolicy } from './explain-policy.ts'
import { readPolicy } from './read-policy.ts'
import { limits } from './testing/policies.ts'

function explain(text: string, allowlist: readonly (readonly string[])[] | null = limits.allowlist): string[] {
  const read = readPolicy(text)
  if (read.policy === null) throw new Error('the file is broken')
  return explainPolicy(read.policy, read.settings, { ...limits, allowlist }).map(({ line, path, means, note }) =>
    [`${line} ${path}: ${means}`, note].filter((part) => part !== null).join(' NOTE '),
  )
}

describe('the explanation of a policy file', () => {
  test('says what each line means', () => {
    expect(
      explain(`{
  "enabled": true,
  "commands": ["npm test", "npm *"],
  "tools": ["Read"],
  "file_patterns": {
    "write": ["src/**"],
    "read": ["README.md"]
  },
  "risk_level_threshold": "high",
  "log_auto_approved": true,
  "summary_interval_seconds": 60
}`),
    ).toEqual([
      '2 enabled: The policy is switched on. NOTE It allows nothing until an operator accepts this file.',
      '3 commands[0]: The command npm test passes.',
      '3 commands[1]: These commands pass: npm test',
      '4 tools[0]: Every call of the tool Read passes, except one that runs a command or touches a protected path.',
      '6 file_patterns.write[0]: Writing files like src/** passes.',
      '7 file_patterns.read[0]: Reading README.md passes.',
      '9 risk_level_threshold: Requests of low and high risk can pass without asking.',
      '10 log_auto_approved: The summary names each request that passed.',
      '11 summary_interval_seconds: A summary of the requests that passed comes 60 seconds after the first of them.',
    ])
    expect(
      explain('{"enabled": false, "tools": [], "summary_interval_seconds": 0, "log_auto_approved": false}'),
    ).toEqual([
      '1 enabled: The policy is switched off: every request needs an approval.',
      '1 tools: The list is empty, so it allows nothing.',
      '1 summary_interval_seconds: There is no summary of the requests that passed. They are in the audit trail.',
      '1 log_auto_approved: The summary only counts the requests that passed.',
    ])
  })

  test.each([
    ['npm test; ls', 'It has ;, which only a shell understands.'],
    ['npm "test', 'A " is never closed.'],
    ['ls ~', 'It has ~, which a shell may replace with something else.'],
    ['ls', 'No command in quarterdeck.yaml (commands) is like this.'],
    ['npm test *', 'No command in quarterdeck.yaml (commands) is like this.'],
  ])('says why the command %s cannot pass', (command, note) => {
    expect(explain(JSON.stringify({ commands: [command] }))).toEqual([
      `1 commands[0]: ${command} allows nothing. NOTE ${note}`,
    ])
  })

  test('says that commands also need the server’s settings, if these are not known', () => {
    expect(explain('{"commands": ["ls"]}', null)).toEqual([
      '1 commands[0]: The command ls passes. NOTE Only if the same command is among the commands of quarterdeck.yaml.',
    ])
  })

  test.each([
    ['./src/**', 'Paths begin without "./".'],
    ['src/', 'It names a folder. Write src/** for the files in it.'],
    ['/etc/**', 'Only plain paths inside the workspace count.'],
    ['../**', 'Only plain paths inside the workspace count.'],
    ['.git/**', 'It is protected. Git runs what is in it.'],
    ['src/*.{ts,js}', 'Only * ** and ? are wildcards. All other characters stand for themselves.'],
    ['**', 'That is every file except the protected ones.'],
  ])('says what is special about the pattern %s', (pattern, note) => {
    expect(explain(JSON.stringify({ file_patterns: { write: [pattern] } })).join()).toContain(` NOTE ${note}`)
  })

  test('says that critical work and wildcards in names do not pass', () => {
    expect(explain('{"risk_level_threshold": "critical", "tools": ["mcp__*"]}')).toEqual([
      '1 risk_level_threshold: Requests of low and high risk can pass without asking. NOTE A person always decides about critical risk, so this is the same as high.',
      '1 tools[0]: mcp__* allows nothing. NOTE Names are compared exactly, and "*" and "?" are not wildcards here. List each tool.',
    ])
    expect(explain('{"risk_level_threshold": "low"}')).toEqual([
      '1 risk_level_threshold: Only requests of low risk can pass without asking.',
    ])
  })
})
