import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeWorkspace } from '../testing/workspace.ts'
import { openFolder } from './open-folder.ts'

const opened = async (root: string, folders: string[]) => {
  const folder = await openFolder(root, folders, { create: false })
  if (folder === null) throw new Error('The folder does not exist.')
  onTestFinished(() => folder[Symbol.asyncDispose]())
  return folder
}

test('a folder that was replaced by a link is not entered', async () => {
  const outside = makeWorkspace({ 'a.ts': 'secret' })
  const root = makeWorkspace({ 'src/inner/a.ts': 'mine' })
  renameSync(join(root, 'src/inner'), join(root, 'src/moved'))
  symlinkSync(outside, join(root, 'src/inner'))
  await expect(openFolder(root, ['src', 'inner'], { create: false })).rejects.toMatchObject({ code: 'path_violation' })
  await expect(openFolder(root, ['src', 'inner'], { create: true })).rejects.toMatchObject({ code: 'path_violation' })
})

test('a folder that is replaced after it was opened is noticed, and still reached', async () => {
  const outside = makeWorkspace({ 'a.ts': 'secret' })
  const root = makeWorkspace({ 'src/a.ts': 'mine' })
  const folder = await opened(root, ['src'])
  await folder.check()
  renameSync(join(root, 'src'), join(root, 'moved'))
  symlinkSync(outside, join(root, 'src'))
  await expect(folder.check()).rejects.toMatchObject({ code: 'path_violation' })
  // Only Linux has a way to the open folder itself.
  if (process.platform === 'linux') expect(readFileSync(folder.at('a.ts'), 'utf8')).toBe('mine')
})

test('a folder that does not exist is null, or is created and taken back', async () => {
  const root = makeWorkspace()
  expect(await openFolder(root, ['a', 'b'], { create: false })).toBe(null)
  mkdirSync(join(root, 'a'))
  const folder = await openFolder(root, ['a', 'b', 'c'], { create: true })
  await folder?.undo()
  await folder?.[Symbol.asyncDispose]()
  expect(await openFolder(root, ['a', 'b'], { create: false })).toBe(null)
  expect(await opened(root, ['a'])).toBeDefined()
})

test('a file in the place of a folder is refused', async () => {
  const root = makeWorkspace()
  writeFileSync(join(root, 'a'), '')
  await expect(openFolder(root, ['a', 'b'], { create: true })).rejects.toMatchObject({ code: 'path_violation' })
})
