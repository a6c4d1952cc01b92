// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the text is for a shell.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { allowlistOf, judgeRequest, protectedByPath, splitPlainCommand } from './judge-request.ts'
import { readPolicy } from './read-policy.ts'
import { limits, policies, requests } from './testing/policies.ts'
import { defaultPolicy, type PolicyRequest, type WorkspacePolicy } from './workspace-policy.ts'

const judge = (policy: Partial<WorkspacePolicy>, request: Partial<PolicyRequest>) =>
  judgeRequest(
    { ...defaultPolicy, enabled: true, ...policy },
    { toolName: 'Tool', filePath: null, command: null, riskLevel: 'low', guarded: null, ...request },
    limits,
  )

const everything: Partial<WorkspacePolicy> = {
  commands: ['*', '* *', '* * *'],
  tools: ['Tool', 'Bash', 'Write', 'Read'],
  filePatterns: { write: ['**'], read: ['**'] },
  riskLevelThreshold: 'critical',
}

describe('a request', () => {
  test('is asked about while the policy is off, and under an empty one', () => {
    expect(judge({ ...everything, enabled: false }, {})).toEqual({
      autoApproved: false,
      matchedRule: null,
      why: 'The workspace has no policy that is switched on.',
      personOnly: false,
    })
    expect(judge({}, {})).toEqual({
      autoApproved: false,
      matchedRule: null,
      why: 'The policy does not list the tool Tool.',
      personOnly: false,
    })
  })

  test.each([
    ['low', 'low', true],
    ['low', 'high', false],
    ['low', 'critical', false],
    ['high', 'low', true],
    ['high', 'high', true],
    ['high', 'critical', false],
    ['critical', 'low', true],
    ['critical', 'high', true],
    ['critical', 'critical', false],
  ] as const)('with the threshold %s and the risk %s passes: %s', (riskLevelThreshold, riskLevel, passes) => {
    expect(judge({ tools: ['Tool'], riskLevelThreshold }, { riskLevel }).autoApproved).toBe(passes)
  })

  test('of a risk that this version does not know is asked about', () => {
    const request: PolicyRequest = JSON.parse('{"toolName":"Tool","filePath":null,"command":null,"riskLevel":"none"}')
    expect(judge(everything, request)).toMatchObject({ autoApproved: false, personOnly: true })
  })

  test('passes by the name of its tool, compared exactly', () => {
    expect(judge({ tools: ['Read'] }, { toolName: 'Read' })).toEqual({
      autoApproved: true,
      matchedRule: 'tool:Read',
      why: 'The policy allows it: tool:Read',
      personOnly: false,
    })
    for (const toolName of ['read', 'Read ', 'Reader', '']) {
      expect(judge({ tools: ['Read', '*', 'R*'] }, { toolName }).autoApproved).toBe(false)
    }
  })

  test('is judged by command, then tool, then file', () => {
    const all = { commands: ['npm test'], tools: ['Write'], filePatterns: { write: ['src/**'], read: [] } }
    expect(judge(all, { toolName: 'Write', filePath: 'src/a.ts', command: 'npm test' }).matchedRule).toBe(
      'command:npm test',
    )
    expect(judge(all, { toolName: 'Write', filePath: 'src/a.ts' }).matchedRule).toBe('tool:Write')
    expect(judge(all, { toolName: 'Edit', filePath: 'src/a.ts' }).matchedRule).toBe('file_pattern:write:src/**')
  })

  test('passes by a command only with a tool that runs it, or that the policy lists', () => {
    const passes = (tools: string[], toolName: string) =>
      judge({ commands: ['npm test'], tools }, { toolName, command: 'npm test' }).autoApproved
    expect(['Bash', 'run_shell_command', 'shell'].filter((name) => passes([], name))).toHaveLength(3)
    expect(['mcp__git__push', 'Write', 'WebFetch', 'Read'].filter((name) => passes([], name))).toEqual([])
    expect(passes(['mcp__ci__run'], 'mcp__ci__run')).toBe(true)
  })

  test('with hidden characters is never let through', () => {
    for (const hidden of ['\u202e', '\u200b', '\u001b', '\u{e0041}', '\u3164']) {
      for (const request of [
        { toolName: `Tool${hidden}` },
        { filePath: `src/a${hidden}.ts` },
        { command: `npm test${hidden}` },
      ]) {
        expect(judge({ ...everything, tools: ['Tool', `Tool${hidden}`] }, request)).toMatchObject({
          autoApproved: false,
          why: 'The request has characters that people do not see.',
          personOnly: true,
        })
      }
    }
  })
})

