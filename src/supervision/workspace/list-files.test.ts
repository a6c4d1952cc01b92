import { execFileSync } from 'node:child_process'
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import { type FileList, listFiles } from './list-files.ts'

const clock = createManualClock()
const list = (root: string, path = '', depth?: number) =>
  listFiles(root, { path, ...(depth === undefined ? {} : { depth }) }, clock)
const paths = ({ entries }: FileList) => entries.map(({ path, type }) => (type === 'folder' ? `${path}/` : path))

describe('a listing', () => {
  test('is a tree with folders first, both sorted, and the sizes of files', async () => {
    const root = makeWorkspace({ 'b.ts': '12345', 'a.ts': '', 'src/z.ts': '1', 'src/deep/y.ts': '12', 'lib/x.ts': '' })

    expect(await list(root)).toEqual({
      path: '',
      entries: [
        { path: 'lib', depth: 1, type: 'folder', bytes: null },
        { path: 'lib/x.ts', depth: 2, type: 'file', bytes: 0 },
        { path: 'src', depth: 1, type: 'folder', bytes: null },
        { path: 'src/deep', depth: 2, type: 'folder', bytes: null },
        { path: 'src/deep/y.ts', depth: 3, type: 'file', bytes: 2 },
        { path: 'src/z.ts', depth: 2, type: 'file', bytes: 1 },
        { path: 'a.ts', depth: 1, type: 'file', bytes: 0 },
        { path: 'b.ts', depth: 1, type: 'file', bytes: 5 },
      ],
      ignored: 0,
      cut: null,
    })
  })

  test('goes as deep as it is asked to, three folders usually', async () => {
    const root = makeWorkspace({ 'a/b/c/d/e.ts': '' })
    expect(paths(await list(root))).toEqual(['a/', 'a/b/', 'a/b/c/'])
    expect(paths(await list(root, '', 1))).toEqual(['a/'])
    expect(paths(await list(root, 'a/b/', 10))).toEqual(['a/b/c/', 'a/b/c/d/', 'a/b/c/d/e.ts'])
    for (const depth of [0, 11, 1.5, Number.NaN]) {
      await expect(list(root, '', depth)).rejects.toMatchObject({ code: 'invalid_request' })
    }
  })

  test('leaves out what .gitignore excludes, and folders that nobody reads', async () => {
    const root = makeWorkspace({
      '.gitignore': 'dist/\n*.log\n!keep.log\n',
      'dist/a.js': '',
      'x.log': '',
      'keep.log': '',
      'node_modules/p/index.js': '',
      '.git/config': '',
      '.quarterdeck/policy.json': '{}',
      'src/.gitignore': 'made.ts',
      'src/made.ts': '',
      'src/a.ts': '',
    })

    const found = await list(root)

    expect(paths(found)).toEqual(['src/', 'src/.gitignore', 'src/a.ts', '.gitignore', 'keep.log'])
    expect(found.ignored).toBe(6)
    expect(paths(await list(root, 'src'))).toEqual(['src/.gitignore', 'src/a.ts'])
    expect(paths(await list(root, 'dist'))).toEqual(['dist/a.js'])
    expect(paths(await list(root, 'node_modules'))).toEqual(['node_modules/p/', 'node_modules/p/index.js'])
  })

  test('knows the rules of the folders above', async () => {
    const root = makeWorkspace({ '.gitignore': 'secret.ts\n', 'a/b/secret.ts': '', 'a/b/c.ts': '' })
    expect(paths(await list(root, 'a/b'))).toEqual(['a/b/c.ts'])
  })

  test('shows links and pipes, and follows none of them', async () => {
    const root = makeWorkspace({ 'src/a.ts': '' })
    symlinkSync('/etc', join(root, 'etc'))
    symlinkSync('src', join(root, 'same'))
    execFileSync('mkfifo', [join(root, 'pipe')])
    const { entries } = await list(root)
    expect(entries.map(({ path, type }) => [path, type])).toEqual([
      ['src', 'folder'],
      ['src/a.ts', 'file'],
      ['etc', 'link'],
      ['pipe', 'other'],
      ['same', 'link'],
    ])
    expect(paths(await list(root, 'same'))).toEqual(['src/a.ts'])
  })

  test('stops at its limits, and says so; what is near comes first', async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`a/f${String(i).padStart(2, '0')}`, '']))
    const root = makeWorkspace({ ...files, 'b/x': '', z: '' })

    const few = await listFiles(root, { path: '' }, clock, { maxEntries: 5 })
    expect([paths(few), few.cut]).toEqual([['a/', 'a/f00', 'a/f01', 'b/', 'z'], 'entries'])
    const names = await listFiles(root, { path: 'a' }, clock, { maxNames: 10 })
    expect([names.entries.length, names.cut]).toEqual([10, 'entries'])
    let ms = 0
    const slow = { ...clock, mono: () => (ms += 300) }
    const late = await listFiles(root, { path: '' }, slow, { maxMs: 1_000 })
    expect([late.cut, paths(late).includes('b/x')]).toEqual(['time', false])
  })

  test('survives rules that are made to take long', async () => {
    const line = `${'*a'.repeat(120)}b`
    const root = makeWorkspace({
      '.gitignore': `${'x'.repeat(5_000)}\n${`${line}\n`.repeat(50)}*.log\n`,
      ['a'.repeat(250)]: '',
      'y.log': '',
    })
    expect((await list(root)).entries.map(({ path }) => path)).toEqual(['.gitignore', 'a'.repeat(250)])
  })
})

