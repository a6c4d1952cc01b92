import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeWorkspace } from '../testing/workspace.ts'
import { createAssessWork } from './assess-work.ts'
import type { Work } from './risk.ts'

function open() {
  const root = makeWorkspace({ 'src/cart/a.ts': 'x', '.env': 'x', 'package.json': '{}', 'tools/mail.ts': 'x' })
  const assess = createAssessWork({ serverPaths: [join(root, 'tools/mail.ts')], home: '/home/ann' })
  const ask = (effect: Work['effect'], toolName: string, input: unknown, more: Partial<Work> = {}) =>
    assess({ toolName, effect, input, command: null, workspaceRoot: root, cwd: root, ...more })
  return { root, ask }
}

test('what only its host sees, and reading and searching inside the workspace, asks nobody', () => {
  const { root, ask } = open()

  expect(ask('host', 'TodoWrite', { todos: [{ content: '/etc/passwd' }] })).toEqual({
    risk: 'none',
    why: 'changes only what its host shows',
    action: null,
    matches: [],
  })
  expect(ask('reads', 'Read', { file_path: join(root, 'src/cart/a.ts'), limit: 5 }).risk).toBe('none')
  expect(ask('searches', 'Grep', { pattern: '/etc/.*\\.env', path: 'src', glob: '*.ts' }).risk).toBe('none')
  expect(ask('searches', 'Glob', { pattern: '**/*.ts' }).risk).toBe('none')
  expect(ask('searches', 'Glob', { pattern: '**/.env*' }).risk).toBe('none')
})

test.each<[effect: Work['effect'], tool: string, input: unknown, risk: string, why: RegExp]>([
  ['reads', 'Read', { file_path: '.env' }, 'critical', /reads a file that usually holds secrets/],
  ['reads', 'Read', { file_path: '/etc/hosts' }, 'high', /reads outside/],
  ['reads', 'Read', { file_path: '~/notes.md' }, 'high', /reads outside|not clear/],
  ['reads', 'Read', { file_path: '$HOME/x' }, 'high', /not clear/],
  ['reads', 'Read', { file_path: 'tools/mail.ts' }, 'high', /this server uses/],
  ['reads', 'Read', { file_path: 'AGENTS.md' }, 'low', /protected/],
  ['searches', 'Grep', { pattern: 'x', glob: '.env' }, 'critical', /secrets/],
  ['searches', 'Grep', { pattern: 'x', glob: '.e*' }, 'high', /folder with files that usually hold secrets/],
  ['searches', 'Grep', { pattern: 'x', glob: '{.env,x}' }, 'high', /folder with files that usually hold secrets/],
  ['reads', 'read_many_files', { paths: ['**/*'] }, 'high', /folder with files that usually hold secrets/],
  ['searches', 'Glob', { pattern: '/etc/*' }, 'high', /outside/],
  ['writes', 'Write', { file_path: 'package.json', content: '{}' }, 'critical', /protected/],
  ['writes', 'Write', { file_path: '.github/workflows/ci.yml', content: '' }, 'critical', /protected/],
  ['writes', 'Write', { file_path: '/tmp/x', content: '' }, 'high', /outside/],
  ['writes', 'Write', { content: 'x' }, 'high', /not clear which/],
  ['writes', 'apply_patch', { input: '*** Begin Patch\n*** Update File: src/cart/a.ts\n@@' }, 'low', /writes files/],
  ['writes', 'apply_patch', { input: '*** Begin Patch\n*** Update File: .npmrc\n@@' }, 'critical', /secrets/],
  ['writes', 'apply_patch', { input: '*** Delete File: src/cart/a.ts' }, 'high', /deletes/],
  ['writes', 'delete_file', { path: 'src/cart/a.ts' }, 'high', /deletes/],
  ['reaches', 'WebFetch', { url: 'https://example.com', prompt: 'x' }, 'high', /network/],
  ['unknown', 'mcp__x__y', { q: 'x' }, 'high', /not known/],
  ['unknown', 'mcp__x__y', { path: '.claude/settings.json' }, 'critical', /protected/],
  ['runs', 'Bash', {}, 'high', /not shown/],
])('%s: %s %j is %s', (effect, tool, input, risk, why) => {
  expect(open().ask(effect, tool, input)).toMatchObject({ risk, why: expect.stringMatching(why), action: null })
})

test('hidden characters in a name or an argument are critical', () => {
  expect(open().ask('reads', 'Read', { file_path: 'src/\u200bx' })).toMatchObject({ risk: 'critical', matches: [] })
  expect(open().ask('host', 'To\u202edo', {}).risk).toBe('critical')
})

