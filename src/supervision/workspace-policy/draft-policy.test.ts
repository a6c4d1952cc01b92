import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { draftPolicy } from './draft-policy.ts'
import { judgeRequest, type PolicyLimits, protectedByPath } from './judge-request.ts'
import type { PastRequest } from './past-requests.ts'
import { readPolicy } from './read-policy.ts'
import { policies, requests } from './testing/policies.ts'
import { defaultPolicy, type WorkspacePolicy } from './workspace-policy.ts'

const limits: PolicyLimits = {
  allowlist: [
    ['npm', 'test'],
    ['npm', 'run', 'lint'],
    ...['cart', 'pay', 'mail'].map((name) => ['npm', 'test', name]),
    ['npm', 'run', 'a b'],
    ['git', 'push'],
  ],
  protectedBecause: protectedByPath,
}

const base: PastRequest = {
  at: 0,
  session: 's',
  toolName: 'Bash',
  filePath: null,
  command: null,
  riskLevel: 'low',
  earnedRisk: 'low',
  isClear: true,
  outcome: 'approved',
  by: 'ada',
}
type Some = Partial<PastRequest>
const times = (count: number, one: Some): PastRequest[] => Array.from({ length: count }, () => ({ ...base, ...one }))
const run = (command: string, more: Some = {}): Some => ({ command, ...more })
const write = (filePath: string, more: Some = {}): Some => ({ toolName: 'Write', filePath, ...more })
const no: Some = { outcome: 'rejected', by: 'bob' }
/** The draft, and the policy that its text is. */
async function drafted(past: PastRequest[], current: WorkspacePolicy | null = null, within = limits) {
  let pauses = 0
  const pause = async () => {
    pauses += 1
  }
  const draft = await draftPolicy(past, current, { limits: within, most: 100_000, pause })
  const { policy } = readPolicy(draft.text)
  if (policy === null) throw new Error('The text is no policy.')
  return { ...draft, policy, pauses }
}
const rulesOf = async (past: PastRequest[], current: WorkspacePolicy | null = null) =>
  (await drafted(past, current)).lines.map(({ what }) => what)

describe('a draft has a line for what people allowed often and never refused', () => {
  const cases: [string, PastRequest[], string[]][] = [
    ['a command', times(3, run('npm test')), ['command:npm test']],
    ['however it is spaced', [...times(2, run('npm test')), ...times(1, run('npm  test '))], ['command:npm test']],
    ['not twice', times(2, run('npm test')), []],
    ['not if somebody refused it once', [...times(9, run('npm test')), ...times(1, run('npm test', no))], []],
    ['nothing that waits, expired or passed by itself', times(9, run('npm test', { outcome: 'auto_approved' })), []],
    [
      'what passed by itself makes no folder of a file',
      [...times(3, write('src/a')), ...times(1, write('src/b', { outcome: 'auto_approved' }))],
      ['file_pattern:write:src/a'],
    ],
    ['not what is critical', times(9, run('npm test', { riskLevel: 'critical', earnedRisk: 'critical' })), []],
    ['not what has earned a high risk', times(9, run('git push', { earnedRisk: 'high' })), []],
    ['a command of before risks were earned', times(3, run('npm test', { earnedRisk: null })), ['command:npm test']],
    ['not what the settings do not list', times(9, run('make all')), []],
    ['not what a shell changes', times(9, run('npm test; ls')), []],
    ['not a command of a tool that nobody knows', times(9, run('npm test', { toolName: 'Other' })), []],
    [
      'each command by itself: a pattern would cover more than people saw',
      ['cart', 'pay', 'mail'].flatMap((name) => times(3, run(`npm test ${name}`))),
      ['command:npm test cart', 'command:npm test pay', 'command:npm test mail'],
    ],
    ['an argument in quotes', times(3, run('npm run "a b"')), ["command:npm run 'a b'"]],
    ['a file', times(3, write('CHANGELOG.md')), ['file_pattern:write:CHANGELOG.md']],
    [
      'a file, whichever tool',
      [...times(2, write('a.md')), ...times(1, write('a.md', { toolName: 'Edit' }))],
      ['file_pattern:write:a.md'],
    ],
    [
      'the deepest folder',
      ['a', 'b', 'c'].flatMap((f) => times(1, write(`src/x/${f}`))),
      ['file_pattern:write:src/x/**'],
    ],
    [
      'the folder above, once there is enough besides',
      ['x/a', 'x/b', 'x/c', 'y/a', 'z/b', 'd'].flatMap((f) => times(1, write(`src/${f}`))),
      ['file_pattern:write:src/**'],
    ],
    ['never the workspace', ['a', 'b', 'c', 'd'].flatMap((f) => times(1, write(f))), []],
    [
      'no folder in which somebody refused something, however deep',
      [...['a', 'b', 'c'].flatMap((f) => times(1, write(`src/${f}`))), ...times(1, write('src/x/*.ts', no))],
      [],
    ],
    [
      'nothing protected',
      ['.git/a', '.git/b', '.git/c', '.env', '.env', '.env'].flatMap((f) => times(1, write(f))),
      [],
    ],
    ['nothing outside', ['../a', '../b', '/etc/c'].flatMap((f) => times(3, write(f))), []],
    ['a name with a wildcard is no pattern', times(5, write('src/*')), []],
    ['a tool that is known to be low', times(3, { toolName: 'mcp__docs__find' }), ['tool:mcp__docs__find']],
    ['no tool of which nobody knows what it does', times(9, { toolName: 'Deploy', earnedRisk: null }), []],
    ['nothing unclear', times(9, { isClear: false }), []],
  ]
  test.each(cases)('%s', async (_, past, expected) => expect(await rulesOf(past)).toEqual(expected))
})

