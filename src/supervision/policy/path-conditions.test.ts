import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ArgumentConditions } from '../../domain/agent/approval-rule.ts'
import { pathContext } from '../testing/gated-call.ts'
import { fits } from './argument-conditions.ts'
import { isPathArgument, type MatchMode, type PathContext } from './path-conditions.ts'
import { createRealPath } from './real-path.ts'

let root: string
let outside: string
let context: PathContext

beforeAll(() => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'path-conditions-')))
  root = join(base, 'agent')
  outside = join(base, 'outside')
  context = {
    parameters: { type: 'object' },
    roots: [root],
    realPath: (path) => createRealPath()(path),
  }
  for (const folder of ['agent/conf', 'agent/notes', 'outside/deep/er', 'locked/inner']) {
    mkdirSync(join(base, folder), { recursive: true })
  }
  writeFileSync(join(root, 'x.env'), '')
  writeFileSync(join(outside, 'secret.env'), '')
  symlinkSync('../x.env', join(root, 'notes/harmless.txt'))
  symlinkSync('../../outside', join(root, 'notes/elsewhere'))
  symlinkSync(join(outside, 'deep/er'), join(root, 'notes/deep'))
  symlinkSync('../conf/new.env', join(root, 'notes/dangling.txt'))
  symlinkSync('loop', join(root, 'notes/loop'))
})
afterAll(() => rmSync(dirname(root), { recursive: true }))

const modes: MatchMode[] = ['wide', 'narrow']
const both = (conditions: ArgumentConditions, args: Record<string, unknown>) =>
  modes.map((mode) => fits(conditions, args, context, mode))

describe('`path: "*.env"`', () => {
  const where: ArgumentConditions = { path: { matches: '*.env' } }
  const isEnv = (path: string) => both(where, { path })

  test.each([
    'x.env',
    './x.env',
    'conf/x.env',
    'conf/../x.env',
    './/conf//./x.env',
    'nowhere/../x.env',
    'conf/new.env',
    'x.env/',
    'notes/harmless.txt',
    'notes/../notes/harmless.txt',
    'notes/dangling.txt',
    'missing/folder/y.env',
  ])('fits %s', (path) => {
    expect(isEnv(path)[0]).toBe(true)
    expect(fits({ file: { path: '*.env' } }, { file: path }, context, 'wide')).toBe(true)
    expect(isEnv(join(root, path))[0]).toBe(true)
  })

  test.each(['x.envy', 'env', 'conf/x.txt', '../agent/notes/a.md', 'notes/elsewhere/deep'])(
    'does not fit %s',
    (path) => {
      expect(isEnv(path)).toEqual([false, false])
    },
  )

  test('matches outside the folder if it asks, but not if it allows', () => {
    for (const path of ['../outside/secret.env', join(outside, 'secret.env'), 'notes/elsewhere/secret.env']) {
      expect([path, ...isEnv(path)]).toEqual([path, true, false])
      expect(both({ path: { not: { matches: '*.env' } } }, { path })).toEqual([true, false])
    }
  })

  test('ignores case if it asks', () => {
    expect(isEnv('X.ENV')).toEqual([true, false])
    expect(isEnv('conf/e\u0301.env')).toEqual([true, true])
    expect(both({ path: { matches: '\u00e9.*' } }, { path: 'conf/e\u0301.env' })).toEqual([true, true])
    expect(both({ path: { matches: 'secret.*' } }, { path: '\u017fecret.env' })).toEqual([true, false])
    expect(isEnv('x.e\u200cnv')).toEqual([true, false])
  })
})

