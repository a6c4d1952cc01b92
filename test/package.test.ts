// What `npm publish` would send, made as npm makes it, in a copy of the checkout in which somebody has worked.

import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { createQuarterdeck } from '../src/create-quarterdeck.ts'
import { silentLogger } from '../src/domain/logger.ts'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)

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
    ...files('examples/**/*.*').filter((file) => !file.endsWith('package-lock.json')),
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

  const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], {
    cwd: checkout,
    maxBuffer: 20_000_000,
  })

  const [{ files: packed }]: [{ files: { path: string; size: number }[] }] = JSON.parse(stdout)
  expect(packed.map(({ path }) => path).toSorted()).toEqual(expected.toSorted())
  // Generated documents are what grows unnoticed.
  expect(packed.filter(({ size }) => size > 200_000)).toEqual([])
})

interface Manifest {
  version: string
  dependencies?: unknown
}

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** A program that somebody could write in a browser: no types but those of the package and of the web. */
const page = `
import { type Approval, ClientError, createClient } from 'quarterdeck-client'
export async function talk(url: string, token: string) {
  const client = createClient({ url, token })
  const file = await client.upload(new Blob(['Hello.']), { name: 'hello.txt' })
  let said = ''
  for await (const event of client.stream('clerk', 'count 3', { files: [file] })) {
    if (event.type === 'message_delta') said += event.delta
  }
  const waiting: Approval[] = await client.approvals()
  const failure = await client.run('nothing').catch((error: unknown) => error)
  const code = failure instanceof ClientError ? failure.code : ''
  return { said, code, waiting: waiting.length, text: await (await client.download(file)).text() }
}
`

test('the client is a package of its own: no dependencies, typed, and it works', { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-client-package-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const checkout = join(folder, 'checkout')
  const parts = [
    'src/client',
    'src/domain',
    'packages',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'LICENSE',
  ]
  for (const name of parts) {
    cpSync(join(root, name), join(checkout, name), { recursive: true, filter: (path) => !path.endsWith('dist') })
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: join(checkout, 'packages/client'),
  })
  const [{ filename, files }]: [{ filename: string; files: { path: string }[] }] = JSON.parse(stdout)
  const names = files.map(({ path }) => path)
  expect(names.filter((name) => !/^dist\/client\/[\w-]+\.(?:js|d\.ts)$/.test(name)).toSorted()).toEqual([
    'LICENSE',
    'README.md',
    'dist/domain/errors.d.ts',
    'package.json',
  ])

  // What an install does with a package that needs nothing.
  const installed = join(folder, 'app/node_modules/quarterdeck-client')
  mkdirSync(installed, { recursive: true })
  await run('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', installed])
  const { version, dependencies } = manifestIn(installed)
  expect({ version, dependencies }).toEqual({ version: manifestIn(root).version, dependencies: undefined })
  writeFileSync(join(folder, 'app/package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'app/page.ts'), page)
  const compiler = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', '--types', '']
  await run(join(root, 'node_modules/.bin/tsc'), [...compiler, 'page.ts'], { cwd: join(folder, 'app') })

  const token = 'the-token-of-the-operator'
  const quarterdeck = createQuarterdeck({
    agent: join(root, 'examples/embedding/agent.yaml'),
    settings: { port: 0, data_dir: join(folder, 'data'), 'auth.operator_token': token },
    env: { QUARTERDECK_CONFIG_DIR: join(folder, 'config') },
    log: silentLogger,
  })
  onTestFinished(() => quarterdeck.close({ drainMs: 0 }))
  const { url } = await quarterdeck.listen()
  const { talk } = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'app/page.js')).href)
  expect(await talk(url, token)).toEqual({
    said: expect.stringMatching(/\S/),
    code: 'run_not_found',
    waiting: 0,
    text: 'Hello.',
  })
})
