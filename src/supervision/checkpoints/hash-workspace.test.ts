import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type HashDeps, type HashRequest, hashWorkspace } from './hash-workspace.ts'
import { temporaryFolder, workspaceWith, writeFiles } from './testing/workspace.ts'
import { type Disk, systemDisk } from './workspace-folder.ts'

const sha256 = (text: string): string => hash('sha256', text, 'hex')

const look = (root: string, request: Partial<HashRequest> = {}, deps: Partial<HashDeps> = {}) =>
  hashWorkspace({ root, excluded: [], ...request }, { mono: () => 0, disk: systemDisk, content: null, ...deps })

const pathsIn = (...args: Parameters<typeof look>): string[] => [...look(...args).files.keys()]

test('finds every file with its hash, size and mode', () => {
  const root = workspaceWith({ 'b.txt': 'two', 'a/c.sh': '#!', empty: '' })
  fs.chmodSync(join(root, 'a/c.sh'), 0o755)
  fs.chmodSync(join(root, 'b.txt'), 0o640)
  fs.chmodSync(join(root, 'empty'), 0o600)

  expect(look(root)).toEqual({
    files: new Map([
      ['a/c.sh', { type: 'file', sha256: sha256('#!'), bytes: 2, mode: 0o755 }],
      ['b.txt', { type: 'file', sha256: sha256('two'), bytes: 3, mode: 0o640 }],
      ['empty', { type: 'file', sha256: sha256(''), bytes: 0, mode: 0o600 }],
    ]),
    skipped: [],
    ignoreFiles: [],
    ignoredFolders: [],
  })
})

test('reads a large file in pieces', () => {
  const text = 'x'.repeat(2_500_000)

  expect(look(workspaceWith({ large: text })).files.get('large')).toMatchObject({
    sha256: sha256(text),
    bytes: 2_500_000,
  })
})

test('leaves out git, our own folders and what the caller excludes', () => {
  const root = workspaceWith({
    '.git/config': '',
    'sub/.git': 'gitdir: elsewhere',
    '.GIT/hooks/x': '',
    '.quarterdeck/policy.json': '{}',
    'data/db': '',
    'data.txt': '',
  })

  expect(pathsIn(root, { excluded: [join(root, 'data'), '/elsewhere'] })).toEqual(['data.txt'])
})

test('records a link as a link and never follows it', () => {
  const outside = workspaceWith({ secret: 'mine' })
  const root = workspaceWith({ 'a.txt': '' })
  fs.symlinkSync(outside, join(root, 'folder'))
  fs.symlinkSync(join(outside, 'secret'), join(root, 'file'))
  fs.symlinkSync('nowhere', join(root, 'dangling'))

  const { files } = look(root)
  expect([...files].filter(([path]) => path !== 'a.txt')).toEqual([
    ['dangling', { type: 'link', target: 'nowhere' }],
    ['file', { type: 'link', target: join(outside, 'secret') }],
    ['folder', { type: 'link', target: outside }],
  ])
})

test('a folder that becomes a link while we look is not entered', () => {
  const outside = workspaceWith({ secret: 'mine' })
  const root = workspaceWith({ 'a/inside': '', 'b.txt': '' })
  const disk: Disk = {
    ...systemDisk,
    lstatSync: ((path: string) => {
      if (path.endsWith('b.txt') && fs.lstatSync(join(root, 'a')).isDirectory()) {
        fs.rmSync(join(root, 'a'), { recursive: true })
        fs.symlinkSync(outside, join(root, 'a'))
      }
      return fs.lstatSync(path)
    }) as Disk['lstatSync'],
  }

  const { files, skipped } = look(root, {}, { disk })
  expect([...files.keys()]).toEqual(['b.txt'])
  expect(skipped).toEqual([{ path: 'a', reason: 'changing' }])
})