describe('a file', () => {
  test.each([
    ['src/**', 'src/a.ts', true],
    ['src/**', 'src/.env/x', true],
    ['**', '.hidden', true],
    ['**/*.ts', 'a.ts', true],
    ['*.md', 'docs/x.md', false],
    ['src/**', 'src', false],
    ['src/**', 'SRC/a.ts', false],
    ['src/*', 'src/a/b', false],
    ['src/?.ts', 'src/a.ts', true],
  ])('pattern %s and path %s: %s', (pattern, filePath, passes) => {
    const found = judge({ filePatterns: { write: [pattern], read: [] } }, { toolName: 'Write', filePath })
    expect([found.autoApproved, found.matchedRule]).toEqual([passes, passes ? `file_pattern:write:${pattern}` : null])
  })

  test('is covered by a pattern for a tool that is known to write the file that it names, and for no other', () => {
    const passes = (toolName: string) =>
      judge({ filePatterns: { write: ['**'], read: [] } }, { toolName, filePath: 'src/a.ts' }).autoApproved
    expect(['Write', 'Edit', 'MultiEdit', 'replace', 'create', 'ask_approval'].filter(passes)).toHaveLength(6)
    expect(['mcp__fs__write_file', 'delete_file', 'Invented', 'Read'].filter(passes)).toEqual([])
  })

  test('that one of the arguments leads to is never let through, whatever the policy says', () => {
    const guarded = 'The path "x" is protected: This server reads it.'
    for (const request of [{ toolName: 'Tool' }, { toolName: 'Write', filePath: 'a.ts' }, { command: 'npm test' }]) {
      expect(judge(everything, { ...request, guarded })).toEqual({
        autoApproved: false,
        matchedRule: null,
        why: guarded,
        personOnly: true,
      })
    }
  })

  test.each([
    '/etc/passwd',
    '../x',
    'src/../../x',
    'src/..',
    '..',
    './src/a.ts',
    'src//a.ts',
    'src/./a.ts',
    'src/',
    '',
    'src\\..\\x',
    'C:/x',
    'c:x',
    'src/a\u0000.ts',
    'src/a\nb',
    'a'.repeat(1_025),
  ])('that is not a plain path inside the workspace is never let through: %j', (filePath) => {
    const wide = { ...everything, filePatterns: { write: ['**', filePath], read: ['**'] } }
    expect(judge(wide, { filePath })).toMatchObject({ autoApproved: false, personOnly: true })
  })

  test('that is protected is never let through, not even by a tool', () => {
    expect(judge(everything, { filePath: '.git/hooks/pre-commit' })).toEqual({
      autoApproved: false,
      matchedRule: null,
      why: 'The path is protected: Git runs what is in it.',
      personOnly: true,
    })
  })

  test('package.json may be read, but nobody has seen what a write to it changes', () => {
    expect(protectedByPath('app/package.json', 'read')).toBe(null)
    expect(protectedByPath('app/package.json', 'write')).toBe('It changes scripts or tools that package managers run.')
    expect(protectedByPath('.git/config', 'read')).toBe('Git runs hooks, filters and commands that are named here.')
    expect(protectedByPath('src/a.ts', 'write')).toBe(null)
    const accesses: string[] = []
    const protectedBecause = (_path: string, access: string) => {
      accesses.push(access)
      return null
    }
    for (const toolName of ['Read', 'Write', 'Other']) {
      judgeRequest(
        { ...defaultPolicy, enabled: true },
        { toolName, filePath: 'a', command: null, riskLevel: 'low', guarded: null },
        { allowlist: [], protectedBecause },
      )
    }
    expect(accesses).toEqual(['read', 'write', 'write'])
  })

  test('is only read by tools that are known to read', () => {
    const reading = { filePatterns: { write: [], read: ['docs/**'] } }
    expect(judge(reading, { toolName: 'Read', filePath: 'docs/a' }).matchedRule).toBe('file_pattern:read:docs/**')
    expect(judge(reading, { toolName: 'read_file', filePath: 'docs/a' }).matchedRule).toBe('file_pattern:read:docs/**')
    expect(judge(reading, { toolName: 'Write', filePath: 'docs/a' }).autoApproved).toBe(false)
    expect(judge(reading, { toolName: 'mcp__disk__read', filePath: 'docs/a' }).autoApproved).toBe(false)
    const writing = { filePatterns: { write: ['**'], read: [] } }
    expect(judge(writing, { toolName: 'Read', filePath: 'docs/a' })).toMatchObject({
      autoApproved: false,
      why: 'The policy lists neither the tool Read nor this path for reading.',
    })
  })
})

