import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import type { WorkMatch } from '../../domain/supervision/grant.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import { createAssessWork } from './assess-work.ts'
import { covers, coversRefused, coverTogether } from './covers.ts'
import { isRiskier, type Work } from './risk.ts'

function open() {
  const root = makeWorkspace({ 'src/cart/a.ts': 'x', '.env': 'x' })
  const assess = createAssessWork({ serverPaths: [], home: '/home/ann' })
  const runsCommand = (command: string, cwd = root): Work => {
    const input = { command }
    return { toolName: 'Bash', effect: 'runs', input, command, workspaceRoot: root, cwd }
  }
  const writes = (file_path: string): Work => {
    const input = { file_path, content: 'x' }
    return { toolName: 'Write', effect: 'writes', input, command: null, workspaceRoot: root, cwd: root }
  }
  const does = (match: WorkMatch, risk: 'low' | 'high', work: Work) => covers(match, risk, work, assess(work))
  return { root, assess, runsCommand, writes, does }
}

test('a beginning covers the same program and verb with other words, as long as it is not riskier', () => {
  const { does, runsCommand } = open()
  const match: WorkMatch = { type: 'begins', words: ['npm', 'test'] }
  const yes = [
    'npm test',
    'CI=1 npm test',
    'CI=1 npm test',
    'npm test -- src/cart',
    '"npm" test',
    'cd src && npm test 2>&1 | tail -3',
  ]
  const no = [
    ...[
      'npm tests',
      'npm run test',
      'npm test; rm x',
      'npm test && npm run build',
      'npm test > log.txt',
      'FOO=1 npm test',
    ],
    ...[
      'npm test --prefix /etc',
      'npm test $X',
      'npm test "$(sudo ls)"',
      'sudo npm test',
      'npm test &',
      'npm test .env',
    ],
  ]

  for (const command of yes) expect([command, does(match, 'low', runsCommand(command))]).toEqual([command, true])
  for (const command of no) expect([command, does(match, 'low', runsCommand(command))]).toEqual([command, false])
})

test('a line is covered if all its programs that do more than read have a yes', () => {
  const { assess, runsCommand } = open()
  const yes = (...words: string[]) => ({ match: { type: 'begins' as const, words }, risk: 'low' as const })
  const held = [yes('git', 'add'), yes('git', 'commit', '&&', 'npm', 'test')]
  const together = (command: string) => coverTogether(held, runsCommand(command), assess(runsCommand(command)))

  expect(together('git add -A && git commit -m "x" && npm test | tail -1')).toEqual(held)
  expect(together('npm test')).toEqual([held[1]])
  for (const command of [
    'git add -A && npm run build',
    'git add . && git push',
    'npm test && sudo ls',
    'npm test > x',
    'ls',
  ])
    expect([command, together(command)]).toEqual([command, []])
})

test.each([
  ["find src -name '*.ts' | xargs sed -i s/a/b/", ['xargs'], "find src -name '*.ts' | xargs sh"],
  ["find src -name '*.ts' -exec sed -i s/a/b/ {} +", ['find'], "find src -name '*.ts' -exec sh {} +"],
])('of %s nobody is asked to remember %j', (shown, words, other) => {
  const { assess, does, runsCommand } = open()

  expect(assess(runsCommand(shown)).matches.map(({ type }) => type)).not.toContain('begins')
  expect(does({ type: 'begins', words }, 'low', runsCommand(other))).toBe(false)
})

test('behind pnpm exec a script, a verb or a target is remembered too', () => {
  const { assess, runsCommand } = open()
  const begins = (command: string) =>
    assess(runsCommand(command)).matches.flatMap((match) => (match.type === 'begins' ? match.words.join(' ') : []))

  expect(begins('pnpm exec eslint src')).toEqual(['pnpm exec eslint'])
  expect(begins('npm exec --yes -- node a.js b')).toEqual(['npm exec --yes -- node a.js b'])
  expect(begins('pnpm exec node a.js b')).toEqual(['pnpm exec node a.js'])
  expect(begins('pnpm exec git commit -m x')).toEqual(['pnpm exec git commit'])
  expect(begins('pnpm exec make x')).toEqual(['pnpm exec make x'])
  for (const command of ['pnpm exec npm run x', 'pnpm exec timeout 5 touch x', 'pnpm exec make'])
    expect([command, begins(command)]).toEqual([command, []])
})