test.each([
  ['..', 'path_violation'],
  ['src/../..', 'path_violation'],
  ['/etc', 'path_violation'],
  ['/', 'path_violation'],
  ['out', 'path_violation'],
  ['out/ssl', 'path_violation'],
  ['nowhere', 'path_violation'],
  ['a.ts', 'path_violation'],
  ['C:\\', 'path_violation'],
  ['a\0', 'path_violation'],
  ['\u202esrc', 'path_violation'],
  ['.git', 'forbidden'],
  ['.git/hooks', 'forbidden'],
  ['history', 'forbidden'],
  ['.ssh', 'forbidden'],
  ['gone', 'file_not_found'],
  ['src/gone/deep', 'file_not_found'],
])('%j is not a folder to list: %s', async (path, code) => {
  const root = makeWorkspace({ 'a.ts': '', 'src/b.ts': '', '.git/hooks/x': '', '.ssh/id_rsa': '' })
  symlinkSync('/etc', join(root, 'out'))
  symlinkSync('missing', join(root, 'nowhere'))
  symlinkSync('.git', join(root, 'history'))
  await expect(list(root, path)).rejects.toMatchObject({ code })
})

test('a workspace that was replaced by a link is not read', async () => {
  const outer = makeWorkspace({ 'shop/a.ts': '', 'other/secret.ts': '' })
  const root = join(outer, 'shop')
  renameSync(root, join(outer, 'old'))
  symlinkSync('other', root)
  await expect(list(root)).rejects.toMatchObject({ code: 'path_violation' })
  rmSync(root)
  await expect(list(root)).rejects.toMatchObject({ code: 'path_violation' })
})

test('a folder that becomes a link while it is listed is never followed, whenever that happens', async () => {
  const outcomes = new Set<string>()
  for (let moment = 1; moment <= 15; moment += 1) {
    const outer = makeWorkspace({ 'shop/b/mine.ts': '', 'other/theirs.ts': '' })
    const root = join(outer, 'shop')
    let turns = 0
    // The clock is asked again and again. At one of these moments the agent puts a link in the place of the folder.
    const mono = () => {
      turns += 1
      if (turns === moment) {
        rmSync(join(root, 'b'), { recursive: true })
        symlinkSync('../other', join(root, 'b'))
      }
      return 0
    }
    const { entries } = await listFiles(root, { path: '' }, { ...clock, mono })
    outcomes.add(entries.map(({ path, type, isUnread }) => `${type} ${path}${isUnread ? '?' : ''}`).join(' '))
  }
  expect([...outcomes].sort()).toEqual(['folder b', 'folder b file b/mine.ts', 'folder b?', 'link b'])
})