test('names special files and does not open them', async () => {
  const root = workspaceWith({ 'a.txt': '' })
  execFileSync('mkfifo', [join(root, 'pipe')])
  const server = createServer().listen(join(root, 'socket'))
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => void server.close())

  const { files, skipped } = look(root)
  expect([...files.keys()]).toEqual(['a.txt'])
  expect(skipped).toEqual([
    { path: 'pipe', reason: 'special' },
    { path: 'socket', reason: 'special' },
  ])
})

test('names what it may not read and goes on', () => {
  const root = workspaceWith({ 'a.txt': '', 'b.txt': '', 'c/d.txt': '' })
  const disk: Disk = {
    ...systemDisk,
    openSync(path, ...rest) {
      if (/b\.txt$|\/c$/.test(String(path))) throw Object.assign(new Error('no'), { code: 'EACCES' })
      return fs.openSync(path, ...rest)
    },
  }

  const { files, skipped } = look(root, {}, { disk })
  expect([...files.keys()]).toEqual(['a.txt'])
  expect(skipped).toEqual([
    { path: 'b.txt', reason: 'unreadable' },
    { path: 'c', reason: 'unreadable' },
  ])
})

test('a workspace that is gone is an error', () => {
  expect(() => look(join(temporaryFolder(), 'gone'))).toThrow(
    expect.objectContaining({ code: 'file_unreadable', message: expect.stringContaining('cannot be read') }),
  )
})

