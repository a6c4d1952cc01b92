import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeWorkspace } from '../testing/workspace.ts'
import { confine } from './confine.ts'

const refusal = async (root: string, path: string): Promise<string> => {
  const error: unknown = await confine(root, path).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'path_violation' })
  return error instanceof Error ? error.message : ''
}

describe('a path in the workspace', () => {
  test('is relative to the real root, with plain folders', async () => {
    const root = makeWorkspace({ 'src/a.ts': '' })
    expect(await confine(root, './src//a.ts')).toEqual({ root, folders: ['src'], name: 'a.ts', path: 'src/a.ts' })
    expect(await confine(root, 'new/deep/b.ts')).toMatchObject({ folders: ['new', 'deep'], path: 'new/deep/b.ts' })
    expect(await confine(root, 'docs/日本/[...slug] (x)@.md')).toMatchObject({ path: 'docs/日本/[...slug] (x)@.md' })
  })

  test('may go through a link to a folder of the same workspace, and has the real name then', async () => {
    const root = makeWorkspace({ 'packages/core/a.ts': '' })
    symlinkSync('packages/core', join(root, 'core'))
    symlinkSync('.', join(root, 'self'))
    expect(await confine(root, 'core/a.ts')).toMatchObject({ path: 'packages/core/a.ts' })
    expect(await confine(root, 'core/new/b.ts')).toMatchObject({ path: 'packages/core/new/b.ts' })
    expect(await confine(root, 'self/b.ts')).toMatchObject({ path: 'b.ts' })
  })

  test('may be given through a link to the workspace', async () => {
    const root = makeWorkspace({ 'real/a.ts': '' })
    symlinkSync('real', join(root, 'link'))
    expect(await confine(join(root, 'link'), 'a.ts')).toMatchObject({ root: join(root, 'real'), path: 'a.ts' })
  })
})

test.each([
  ['', 'empty'],
  ['a\0b', 'NUL'],
  ['/etc/passwd', 'relative'],
  ['../x', '".."'],
  ['src/../../x', '".."'],
  ['src/..', '".."'],
  ['C:/x', 'colon'],
  ['C:\\x', 'backslash'],
  ['..\\x', 'backslash'],
  ['.git::$INDEX_ALLOCATION/config', 'colon'],
  ['src/', 'folder'],
  ['.', 'itself'],
  ['~/.bashrc', '~'],
  ['a/\u202egpj.ts', 'cannot see'],
  ['a\u200b.ts', 'cannot see'],
  ['a\n.ts', 'cannot see'],
  ['a\u{e0041}.ts', 'cannot see'],
  ['a\ud800', 'cannot see'],
  ['a\uff0fb', 'separator'],
  ['\u2025/x', 'separator'],
  ['\uff0e\uff0e/x', 'separator'],
  ['\u2100', 'separator'],
  ['.git./config', 'dot or a space'],
  ['.git /config', 'dot or a space'],
  [' a', 'starts with a space'],
  ['a'.repeat(1_025), '1024 characters'],
  ['ä'.repeat(200), '255 bytes'],
])('%j is refused', async (path, why) => {
  expect(await refusal(makeWorkspace(), path)).toContain(why)
})

test('an absolute path in the workspace is refused with the path to write', async () => {
  const root = makeWorkspace({ 'src/a.ts': '' })
  expect(await refusal(root, join(root, 'src/a.ts'))).toContain('Write "src/a.ts"')
})

test('a workspace that does not exist is named', async () => {
  expect(await refusal(join(makeWorkspace(), 'gone'), 'a')).toContain('/gone cannot be read')
})

test('links out of the workspace, dangling links, loops and links as files are refused', async () => {
  const outside = makeWorkspace({ 'secret.txt': '' })
  const root = makeWorkspace({ 'a.ts': '' })
  symlinkSync(outside, join(root, 'out'))
  symlinkSync(join(outside, 'secret.txt'), join(root, 'secret.txt'))
  symlinkSync('nowhere', join(root, 'dangling'))
  symlinkSync('loop', join(root, 'loop'))
  symlinkSync('a.ts', join(root, 'b.ts'))
  expect(await refusal(root, 'out/secret.txt')).toContain('out of the workspace')
  expect(await refusal(root, 'out/new.txt')).toContain('out of the workspace')
  expect(await refusal(root, 'secret.txt')).toContain('symbolic link')
  expect(await refusal(root, 'dangling')).toContain('symbolic link')
  expect(await refusal(root, 'dangling/x')).toContain('leads nowhere')
  expect(await refusal(root, 'loop/x')).toContain('leads nowhere')
  expect(await refusal(root, 'b.ts')).toContain('symbolic link')
})

test('a workspace whose name begins like another is not inside it', async () => {
  const parent = makeWorkspace({ 'work/a.ts': '', 'work-secret/b.ts': '' })
  symlinkSync('../work-secret', join(parent, 'work/link'))
  expect(await refusal(join(parent, 'work'), 'link/b.ts')).toContain('out of the workspace')
})

test('folders, files as folders, pipes and sockets are refused', async () => {
  const root = makeWorkspace({ 'a.ts': '' })
  mkdirSync(join(root, 'src'))
  expect(await refusal(root, 'src')).toContain('it is a folder')
  expect(await refusal(root, 'a.ts/b.ts')).toContain('a.ts is not a folder')
  if (process.platform === 'win32') return
  execFileSync('mkfifo', [join(root, 'pipe')])
  expect(await refusal(root, 'pipe')).toContain('pipe')
  const server = createServer().listen(join(root, 's'))
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  expect(await refusal(root, 's')).toContain('socket')
})

test('a name that differs only by case or encoding from another is refused, where the disk keeps them apart', async () => {
  const root = makeWorkspace({ 'README.md': '', 'src/a.ts': '', 'caf\u00e9.txt': '' })
  const isSameFile = (await confine(root, 'readme.md').catch(() => null))?.path === 'README.md'
  if (isSameFile) return
  expect(await refusal(root, 'readme.md')).toContain('"README.md" exists')
  expect(await refusal(root, 'SRC/b.ts')).toContain('"src" exists')
  expect(await refusal(root, 'cafe\u0301.txt')).toContain('exists')
})

test('files that exist both ways can both be named', async () => {
  const root = makeWorkspace({ Makefile: 'a', makefile: 'b' })
  expect(await confine(root, 'Makefile')).toMatchObject({ path: expect.stringMatching(/makefile/i) })
})