test('each line has its counts, people and examples, and the text is a policy', async () => {
  const past = [
    ...['a', 'b', 'c', 'd'].flatMap((name) => times(2, write(`src/${name}`))),
    ...times(1, write('src/a', { by: 'bob' })),
  ]
  const { lines, policy, open } = await drafted(past)
  expect(lines).toEqual([
    {
      what: 'file_pattern:write:src/**',
      why: 'For example src/a, src/b, src/c',
      allowed: 9,
      refused: 0,
      by: ['ada', 'bob'],
    },
  ])
  expect(open).toEqual([])
  expect(policy).toEqual({ ...defaultPolicy, enabled: true, filePatterns: { write: ['src/**'], read: [] } })
})

test('what is left open says why, most frequent first, and what the settings lack', async () => {
  const { open, commands } = await drafted([
    ...times(2, run('npm test')),
    ...times(9, run('make all')),
    ...times(4, run("make 'a b'")),
    ...times(3, run('git push', { earnedRisk: 'high' })),
    ...times(5, run('rm x', no)),
    ...times(3, run('npm run lint')),
    ...times(1, run('npm run lint', no)),
    ...times(6, write('.env')),
    ...times(7, run('ls | sh')),
  ])
  const settings = 'The command is not one of the commands in the server’s settings.'
  expect(open.map(({ what, allowed, refused, why }) => [what, allowed, refused, why])).toEqual([
    ['make all', 9, 0, settings],
    ['ls | sh', 7, 0, 'No policy covers this command: it has |, which only a shell understands.'],
    ['.env', 6, 0, expect.stringContaining('The path is protected: ')],
    ['rm x', 0, 5, 'People refused it.'],
    ["make 'a b'", 4, 0, settings],
    ['npm run lint', 3, 1, 'People decided both ways.'],
    ['git push', 3, 0, 'Its risk is high, and a draft only covers what is low.'],
    ['npm test', 2, 0, 'It was allowed fewer than 3 times.'],
  ])
  expect(commands).toEqual(['  make-all: ["make","all"]', '  make-a-b: ["make","a b"]'])
})

test('the lines of the policy that counts now stay, unless somebody refused what they allow', async () => {
  const current = { ...defaultPolicy, enabled: true, commands: ['npm *'], tools: ['Read'], logAutoApproved: true }
  const kept = await drafted(times(3, write('a.md')), current)
  expect(kept.lines.map(({ what, why }) => [what, why])).toEqual([
    ['command:npm *', 'As before.'],
    ['tool:Read', 'As before.'],
    ['file_pattern:write:a.md', ''],
  ])
  expect(kept.policy.logAutoApproved).toBe(true)
  expect(await rulesOf([...times(3, run('npm test')), ...times(1, run('npm test', no))], current)).toEqual([
    'tool:Read',
  ])
  // What a line covers already needs no second one.
  expect(await rulesOf(times(3, run('npm test')), current)).toEqual(['command:npm *', 'tool:Read'])
  // One that is switched off allows nothing, so its lines are nobody's wish.
  expect(await rulesOf([], { ...current, enabled: false })).toEqual([])
})

