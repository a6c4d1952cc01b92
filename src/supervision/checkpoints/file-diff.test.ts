import { hash } from 'node:crypto'
import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeWorkspace } from '../testing/workspace.ts'
import { diffOfFile, type KeptFile } from './file-diff.ts'

const kept = (text: string | Buffer): KeptFile => {
  const bytes = Buffer.from(text)
  return { entry: { type: 'file', sha256: hash('sha256', bytes, 'hex'), bytes: bytes.length, mode: 0o644 }, bytes }
}
const nothing: KeptFile = { entry: null, bytes: null }

test('a file with the same bytes has no difference', async () => {
  const root = makeWorkspace({ 'a.txt': 'one\n' })

  expect(await diffOfFile(root, 'a.txt', kept('one\n'))).toMatchObject({ change: 'same', diff: '', whyNot: null })
})

test('what cannot be compared says why', async () => {
  const root = makeWorkspace({ 'a.bin': 'x', 'large.txt': 'y'.repeat(1_100_000), 'key.txt': 'ok\n', 'link.txt': 'z' })
  writeFileSync(join(root, 'a.bin'), Buffer.from([0, 255, 1]))
  unlinkSync(join(root, 'link.txt'))
  symlinkSync('/etc/passwd', join(root, 'link.txt'))
  const key = '-----BEGIN PRIVATE KEY-----\nabc\n'
  const whyNot = async (path: string, before: KeptFile) => (await diffOfFile(root, path, before)).whyNot

  expect(await whyNot('a.bin', kept('text'))).toBe('It is not text.')
  expect(await whyNot('large.txt', nothing)).toContain('larger than 1 MB')
  expect(await whyNot('key.txt', kept(key))).toContain('private key')
  expect(await whyNot('key.txt', { ...kept('x'), bytes: null })).toContain('its hash')
  expect(await whyNot('key.txt', { entry: { type: 'link', target: '/' }, bytes: null })).toContain('a link')
  expect(await whyNot('link.txt', kept('x'))).toContain('symbolic link')
})

test('a file that is nowhere, or outside, is refused', async () => {
  const root = makeWorkspace({ 'a.txt': 'one\n' })

  await expect(diffOfFile(root, 'b.txt', nothing)).rejects.toMatchObject({ code: 'file_not_found' })
  await expect(diffOfFile(root, '../b.txt', nothing)).rejects.toMatchObject({ code: 'path_violation' })
})