describe('a command', () => {
  test.each([
    ['npm test', 'npm test', true],
    ['npm *', 'npm test', true],
    ['* *', 'git status', true],
    ['npm  test', 'npm\ttest ', true],
    ['"npm" test', `'npm' "test"`, true],
    ['npm run *', 'npm run "a b"', true],
    ['npm', 'npm test', false],
    ['npm*', 'npm test', false],
    ['*', 'npm test', false],
    ['npm test *', 'npm test', false],
    ['npm t', 'npm test', false],
    ['npm run a*', 'npm run a b', false],
  ])('pattern %j and command %j: %s', (pattern, command, passes) => {
    const found = judge({ commands: [pattern] }, { toolName: 'Bash', command })
    expect([found.autoApproved, found.matchedRule]).toEqual([passes, passes ? `command:${pattern}` : null])
  })

  test('outside the commands of the server is never let through, whatever the policy says', () => {
    for (const command of [
      'ls',
      'npm',
      'npm test --watch',
      'npm Test',
      './npm test',
      'FOO=1 npm test',
      'sudo npm test',
    ]) {
      expect(judge({ ...everything, commands: [command, '*'] }, { toolName: 'Bash', command })).toEqual({
        autoApproved: false,
        matchedRule: null,
        why: 'The command is not one of the commands in the server’s settings.',
        personOnly: true,
      })
    }
  })

  test('is not let through by the name of its tool', () => {
    expect(judge({ tools: ['Bash'] }, { toolName: 'Bash', command: 'npm test' }).autoApproved).toBe(false)
    expect(judge({ tools: ['Bash'] }, { toolName: 'Bash', command: '' }).autoApproved).toBe(false)
  })

  const hostile = [
    'npm test; rm -rf .',
    'npm test;',
    'npm test && ls',
    'npm test || ls',
    'npm test | sh',
    'npm test &',
    'npm test > x',
    'npm test < x',
    'npm test >> x',
    'npm test 2>&1',
    'npm $(id)',
    'npm `id`',
    'npm "$(id)"',
    'npm "`id`"',
    'npm $TEST',
    'npm ${TEST}',
    "npm $'test'",
    'npm te\\st',
    'npm test\\',
    'npm test\nrm -rf .',
    'npm test\r\nls',
    'npm test\r',
    '\nnpm test',
    'npm test\u0000',
    'npm test\u2028ls',
    'npm test\u0085ls',
    'npm test\u000bls',
    'npm "test',
    "npm 'test",
    'npm "test\'',
    '(npm test)',
    '{ npm test; }',
    'npm {test,ls}',
    'npm t*',
    'npm tes?',
    'npm [t]est',
    'npm ~',
    'npm !!',
    'npm test #x',
    '=npm test',
    'npm =test',
    '',
    ' ',
    "''",
    `npm test${' '.repeat(5_000)}`,
  ]

  test.each(hostile)('that a shell may read differently never matches: %j', (command) => {
    const found = judge({ ...everything, commands: ['npm test', '*', '* *', '* * *'] }, { toolName: 'Bash', command })
    expect(found).toMatchObject({ autoApproved: false, matchedRule: null, personOnly: true })
  })

  test('passes only if it is made of plain words, whatever surrounds a command of the server', () => {
    const pieces = fc.constantFrom(...' \t\n;|&<>()$`\\"\'*?[]{}~!#^=\u0000\u00a0\u2028ab', 'npm', 'test')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), fc.array(pieces, { maxLength: 6 }), (before, after) => {
        const command = `${before.join('')}npm test${after.join('')}`
        const found = judge({ commands: ['npm test', '* *'] }, { toolName: 'Bash', command })
        if (found.autoApproved)
          expect(command.replaceAll(/["']{2}|^[ \t]+|[ \t]+$/g, '')).toMatch(/^["']*npm["']* *["']*test["']*$/)
      }),
      { numRuns: runs(2_000) },
    )
  })

  test('of the server is written as text or as arguments', () => {
    expect(allowlistOf({ test: 'npm "a b"', lint: ['npm', 'run', '*'], broken: 'a | b' })).toEqual([
      ['npm', 'a b'],
      ['npm', 'run', '*'],
    ])
  })

  test('is split as a shell would split it', () => {
    expect(splitPlainCommand(`a 'b c' "d e" f''g`)).toEqual({ words: ['a', 'b c', 'd e', 'fg'] })
    expect(splitPlainCommand('a *')).toEqual({ problem: 'it has *, which a shell may replace with something else' })
  })
})

