// The agent owns its folder and may put anything there. Nothing of it is followed, waited for, or left out without a word.

import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readFiles, writeFiles } from '../checkpoints/testing/workspace.ts'
import { openWorktree } from './testing/open-worktree.ts'

const wide = (prefix: string, count: number, text: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}.txt`, text]))

test('what cannot become a change is named with its reason', async () => {
  const { worktree, inTree } = await openWorktree(
    {
      'a.txt': 'a\n',
      'b.txt': 'b\n',
      'tool.sh': '#!\n',
      'lib/x.txt': 'x\n',
      '.gitignore': 'real.env\n',
      'real.env': 'K=1\n',
    },
    { prepare: (workspace) => fs.symlinkSync('lib', join(workspace, 'src')) },
  )
  fs.rmSync(inTree('a.txt'))
  fs.symlinkSync('/etc/passwd', inTree('a.txt'))
  fs.symlinkSync('/etc', inTree('etc'))
  fs.rmSync(inTree('src'))
  writeFiles(worktree.root, { 'src/x.txt': 'evil\n', 'line\nbreak.txt': 'x', 'hid\u202eden.txt': 'x', 'B.TXT': 'x\n' })
  fs.rmSync(inTree('b.txt'))
  fs.writeFileSync(inTree('large.txt'), Buffer.alloc(5 * 1024 * 1024 + 1, 'x'))
  fs.chmodSync(inTree('tool.sh'), 0o755)
  execFileSync('mkfifo', [inTree('pipe')])
  const server = createServer().listen(inTree('socket'))
  await new Promise((listening) => server.once('listening', listening))
  onTestFinished(() => void server.close())
  execFileSync('python3', [
    '-c',
    'import os,sys; os.close(os.open(sys.argv[1].encode() + b"/bad\\xff", os.O_CREAT))',
    worktree.root,
  ])
  const { changes, left } = await worktree.changes()
  expect([changes, left]).toEqual([
    [],
    [
      { path: 'B.TXT', why: expect.stringMatching(/"b\.txt" exists and differs only by case/) },
      { path: 'a.txt', why: 'It is a symbolic link.' },
      { path: 'b.txt', why: 'It stays, because what took its place cannot be written.' },
      { path: 'bad\ufffd', why: 'Its name is not UTF-8.' },
      { path: 'etc', why: 'It is a symbolic link.' },
      { path: 'hid\u202eden.txt', why: expect.stringMatching(/hid<U\+202E>den.txt.*a person cannot see/) },
      { path: 'large.txt', why: 'It is larger than 5 MB.' },
      { path: 'line\nbreak.txt', why: expect.stringMatching(/line\\nbreak.*a person cannot see/) },
      { path: 'pipe', why: 'It is a device, a pipe or a socket.' },
      { path: 'socket', why: 'It is a device, a pipe or a socket.' },
      { path: 'src', why: 'It was a symbolic link and is gone. Links are not removed from here.' },
      { path: 'src/x.txt', why: 'In the workspace this path leads to lib/x.txt.' },
      { path: 'tool.sh', why: 'Only its permissions differ, and these are not changed from here.' },
    ],
  ])
})

test('what others obey, and hidden text, is critical; git and the ignored are no part of it', async () => {
  const { worktree } = await openWorktree({ 'a.txt': 'a\n' })
  writeFiles(worktree.root, {
    '.git/hooks/pre-commit': 'evil',
    'sub/.git/config': 'evil',
    '.github/workflows/ci.yml': 'on: push\n',
    '.quarterdeck/policy.json': '{}',
    'a.txt': 'a \u202e b\n',
    '.gitignore': 'out/\na.txt\n',
    'out/x': 'x',
  })
  const { changes, left } = await worktree.changes()
  expect([left, changes.map(({ path, risk, hasHiddenText }) => [path, risk, hasHiddenText])]).toEqual([
    [],
    [
      ['.github/workflows/ci.yml', 'critical', false],
      ['.gitignore', 'low', false],
      ['.quarterdeck/policy.json', 'critical', false],
      ['a.txt', 'critical', true],
    ],
  ])
})

test('more than one approval holds is refused with its limit, and can be discarded', async () => {
  const { worktree, workspace, inTree } = await openWorktree(wide('old/', 600, 'x\n'))
  fs.renameSync(inTree('old'), inTree('new'))
  const refused = /changed 1,200 files\. One approval holds at most 1,000 files and 20 MB\. Discard some/
  await expect(worktree.changes()).rejects.toMatchObject({ code: 'limit', message: expect.stringMatching(refused) })
  await worktree.discard('all')
  expect([readFiles(worktree.root), (await worktree.changes()).changes]).toEqual([readFiles(workspace), []])
  for (let i = 0; i < 5; i += 1) fs.writeFileSync(inTree(`${i}.bin`), Buffer.alloc(4_500_000, i))
  await expect(worktree.changes()).rejects.toMatchObject({
    code: 'limit',
    message: expect.stringMatching(/more than 20 MB/),
  })
})

test('10,000 renamed files are refused in seconds', async () => {
  const { worktree, inTree } = await openWorktree(wide('old/', 10_000, 'x\n'))
  fs.renameSync(inTree('old'), inTree('new'))
  await expect(worktree.changes()).rejects.toMatchObject({
    code: 'limit',
    message: expect.stringMatching(/20,000 files/),
  })
})

test('a folder that became a link to elsewhere is not written through', async () => {
  const { worktree, workspace, inTree, top } = await openWorktree({ 'src/a.txt': 'one\n', 'src/b.txt': 'one\n' })
  fs.mkdirSync(join(top, 'outside'))
  fs.mkdirSync(join(worktree.folder, 'empty'))
  fs.writeFileSync(join(top, 'outside/a.txt'), 'one\n')
  fs.rmSync(inTree('src'), { recursive: true })
  fs.symlinkSync(join(top, 'outside'), inTree('src'))
  writeFiles(workspace, { 'src/a.txt': 'person\n', 'src/new.txt': 'person\n' })
  await worktree.refresh()
  await worktree.discard(['src/a.txt'])
  expect(readFiles(join(top, 'outside'))).toEqual({ 'a.txt': 'one\n' })
  await worktree.discard(['../empty/x', '/etc/x', '..', ''])
  expect(fs.existsSync(join(worktree.folder, 'empty'))).toBe(true)
  await worktree.discard('all')
  expect([readFiles(worktree.root), readFiles(join(top, 'outside'))]).toEqual([
    readFiles(workspace),
    { 'a.txt': 'one\n' },
  ])
})

test('an agent that swaps folders and links while we look never leads us out', async () => {
  const { worktree, inTree, top } = await openWorktree({ 'src/deep/a.txt': 'one\n', ...wide('src/deep/f', 200, 'x\n') })
  fs.mkdirSync(join(top, 'outside/deep'), { recursive: true })
  fs.writeFileSync(join(top, 'outside/deep/a.txt'), 'secret\n')
  let isOver = false
  const swaps = (async () => {
    while (!isOver) {
      fs.renameSync(inTree('src'), inTree('moved'))
      fs.symlinkSync(join(top, 'outside'), inTree('src'))
      await new Promise((resolve) => setImmediate(resolve))
      fs.unlinkSync(inTree('src'))
      fs.renameSync(inTree('moved'), inTree('src'))
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  try {
    for (let i = 0; i < 5; i += 1) {
      const { changes } = await worktree.changes()
      expect(changes.filter(({ after }) => after !== null && String(Buffer.from(after)).includes('secret'))).toEqual([])
      await worktree.refresh()
    }
  } finally {
    isOver = true
    await swaps
  }
  expect(readFiles(join(top, 'outside'))).toEqual({ 'deep/a.txt': 'secret\n' })
})
