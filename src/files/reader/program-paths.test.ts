import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { programPaths } from './program-paths.ts'
import { childProgram } from './reader-child.ts'

test('packages and their dependencies are found in a tree of links', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'program-paths-')))
  onTestFinished(() => rm(root, { recursive: true }))
  const install = async (path: string, manifest: object) => {
    await mkdir(join(root, path), { recursive: true })
    await writeFile(join(root, path, 'package.json'), JSON.stringify(manifest))
  }
  const linkTo = async (path: string, target: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await symlink(join(root, target), join(root, path))
  }
  await install('project/node_modules/ours', { dependencies: { secret: '1' } })
  await install('project/node_modules/secret', {})
  await install('store/pdf/node_modules/pdf', { dependencies: { '@x/font': '1' }, optionalDependencies: { mac: '1' } })
  await install('store/font/node_modules/@x/font', { dependencies: { pdf: '1' } })
  await linkTo('project/node_modules/pdf', 'store/pdf/node_modules/pdf')
  await linkTo('store/pdf/node_modules/@x/font', 'store/font/node_modules/@x/font')
  await linkTo('store/font/node_modules/pdf', 'store/pdf/node_modules/pdf')
  const paths = await programPaths(join(root, 'project/node_modules/ours/dist/files/child.js'), ['pdf', 'none'])

  expect(paths.map((path) => relative(root, path))).toEqual([
    'project/node_modules/ours/dist',
    'project/node_modules/ours/package.json',
    'project/node_modules/pdf',
    'store/pdf/node_modules/pdf',
    'store/pdf/node_modules/@x/font',
    'store/font/node_modules/@x/font',
    'store/font/node_modules/pdf',
  ])
})

test('only the code folder and the manifest of our own package are readable', async () => {
  const src = join(import.meta.dirname, '..', '..')
  const paths = await programPaths(childProgram())

  expect(paths.slice(0, 2)).toEqual([src, join(src, '..', 'package.json')])
  expect(paths.filter((path) => src.startsWith(`${path}/`))).toEqual([])
})