describe('every policy', () => {
  test('asks about critical work, protected paths, paths outside and unlisted commands', () => {
    fc.assert(
      fc.property(policies, requests, (policy, request) => {
        const { autoApproved, matchedRule } = judgeRequest(policy, request, limits)
        expect(matchedRule === null).toBe(!autoApproved)
        if (!autoApproved) return
        expect(policy.enabled).toBe(true)
        expect(request.riskLevel).not.toBe('critical')
        expect(request.filePath ?? '').not.toMatch(/^(\/|\.\.|\.git\/)/)
        expect([null, 'npm test', 'git status', 'npm run "a b"']).toContain(request.command)
      }),
      { numRuns: runs(2_000) },
    )
  })

  test('of 64 KiB with hostile globs is judged fast', () => {
    const glob = `${'*a'.repeat(9)}${'a'.repeat(225)}*b`
    const listOf = (count: number) => Array.from({ length: count }, (_, i) => `${glob}${i}`)
    const all = listOf(80)
    expect(
      readPolicy(JSON.stringify({ commands: all, tools: all, file_patterns: { write: all } })).problems,
    ).toMatchObject(
      Array(3).fill({ message: 'the entries have more than 8192 characters together. Use wider patterns.' }),
    )
    const list = listOf(32)
    const { policy } = readPolicy(JSON.stringify({ enabled: true, commands: list, file_patterns: { write: list } }))
    if (policy === null) throw new Error('the policy is valid')
    const before = process.threadCpuUsage()
    expect(judge(policy, { filePath: 'a'.repeat(1_024) }).autoApproved).toBe(false)
    const command = `a ${'a'.repeat(4_000)}`
    expect(
      judgeRequest(
        policy,
        { toolName: 'Bash', filePath: null, command, riskLevel: 'low', guarded: null },
        { ...limits, allowlist: [['a', 'a'.repeat(4_000)]] },
      ).autoApproved,
    ).toBe(false)
    // Backtracking would take longer than the universe has time for.
    expect(process.threadCpuUsage(before).user).toBeLessThan(10_000_000)
  })
})
