// What `npm publish` would send, made as npm makes it, in a copy of the checkout in which somebody has worked.

import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const root = join(import.meta.dirname, '..')

/** What people and servers leave behind, none of which is anybody else's business. */
const litter = [
  'examples/assistant/.quarterdeck/quarterdeck.db',
  'examples/assistant/.quarterdeck/tokens.json',
  'examples/assistant/.quarterdeck/files/ab/abcdef',
  'examples/tools/.env',
  'examples/tools/server.log',
  'examples/clients/copilotkit/node_modules/react/index.js',
  'docs/.quarterdeck/quarterdeck.db',
  'docs/notes.txt',
  'schema/.env.local',
  '.quarterdeck/quarterdeck.db',
  '.env',
  'quarterdeck.log',
  'dist/http/token-file.js',
  'dist/left-over.test.js',
]

const isSource = (file: string) =>
  /\.ts$/.test(file) &&
  !/\.(?:test|contract|fixture)\.ts$|\/testing\//.test(file) &&
  !['src/cli/generate.ts', 'src/cli/served-document.ts'].includes(file)

test('the package holds what it needs and nothing else', { timeout: 300_000 }, async () => {
  const checkout = mkdtempSync(join(tmpdir(), 'quarterdeck-package-'))
  onTestFinished(() => rmSync(checkout, { recursive: true, force: true }))
  const clean = (path: string) => !/\/(?:\.quarterdeck|\.env|node_modules)(?:\/|$)/.test(path.slice(root.length))
  const kept = ['bin', 'docs', 'examples', 'schema', 'src', 'package.json', 'README.md', 'CHANGELOG.md', 'LICENSE']
  for (const name of [...kept, 'tsconfig.json', 'tsconfig.build.json', '.gitignore']) {
    cpSync(join(root, name), join(checkout, name), { recursive: true, filter: clean })
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  const files = (pattern: string) => globSync(pattern, { cwd: checkout }).map((path) => path.replaceAll('\\', '/'))
  const pages = files('src/{http/welcome,protocols/open-api}/*.{html,css,js}').map((file) =>
    file.replace(/^src/, 'dist'),
  )
  const expected = [
    'package.json',
    'README.md',
    'LICENSE',
    ...files('bin/*.js'),
    ...files('docs/*.md'),
    ...files('docs/assets/*.svg'),
    ...files('schema/*.json'),
    ...files('examples/**/*.*'),
    ...files('src/**/*.ts')
      .filter(isSource)
      .flatMap((file) => [file.replace(/\.ts$/, '.js'), file.replace(/\.ts$/, '.d.ts')])
      .map((file) => file.replace(/^src/, 'dist')),
    ...pages,
  ]
  for (const path of litter) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true })
    writeFileSync(join(checkout, path), 'not yours')
  }

  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json'], {
    cwd: checkout,
    maxBuffer: 20_000_000,
  })

  const [{ files: packed }]: [{ files: { path: string; size: number }[] }] = JSON.parse(stdout)
  expect(packed.map(({ path }) => path).toSorted()).toEqual(expected.toSorted())
  // Generated documents are what grows unnoticed.
  expect(packed.filter(({ size }) => size > 200_000)).toEqual([])
})