test('a hostile history makes no line, shows every character, and takes its time', async () => {
  const hidden = await drafted(times(5, run('npm test \u202ecart')))
  expect(hidden).toMatchObject({ lines: [], open: [{ what: 'npm test <U+202E>cart' }], commands: [] })
  const huge = await drafted(times(5, run(`npm test ${'x'.repeat(1_000_000)}`)))
  expect(huge.lines).toEqual([])
  expect(huge.open[0]?.what.length).toBeLessThanOrEqual(160)
  const long = await drafted(times(5, run(`make ${'x'.repeat(400)}`)))
  expect(long.commands).toEqual([])

  const many = Array.from({ length: 2_500 }, (_, i) => [
    ...times(1, write(`d${i % 700}/a/b/c/d/e/${i}.ts`)),
    ...times(1, write(`d${(i * 7) % 900}/a/b/c/d/${i}.ts`, i % 2 === 0 ? no : {})),
  ]).flat()
  const { lines, open, more, pauses } = await drafted(many)
  expect(lines.length).toBeLessThanOrEqual(100)
  expect(open).toHaveLength(40)
  expect(more).toBeGreaterThan(1_000)
  // Each request is judged when lines are chosen, and when they are counted.
  expect(pauses).toBeGreaterThan((2 * many.length) / 100)
})

test('a draft never allows what somebody refused, nor what no policy may allow', async () => {
  const plain = fc
    .record({
      toolName: fc.constantFrom('Bash', 'Write'),
      command: fc.constantFrom('npm test', 'git status', 'npm run "a b"', 'npm run x', 'npm run y', 'npm run z'),
      filePath: fc.constantFrom('src/a.ts', 'src/b.ts', 'src/x/c.ts', 'docs/d', 'README.md', '.git/x'),
    })
    .map(({ toolName, command, filePath }) => ({
      ...{ toolName, riskLevel: 'low' as const },
      ...(toolName === 'Bash' ? { command, filePath: null } : { command: null, filePath }),
    }))
  const past = fc.array(
    fc.record({
      request: fc.oneof(plain, plain, plain, requests),
      outcome: fc.constantFrom(...Array<'approved'>(9).fill('approved'), 'rejected', 'expired'),
      earnedRisk: fc.constantFrom(null, 'low', 'low', 'high'),
      isClear: fc.constantFrom(true, true, true, false),
      count: fc.integer({ min: 1, max: 4 }),
    }),
    { maxLength: 16 },
  )
  const some: PolicyLimits = {
    ...limits,
    allowlist: [['npm', 'test'], ['git', 'status'], ...['a b', 'x', 'y', 'z'].map((name) => ['npm', 'run', name])],
  }
  let proposed = 0
  await fc.assert(
    fc.asyncProperty(past, fc.option(policies), requests, async (found, current, other) => {
      const history = found.flatMap(({ request, count, ...more }) => times(count, { ...request, ...more } as Some))
      const { policy, lines } = await drafted(history, current, some)
      proposed += lines.filter(({ why }) => !why.startsWith('As before.')).length
      for (const one of history.filter(({ outcome, isClear }) => outcome === 'rejected' && isClear)) {
        expect(judgeRequest(policy, { ...one, guarded: null }, some).autoApproved).toBe(false)
      }
      // Whatever the policy that counts now asks a person for, and no policy may allow, is asked for with the draft too.
      const open = { ...policy, commands: ['*', '* *', '* * *'], tools: ['Read', 'Write', 'Bash'] }
      if (judgeRequest(open, other, some).personOnly) {
        expect(judgeRequest(policy, other, some).autoApproved).toBe(false)
      }
      expect(policy.enabled).toBe(true)
    }),
    { numRuns: 1_000 },
  )
  expect(proposed).toBeGreaterThan(100)
})