describe('names', () => {
  test('may have any characters', () => {
    const names = ['a\nb', 'é', '日本', ' ', '__proto__', '\'"\\', '\u202etxt', '-rf', 'x'.repeat(255)]
    const root = workspaceWith(Object.fromEntries(names.map((name) => [`./${name}`, name])))

    expect(new Set(pathsIn(root))).toEqual(new Set(names))
  })

  test('that are not UTF-8 are named and skipped', () => {
    const root = workspaceWith({ 'a.txt': '' })
    fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/x`), Buffer.from([0xff])]), '')

    expect(look(root).skipped).toEqual([{ path: 'x\ufffd', reason: 'bad_name' }])
  })

  test('that are too long or too deep are named and skipped', () => {
    const root = workspaceWith({ 'a/b/c/d.txt': '', 'a/long-name': '', 'a/e': '' })
    const found = look(root, { limits: { maxDepth: 2, maxPathBytes: 8 } })

    expect([...found.files.keys()]).toEqual(['a/e'])
    expect(found.skipped).toEqual([
      { path: 'a/b/c', reason: 'too_deep' },
      { path: 'a/long-name', reason: 'path_too_long' },
    ])
  })
})

describe('while somebody works in the workspace', () => {
  /** Calls `change` at each read of the file, before the bytes are read. */
  const onRead = (change: () => void): Disk => ({
    ...systemDisk,
    readSync: ((fd: number, buffer: Buffer, offset: number, length: number, position: number) => {
      change()
      return fs.readSync(fd, buffer, offset, length, position)
    }) as Disk['readSync'],
  })

  test('a file that changes once is read again', () => {
    const root = workspaceWith({ log: 'one' })
    let changes = 0
    const disk = onRead(() => {
      changes += 1
      if (changes === 1) fs.appendFileSync(join(root, 'log'), ' two')
    })

    expect(look(root, {}, { disk }).files.get('log')).toMatchObject({ sha256: sha256('one two') })
  })

  test('a file that never stops changing is named and skipped', () => {
    const root = workspaceWith({ log: 'one' })
    const disk = onRead(() => fs.appendFileSync(join(root, 'log'), ' more'))

    expect(look(root, {}, { disk })).toMatchObject({
      files: new Map(),
      skipped: [{ path: 'log', reason: 'changing' }],
    })
  })

  test('files and folders that vanish are not there', () => {
    const root = workspaceWith({ 'a.txt': '', 'b.txt': '', 'c/d.txt': '' })
    const disk: Disk = {
      ...systemDisk,
      lstatSync: ((path: string) => {
        fs.rmSync(join(root, 'b.txt'), { force: true })
        fs.rmSync(join(root, 'c'), { force: true, recursive: true })
        return fs.lstatSync(path)
      }) as Disk['lstatSync'],
    }

    const { files, skipped } = look(root, {}, { disk })
    expect([...files.keys()]).toEqual(['a.txt'])
    expect(skipped).toEqual([])
  })
})

describe('limits', () => {
  test('too many files are an error that says what to do', () => {
    expect(() => look(workspaceWith({ a: '', b: '', c: '' }), { limits: { maxFiles: 1 } })).toThrow(
      'The workspace has more than 1 files. Add what is generated to .gitignore, then try again.',
    )
  })

  test('too much time is an error', () => {
    let now = 0
    const mono = () => {
      now += 1_000
      return now
    }

    expect(() => look(workspaceWith({ a: '', b: '', c: '' }), { limits: { maxMs: 1_500 } }, { mono })).toThrow(
      expect.objectContaining({ code: 'file_unreadable', message: expect.stringContaining('more than 2 seconds') }),
    )
  })

  test('a .gitignore that is too large does not apply, and is named', () => {
    const root = workspaceWith({ '.gitignore': `${'#'.repeat(100)}\na.txt`, 'a.txt': '' })

    expect(look(root, { limits: { maxIgnoreBytes: 50 } }).skipped).toEqual([
      { path: '.gitignore', reason: 'rules_too_large' },
    ])
  })
})

describe('ignored files', () => {
  test('are left out, and the rules are part of the result', () => {
    const root = workspaceWith({
      '.gitignore': 'dist/\n*.log',
      'dist/x': '',
      'a.log': '',
      'a/.gitignore': '!keep.log',
      'a/keep.log': '',
      'a/b.log': '',
    })

    const { files, ignoreFiles } = look(root)
    expect([...files.keys()]).toEqual(['.gitignore', 'a/.gitignore', 'a/keep.log'])
    expect(ignoreFiles).toEqual([
      { folder: '', text: 'dist/\n*.log' },
      { folder: 'a', text: '!keep.log' },
    ])
  })

  test('stored rules apply in the place of those on the disk', () => {
    const root = workspaceWith({ '.gitignore': '*', 'a.txt': '', 'b.log': '' })

    expect(pathsIn(root, { ignoreFiles: [{ folder: '', text: '*.log' }] })).toEqual(['.gitignore', 'a.txt'])
  })

  test('a .gitignore that is a link does not count', () => {
    const root = workspaceWith({ 'a.txt': '', rules: 'a.txt' })
    fs.symlinkSync('rules', join(root, '.gitignore'))

    expect(pathsIn(root)).toEqual(['.gitignore', 'a.txt', 'rules'])
  })

  test('are the same as for git', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '*',
      '**',
      '?',
      '/',
      '/',
      '.',
      '\\',
      '[ab]',
      '[!a]',
      '[a-',
      ']',
      'é',
      ' ',
      '!',
    )
    const pattern = fc.tuple(fc.constantFrom('', '', '!', '/', '#'), fc.array(part, { minLength: 1, maxLength: 5 }))
    const rules = fc.array(
      pattern.map(([start, parts]) => start + parts.join('')),
      { minLength: 1, maxLength: 4 },
    )
    const cases = fc.sample(fc.tuple(rules, rules), { seed: 4711, numRuns: 30 })
    const files = ['a', 'b', 'ab', 'a.b', 'é', 'a b', '!a', '#b', ']', 'b a/a', 'c/a', 'c/b/a', 'c/a.b/b', 'd/b/ab/a.b']
    const root = temporaryFolder()
    const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' }
    execFileSync('git', ['init', '-q', root], { env })
    cases.forEach(([top, below], i) => {
      writeFiles(join(root, `case-${i}`), Object.fromEntries(files.map((file) => [file, ''])))
      writeFiles(join(root, `case-${i}`), { '.gitignore': top.join('\n'), 'c/.gitignore': below.join('\n') })
    })

    const listed = execFileSync('git', ['ls-files', '--others', '--exclude-standard', '-z'], { cwd: root, env })
    expect(pathsIn(root)).toEqual(listed.toString('utf8').split('\0').slice(0, -1).sort())
  })
})