test('of a high command every word counts', () => {
  const { does, runsCommand } = open()
  const match: WorkMatch = { type: 'begins', words: ['npm', 'publish', 'left-pad'] }

  expect(does(match, 'high', runsCommand('npm publish left-pad'))).toBe(true)
  for (const command of ['npm publish left-pad evil', 'npm publish left-pad --registry=http://x', 'npm install'])
    expect([command, does(match, 'high', runsCommand(command))]).toEqual([command, false])
  expect(does(match, 'low', runsCommand('npm publish left-pad'))).toBe(false)
})

test('an exact command is bound to its folder, a tool to its name, a write to its pattern', () => {
  const { root, does, runsCommand, writes } = open()
  const exact: WorkMatch = { type: 'command', command: 'make all > x', folder: 'src' }
  const pattern: WorkMatch = { type: 'writes', pattern: 'src/cart/**' }

  expect(does(exact, 'low', runsCommand('make all > x', join(root, 'src')))).toBe(true)
  expect(does(exact, 'low', runsCommand('make all > x'))).toBe(false)
  expect(does(pattern, 'low', writes('src/cart/b.ts'))).toBe(true)
  expect(does(pattern, 'low', writes(join(root, 'src/cart/deep/b.ts')))).toBe(true)
  for (const path of ['src/b.ts', 'src/cart/../b.ts', 'src/cart/.env', 'src/cart/package.json', '/etc/src/cart/x'])
    expect([path, does(pattern, 'low', writes(path))]).toEqual([path, false])
  const tool = {
    ...runsCommand(''),
    toolName: 'WebFetch',
    effect: 'reaches',
    command: null,
    input: { url: 'x' },
  } as const
  expect(does({ type: 'tool', tool: 'WebFetch' }, 'high', tool)).toBe(true)
  expect(does({ type: 'tool', tool: 'Bash' }, 'high', runsCommand('curl x'))).toBe(false)
})

test('a no covers the same words anywhere in a longer line', () => {
  const { runsCommand, writes, root } = open()
  const match: WorkMatch = { type: 'begins', words: ['git', 'push'] }
  const no = [
    'git push',
    'ls && git push -f',
    'timeout 5 git push',
    'echo "$(git push x)"',
    "bash -c 'git push'; git push",
  ]

  for (const command of no) expect([command, coversRefused(match, runsCommand(command))]).toEqual([command, true])
  for (const command of ['git pull', 'echo git', 'git pushx'])
    expect(coversRefused(match, runsCommand(command))).toBe(false)
  expect(coversRefused({ type: 'command', command: 'x y', folder: '' }, runsCommand(' x  y', '/elsewhere'))).toBe(true)
  expect(coversRefused({ type: 'writes', pattern: 'src/**' }, writes(join(root, 'src/x')))).toBe(true)
  expect(coversRefused({ type: 'tool', tool: 'Write' }, writes('x'))).toBe(true)
})

const commands = readFileSync(join(import.meta.dirname, 'assess-command.test.txt'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('  '))
  .map((line) => line.trim().replaceAll('\\n', '\n'))

test('nothing that was offered covers critical work, nor work that is riskier than what was shown', () => {
  const { assess, runsCommand } = open()
  const some = fc.constantFrom(...commands)
  const other = fc.oneof(
    some,
    fc.tuple(some, some).map(([a, b]) => `${a} ${b}`),
    fc.tuple(some, some).map(([a, b]) => `${a}; ${b}`),
  )
  fc.assert(
    fc.property(some, other, (shown, next) => {
      const first = assess(runsCommand(shown))
      const second = assess(runsCommand(next))
      for (const match of first.matches) {
        if (!covers(match, first.risk, runsCommand(next), second)) continue
        expect([shown, next, second.risk === 'critical' || isRiskier(second.risk, first.risk)]).toEqual([
          shown,
          next,
          false,
        ])
        // What it covers would have shown the person the same words.
        const words = match.type === 'begins' ? match.words.join(' ').split(' && ') : null
        if (words === null) expect(second.matches).toContainEqual(match)
        else expect(words).toEqual(expect.arrayContaining(second.beginnings?.map((one) => one.words.join(' ')) ?? []))
      }
    }),
    { numRuns: runs(1_000) },
  )
})
