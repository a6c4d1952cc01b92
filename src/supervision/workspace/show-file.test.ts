import { createHash } from 'node:crypto'
import { linkSync, mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeWorkspace } from '../testing/workspace.ts'
import { showFile } from './show-file.ts'

const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`)

describe('a file', () => {
  test('is shown whole, with its hash', async () => {
    const text = 'one\ntwo\n'
    const root = makeWorkspace({ 'src/a.ts': text })
    expect(await showFile(root, './src//a.ts')).toEqual({
      path: 'src/a.ts',
      lines: ['one', 'two'],
      from: 1,
      to: 2,
      totalLines: 2,
      bytes: 8,
      sha256: createHash('sha256').update(text).digest('hex'),
      hasMarks: false,
      leftOut: 0,
    })
  })

  test('shows some of its lines', async () => {
    const root = makeWorkspace({ a: lines(20).join('\n') })
    const shown = async (from: number, to: number | null) => {
      const file = await showFile(root, 'a', { from, to })
      return [file.lines, file.from, file.to, file.totalLines]
    }
    expect(await shown(3, 5)).toEqual([['line 3', 'line 4', 'line 5'], 3, 5, 20])
    expect(await shown(19, null)).toEqual([['line 19', 'line 20'], 19, 20, 20])
    expect(await shown(20, 900)).toEqual([['line 20'], 20, 20, 20])
    await expect(showFile(root, 'a', { from: 21, to: null })).rejects.toThrow('a has only 20 lines.')
    for (const [from, to] of [
      [0, 3],
      [5, 4],
      [1.5, 2],
      [-1, 2],
      [1, Number.NaN],
    ] as const) {
      await expect(showFile(root, 'a', { from, to })).rejects.toMatchObject({ code: 'invalid_request' })
    }
  })

  test('may be empty, have no last line break, or those of Windows', async () => {
    const root = makeWorkspace({ empty: '', open: 'a\nb', windows: '\ufeffa\r\nb\r\n', blank: '\n\n' })
    const shown = async (path: string) => {
      const { lines, from, to, totalLines } = await showFile(root, path)
      return [lines, from, to, totalLines]
    }
    expect(await shown('empty')).toEqual([[], 1, 0, 0])
    expect(await shown('open')).toEqual([['a', 'b'], 1, 2, 2])
    expect(await shown('windows')).toEqual([['a', 'b'], 1, 2, 2])
    expect(await shown('blank')).toEqual([['', ''], 1, 2, 2])
  })

  test('shows characters that hide', async () => {
    const root = makeWorkspace({ a: 'if (x\u202e) \u200b{\nok\r\nfake\rline' })
    expect(await showFile(root, 'a')).toMatchObject({
      lines: ['if (x<U+202E>) <U+200B>{', 'ok', 'fake<U+000D>line'],
      hasMarks: true,
    })
  })

  test('in UTF-16 is text too', async () => {
    const root = makeWorkspace({ a: Buffer.from('\ufeffhé\n', 'utf16le') })
    expect((await showFile(root, 'a')).lines).toEqual(['hé'])
  })

  test('that is long is cut, and says how much is missing', async () => {
    const root = makeWorkspace({ many: `${'x'.repeat(999)}\n`.repeat(1_000), wide: `${'y'.repeat(25_000)}\nz` })
    expect(await showFile(root, 'many')).toMatchObject({ to: 500, totalLines: 1_000, leftOut: 500 })
    const { lines, leftOut } = await showFile(root, 'wide')
    expect([lines[0]?.slice(-30), lines[1], leftOut]).toEqual(['yyyyyyy … 15000 more characters'.slice(-30), 'z', 0])
    const marks = makeWorkspace({ a: `${'\u200b'.repeat(9_000)}\n`.repeat(50) })
    expect((await showFile(marks, 'a')).lines.join('').length).toBeLessThan(600_000)
  })
})

test.each([
  '.env',
  '.ENV',
  '.env.local',
  'app/.env.production',
  '.envrc',
  'prod.env',
  'server.pem',
  'tls.key',
  'store.p12',
  'id_rsa',
  'id_ed25519.pub',
  'id_work',
  '.ssh/config',
  '.aws/config',
  '.git/config',
  '.GIT/config',
  'GIT~1/config',
  'sub/.git/HEAD',
  '.npmrc',
  '.netrc',
  '.docker/config.json',
  'credentials',
  'credentials.json',
  'secrets.prod.yaml',
  'api_key.txt',
  'service-account-7.json',
  'main.tfstate',
])('%s is not shown', async (path) => {
  const root = makeWorkspace({ [path]: 'x' })
  await expect(showFile(root, path)).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringMatching(/is not shown here\. (?:Such a file holds|The folder of git)/),
  })
})

test.each([
  'id_map.ts',
  'token.ts',
  'secret-path.ts',
  'environment.ts',
  'design-tokens.json',
  '.gitignore',
  '.docker/compose.yaml',
  'keys.ts',
  'docs/passwords.md',
])('%s is shown', async (path) => {
  const root = makeWorkspace({ [path]: 'x' })
  expect((await showFile(root, path)).lines).toEqual(['x'])
})

test('a private key is not shown, whatever its name', async () => {
  const root = makeWorkspace({
    'notes.md': '# Notes\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n',
    'find-keys.ts': "const start = '-----BEGIN PRIVATE KEY-----'\n",
  })
  await expect(showFile(root, 'notes.md')).rejects.toThrow('notes.md is not shown here. It holds a private key.')
  expect((await showFile(root, 'find-keys.ts')).totalLines).toBe(1)
})

test.each([
  ['../x', 'path_violation'],
  ['/etc/passwd', 'path_violation'],
  ['out/passwd', 'path_violation'],
  ['passwd', 'path_violation'],
  ['folder', 'path_violation'],
  ['', 'path_violation'],
  ['~/x', 'path_violation'],
  ['history/config', 'forbidden'],
  ['picture.png', 'file_unreadable'],
  ['latin1.txt', 'file_unreadable'],
  ['large.txt', 'file_too_large'],
  ['missing.ts', 'file_not_found'],
  ['missing/deep.ts', 'file_not_found'],
])('%j cannot be shown: %s', async (path, code) => {
  const root = makeWorkspace({
    '.git/config': 'x',
    'picture.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]),
    'latin1.txt': Buffer.from([0x68, 0xe9]),
    'large.txt': path === 'large.txt' ? Buffer.alloc(5 * 1024 * 1024 + 1, 'a') : '',
  })
  mkdirSync(join(root, 'folder'))
  symlinkSync('/etc', join(root, 'out'))
  symlinkSync('/etc/passwd', join(root, 'passwd'))
  symlinkSync('.git', join(root, 'history'))
  await expect(showFile(root, path)).rejects.toMatchObject({ code })
})

test('a second name of a secret file does not help if its text is a key', async () => {
  const root = makeWorkspace({ 'tls.key': '-----BEGIN RSA PRIVATE KEY-----\n' })
  linkSync(join(root, 'tls.key'), join(root, 'readme.md'))
  await expect(showFile(root, 'readme.md')).rejects.toMatchObject({ code: 'forbidden' })
})

test('a workspace that was replaced by a link is not read', async () => {
  const outer = makeWorkspace({ 'shop/a.ts': '', 'other/a.ts': 'theirs' })
  renameSync(join(outer, 'shop'), join(outer, 'old'))
  symlinkSync('other', join(outer, 'shop'))
  await expect(showFile(join(outer, 'shop'), 'a.ts')).rejects.toMatchObject({ code: 'path_violation' })
})