describe('a pattern with a slash', () => {
  test.each<[string, string, boolean, boolean]>([
    ['conf/**', 'conf/x', true, true],
    ['conf/**', './conf/../conf/x', true, true],
    ['./conf/**', 'conf/x', true, true],
    ['conf/**', 'conf/../x', false, false],
    ['conf/**', 'conf', true, false],
    ['conf/', 'conf', true, true],
    ['**/x.env', 'x.env', true, true],
    ['notes/**', 'notes/elsewhere/deep/y', true, false],
    ['notes/**', '../outside/y', false, false],
    ['../outside/**', 'notes/elsewhere/y', true, true],
    ['../**', 'conf/x', false, false],
    ['notes/elsewhere/*', '../outside/secret.env', true, false],
    ['notes/harmless.txt', 'x.env', true, false],
    ['x.env', 'notes/harmless.txt', true, true],
    ['../outside/deep/*', 'notes/deep/../y', true, false],
    ['notes/*', 'notes/deep/../y', true, false],
  ])('%s and %s: asks %s, allows %s', (pattern, path, asks, allows) => {
    expect(both({ path: { matches: pattern } }, { path })).toEqual([asks, allows])
  })

  test('may be absolute, and so may the path', () => {
    const pattern = `${outside}/**`
    for (const path of [join(outside, 'y'), '../outside/y', 'notes/elsewhere/y']) {
      expect([path, ...both({ path: { matches: pattern } }, { path })]).toEqual([path, true, true])
    }
    expect(both({ path: { matches: pattern } }, { path: 'conf/y' })).toEqual([false, false])
    expect(both({ path: { matches: '~/.ssh/**' } }, { path: join(homedir(), '.ssh/id') })).toEqual([true, true])
  })
})

describe('a plain value', () => {
  test.each<[ArgumentConditions, string]>([
    [{ path: { equals: 'x.env' } }, './x.env'],
    [{ path: { equals: 'x.env' } }, 'notes/harmless.txt'],
    [{ path: { oneOf: ['a', 'conf/y'] } }, 'conf/../conf/y'],
  ])('%j also means %s if it asks, but not if it allows', (conditions, path) => {
    expect(both(conditions, { path })).toEqual([true, false])
  })

  test('of an argument that is not a path means just that value', () => {
    expect(both({ to: { equals: 'x.env' } }, { to: './x.env' })).toEqual([false, false])
    expect(both({ to: { matches: '*.env' } }, { to: 'conf/x.env' })).toEqual([false, false])
    expect(both({ to: { matches: '*' } }, { to: '~' })).toEqual([true, true])
  })
})

describe('a path that cannot be resolved', () => {
  test.each<[string, unknown]>([
    ['a number', 5],
    ['an object', { a: 1 }],
    ['a list with one of them', ['~/x']],
    ['a list that is too long', Array.from({ length: 201 }, () => 'conf')],
    ['a list of lists that is too long', Array.from({ length: 3 }, () => Array.from({ length: 100 }, () => 'conf'))],
    ['a list of long paths', Array.from({ length: 6 }, () => 'conf/../'.repeat(500))],
    ['NUL', 'x.env\0.txt'],
    ['a line break', 'x\n.env'],
    ['a home folder', '~/x.env'],
    ['a variable', '$HOME/x.env'],
    ['the answer of a command', 'conf/$(name).env'],
    ['a variable of Windows', '%APPDATA%/x.env'],
    ['a file address', 'file:///etc/passwd'],
    ['an address', 'https://example.com/x.env'],
    ['an encoded path', '%2e%2e/x%2eenv'],
    ['a glob', 'x.e*'],
    ['the other slash', 'conf\\x.env'],
    ['spaces around it', 'x.env '],
    ['half a character', 'x\ud800.env'],
    ['a path that is too long', 'a/'.repeat(2_049)],
    ['a name that is too long', 'a'.repeat(300)],
    ['a loop of links', 'notes/loop/x'],
    ['a file as a folder', 'x.env/y'],
  ])('%s throws', (_, path) => {
    for (const mode of modes) {
      expect(() => fits({ path: { matches: '*.txt' } }, { path }, context, mode)).toThrow()
      expect(() => fits({ any: { not: { path: '*.txt' } } }, { any: path }, context, mode)).toThrow()
    }
  })

  test.skipIf(process.getuid?.() === 0)('a folder without read permission throws', () => {
    const locked = join(dirname(root), 'locked')
    chmodSync(locked, 0o000)
    try {
      expect(() => fits({ path: { matches: '*.txt' } }, { path: join(locked, 'inner/x') }, context, 'wide')).toThrow()
    } finally {
      chmodSync(locked, 0o755)
    }
  })

  test('is not the same as a missing argument, which fits only `not`', () => {
    for (const args of [{}, { path: null }]) {
      expect(both({ path: { matches: '**' } }, args)).toEqual([false, false])
      expect(both({ path: { not: { path: '**' } } }, args)).toEqual([true, true])
    }
  })
})