test('a tool that is not known does more than its command', () => {
  expect(open().ask('unknown', 'mcp__x', { command: 'ls' }, { command: 'ls' })).toMatchObject({
    risk: 'high',
    matches: [],
  })
  expect(open().ask('unknown', 'mcp__x', { command: 'sudo ls' }, { command: 'sudo ls' }).risk).toBe('critical')
})

test('offers what may be remembered, the narrowest first, and nothing about what is critical or guarded', () => {
  const { root, ask } = open()
  /** Of a low command all plain work of the tool is offered as well, at last. */
  const of = (command: string, cwd = root) => {
    const { risk, matches } = ask('runs', 'Bash', { command }, { command, cwd })
    const isLast = risk === 'low' && matches.length > 0
    expect(matches.at(-1)?.type === 'tool').toBe(isLast)
    return isLast ? matches.slice(0, -1) : matches
  }
  const exact = (command: string, folder = '') => ({ type: 'command', command, folder })

  expect(of('npm test -- src')).toEqual([exact('npm test -- src'), { type: 'begins', words: ['npm', 'test'] }])
  expect(of('npm run build', join(root, 'src'))).toEqual([
    exact('npm run build', 'src'),
    { type: 'begins', words: ['npm', 'run', 'build'] },
  ])
  expect(of('cd src && npm test 2>&1 | tail -5').at(1)).toEqual({ type: 'begins', words: ['npm', 'test'] })
  expect(of('CI=1 npm test -- -t "$X"').at(1)).toBe(undefined)
  expect(of('git commit -m "$(cat <<E\nx\nE\n)"').at(1)).toEqual({ type: 'begins', words: ['git', 'commit'] })
  expect(of('git add -A && git commit -m x').at(1)).toEqual({
    type: 'begins',
    words: ['git', 'add', '&&', 'git', 'commit'],
  })
  expect(of('timeout 60 pnpm --filter a test').at(1)).toEqual({ type: 'begins', words: ['pnpm', 'test'] })
  expect(of('make')).toEqual([exact('make')])
  expect(of("curl x '&&' y")).toEqual([exact("curl x '&&' y")])
  expect(of('npm publish left-pad').at(1)).toEqual({ type: 'begins', words: ['npm', 'publish', 'left-pad'] })
  // What only asks a service is known by program and verb, unless something else is risky too.
  expect(of('npm view left-pad version').at(1)).toEqual({ type: 'begins', words: ['npm', 'view'] })
  expect(of('npm view x --prefix /etc').at(1)).toEqual({
    type: 'begins',
    words: ['npm', 'view', 'x', '--prefix', '/etc'],
  })
  expect(of('npm audit fix').at(1)).toEqual({ type: 'begins', words: ['npm', 'audit', 'fix'] })
  // What a high program reads, or a second program, makes it another one.
  for (const command of ['cat x.sql | psql db', 'npm test > log.txt', 'FOO=1 npm test'])
    expect([command, of(command)]).toEqual([command, [exact(command)]])
  for (const command of ['sudo ls', 'cat AGENTS.md', 'git push -f', 'cat .env', 'ls'])
    expect([command, of(command)]).toEqual([command, []])
  expect(of('npm test', '/elsewhere')).toEqual([])

  expect(ask('writes', 'Write', { file_path: 'src/cart/new.ts', content: 'x' }).matches).toEqual([
    { type: 'writes', pattern: 'src/cart/new.ts' },
    { type: 'writes', pattern: 'src/cart/**' },
    { type: 'writes', pattern: 'src/**' },
    { type: 'writes', pattern: '**' },
  ])
  expect(ask('writes', 'Write', { file_path: 'new.ts', content: 'x' }).matches).toEqual([
    { type: 'writes', pattern: 'new.ts' },
    { type: 'writes', pattern: '**' },
  ])
  expect(ask('writes', 'Write', { file_path: '/tmp/x', content: 'x' }).matches).toEqual([])
  expect(ask('writes', 'Write', { file_path: 'package.json', content: 'x' }).matches).toEqual([])
  expect(ask('reaches', 'WebFetch', { url: 'https://x' }).matches).toEqual([{ type: 'tool', tool: 'WebFetch' }])
  // The next call of these may do anything else.
  expect(ask('reads', 'Read', { file_path: '/etc/hosts' }).matches).toEqual([])
  expect(ask('unknown', 'write_stdin', { chars: 'ls' }).matches).toEqual([])
  expect(ask('unknown', 'mcp__x', { path: 'AGENTS.md' }).matches).toEqual([])
})