test.each([
  '$id.tsx',
  'app/[slug]/page.tsx',
  '100%.md',
  'a (1).txt',
  'ä b.md',
  '+page.svelte',
  '@types/x.d.ts',
  'a&b',
  '#1',
])('%s is a path like any other', (path) => {
  expect(both({ path: { matches: '*.env' } }, { path })).toEqual([false, false])
  expect(both({ path: { matches: '**' } }, { path })).toEqual([true, true])
})

test('in a list, one path is enough to ask, and all are needed to allow', () => {
  const where: ArgumentConditions = { paths: { matches: '*.env' } }
  expect(both(where, { paths: ['a.md', './x.env'] })).toEqual([true, false])
  expect(both(where, { paths: ['y.env', './x.env'] })).toEqual([true, true])
  expect(both(where, { paths: [] })).toEqual([false, false])
  expect(both({ 'moves.0.source': { matches: '*.env' } }, { moves: [{ source: 'conf/x.env' }] })).toEqual([true, true])
})

test('with several start folders, one is enough to ask, and all are needed to allow', () => {
  const roots = { ...pathContext, roots: ['/srv/agent', '/srv/agent/notes'] }
  const where: ArgumentConditions = { path: { matches: 'notes/**' } }
  const ask = (path: string) => modes.map((mode) => fits(where, { path }, roots, mode))
  expect([ask('a.md'), ask('notes/a.md'), ask('/srv/agent/notes/a.md'), ask('/srv/a.md')]).toEqual([
    [true, false],
    [true, true],
    [true, true],
    [false, false],
  ])
})

describe('an argument is a path', () => {
  test.each([
    ['path', true],
    ['filePath', true],
    ['file_path', true],
    ['FILE', true],
    ['outputDir', true],
    ['target_folder', true],
    ['source', true],
    ['copyDestination', true],
    ['paths', true],
    ['order.file', true],
    ['files.0', true],
    ['name', false],
    ['pathological', false],
    ['directory', false],
    ['to', false],
  ])('by its name: %s %s', (name, expected) => {
    expect(isPathArgument(name, { type: 'object' })).toBe(expected)
  })

  test.each<[string, boolean]>([
    ['where', true],
    ['maybe', true],
    ['many', true],
    ['deep.where', true],
    ['many.0', true],
    ['referred', true],
    ['settings.where', true],
    ['plain', false],
    ['constructor', false],
  ])('by the schema of its tool: %s %s', (name, expected) => {
    const path = { type: 'string', format: 'path' }
    const parameters = {
      type: 'object',
      properties: {
        where: path,
        maybe: { anyOf: [path, { type: 'null' }] },
        many: { type: 'array', items: path },
        deep: { type: 'object', properties: { where: path } },
        plain: { type: 'string' },
        referred: { $ref: '#/$defs/Place' },
        settings: { anyOf: [{ $ref: '#/$defs/Settings' }, { $ref: '#/$defs/Again' }] },
      },
      $defs: {
        Place: path,
        Settings: { allOf: [{ type: 'object', properties: { where: { $ref: '#/$defs/Place' } } }] },
        Again: { anyOf: [{ $ref: '#/$defs/Again' }, { $ref: '#/$defs/Settings' }] },
      },
    }
    expect(isPathArgument(name, parameters)).toBe(expected)
    if (!expected || name.includes('.')) return
    const value = name === 'many' ? ['conf/../x.env'] : 'conf/../x.env'
    expect(fits({ [name]: { matches: '*.env' } }, { [name]: value }, { ...context, parameters }, 'wide')).toBe(true)
  })
})
