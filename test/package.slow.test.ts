// The package that `npm publish` would send, made by npm from a copy of a checkout with leftovers of daily work.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { sbom } from '../scripts/sbom.ts'
import { shippedPackages } from '../scripts/shipped-packages.ts'
import { thirdPartyNotices } from '../scripts/third-party-notices.ts'
import { createQuarterdeck } from '../src/app/create-quarterdeck.ts'
import { findOldNode } from '../src/cli/testing/old-node.ts'
import { createSystemClock } from '../src/domain/clock.ts'
import { silentLogger } from '../src/domain/logger.ts'
import type { FileType } from '../src/domain/session/file.ts'
import { scan } from '../src/files/formats/image/testing/scan.ts'
import { pdfOf } from '../src/files/formats/pdf/testing/pdf.ts'
import { createFileReader, readerLimits } from '../src/files/reader/create-file-reader.ts'
import * as library from '../src/index.ts'
import buildConsole from './browser/build-console.ts'
import { firstHour } from './first-hour.ts'
import { hasScript } from './terminal.ts'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)

const isSource = (path: string) => !/\/(?:\.quarterdeck|\.env|node_modules)(?:\/|$)/.test(path.slice(root.length))

/** Files that people and servers leave behind. None of them may be published. */
const litter = [
  'examples/assistant/.quarterdeck/quarterdeck.db',
  'examples/assistant/.quarterdeck/files/ab/abcdef',
  'examples/order-desk/.env',
  'examples/order-desk/server.log',
  'examples/next-copilotkit/node_modules/react/index.js',
  'docs/.quarterdeck/quarterdeck.db',
  'docs/notes.txt',
  'schema/.env.local',
  '.quarterdeck/quarterdeck.db',
  '.env',
  'quarterdeck.log',
  'dist/http/token-file.js',
  'dist/left-over.test.js',
]

/** The bundler names the bundled files. Those of other packages have their own list. */
const isBundled = (file: string) =>
  /^dist\/(?:chunks\/(?:[\w-]+\.cjs|small\/[\w-]+\.js)|console\/assets\/[\w.-]+\.(?:js|css)(?:\.br)?|packages\/.+|.+\.d\.ts)$/.test(
    file,
  )

const tool = `
import { defineTool } from 'quarterdeck'
import { z } from 'zod'
export const greet = defineTool({
  description: 'Greets somebody by name.',
  parameters: z.object({ name: z.string() }),
  execute: ({ name }) => 'Hello ' + name,
})
`

const program = `
import { createQuarterdeck, defineTool, type Quarterdeck, ServerError } from 'quarterdeck'
import { createClient } from 'quarterdeck/client'
import { z } from 'zod'
export const greet = defineTool({
  description: 'Greets somebody by name.',
  parameters: z.object({ name: z.string() }),
  run: ({ name }, { signal }) => signal.aborted ? name : name.toUpperCase(),
})
export const quarterdeck: Quarterdeck = createQuarterdeck({ agent: 'agent.yaml', settings: { port: 0 } })
export const answers = createClient({ url: 'http://127.0.0.1:8000' }).run('Hi')
export const isOurs = (error: unknown): boolean => error instanceof ServerError
`

test('the package has all files that it needs and no others, and works', { timeout: 600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-package-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const checkout = join(folder, 'checkout')
  const kept = ['bin', 'deploy', 'docs', 'examples', 'schema', 'scripts', 'src', 'package.json', 'package-lock.json']
  const shown = ['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'THIRD-PARTY-NOTICES.md']
  for (const name of [...kept, ...shown, 'tsconfig.json', 'tsconfig.build.json', '.gitignore']) {
    cpSync(join(root, name), join(checkout, name), { recursive: true, filter: isSource })
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  await putConsole(checkout)
  const files = (pattern: string) => globSync(pattern, { cwd: checkout }).map((path) => path.replaceAll('\\', '/'))
  const pages = files('src/http/pages/*/*.{html,css,js}').map((file) => file.replace(/^src/, 'dist'))
  const expected = [
    'package.json',
    ...globSync('*', { cwd: join(root, 'console/public') }).map((file) => `dist/console/${file}`),
    'dist/console/index.html',
    'dist/console/talk/index.html',
    'dist/console/licences.txt',
    ...shown,
    ...files('bin/*.js'),
    ...files('{deploy,examples}/**').filter(
      (file) => statSync(join(checkout, file)).isFile() && !/\/\.|\.test\.|package-lock/.test(file),
    ),
    ...files('docs/**/*.md'),
    ...files('docs/assets/*.{svg,png}'),
    ...files('schema/*.json'),
    'dist/index.cjs',
    'dist/sbom.cdx.json',
    'dist/cli/commands/hook/main.js',
    'dist/cli/main.cjs',
    'dist/app/knowledge/knowledge-thread.js',
    'dist/client/client.js',
    'dist/config/agent/agent-text-worker.js',
    'dist/files/reader/child/main.js',
    'dist/store/sqlite/disk/wal-writeback-worker.js',
    'dist/supervision/checkpoints/checkpoint-worker.js',
    'dist/supervision/worktrees/worktree-worker.js',
    ...pages,
  ]
  for (const path of litter) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true })
    writeFileSync(join(checkout, path), 'not yours')
  }

  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: checkout,
    maxBuffer: 20_000_000,
  })

  const [{ filename, files: packed }]: [{ filename: string; files: { path: string; size: number }[] }] =
    JSON.parse(stdout)
  const paths = packed.map(({ path }) => path)
  expect(paths.filter((path) => !isBundled(path)).toSorted()).toEqual(expected.toSorted())
  expect(paths.filter((path) => path.endsWith('.d.ts') && !existsSync(join(root, sourceOf(path))))).toEqual([])
  // Generated documents may grow without anybody noticing.
  expect(packed.filter(({ path, size }) => size > 250_000 && !path.startsWith('dist/'))).toEqual([])
  expect(packed.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(38_500_000)

  // Like an install: the package, and beside it its dependencies. Nothing else of ours can be found from there.
  const app = join(folder, 'app')
  const installed = join(app, 'node_modules/quarterdeck')
  mkdirSync(installed, { recursive: true })
  await run('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', installed])
  for (const name of Object.keys(manifestIn(installed).dependencies ?? {})) {
    mkdirSync(dirname(join(app, 'node_modules', name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(app, 'node_modules', name))
  }
  writeFileSync(join(app, 'tools.ts'), tool)
  writeFileSync(
    join(app, 'agent.yaml'),
    'name: clerk\nmodel: { provider: demo }\ninstructions: Help.\ntools: [{ type: function, name: greet, file: tools.ts }]\n',
  )
  cpSync(join(installed, 'examples/order-desk'), join(app, 'example'), { recursive: true })
  const launcher = join(installed, 'bin/quarterdeck.js')
  const validated = await run(process.execPath, [launcher, 'validate', 'agent.yaml', 'example'], {
    cwd: app,
    env: { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') },
  })
  expect(validated.stdout).toMatch(/^ok {2}clerk: demo\/demo, 1 tool,.*\nok {2}order-desk: demo\/demo, 2 tools,/)
  await hasTypes(app)
  await saysWhichNode(app)
  await serves(installed, app)
  await readsFiles(installed, folder)
  if (hasScript) await hasFirstHour(installed, app)
})

/** As in a project that has the package installed, with the Node that npm installs for an older one. */
async function hasFirstHour(installed: string, app: string): Promise<void> {
  mkdirSync(join(app, 'node_modules/.bin'))
  symlinkSync(join(installed, 'bin/quarterdeck.js'), join(app, 'node_modules/.bin/quarterdeck'))
  for (const name of globSync('node-{linux,win}-*', { cwd: join(root, 'node_modules') })) {
    symlinkSync(join(root, 'node_modules', name), join(app, 'node_modules', name))
  }
  const old = findOldNode()
  for (const node of [process.execPath, ...(old === null || process.env.LONG !== '1' ? [] : [old])]) {
    const folder = mkdtempSync(join(dirname(app), 'hour-'))
    symlinkSync(join(app, 'node_modules'), join(folder, 'node_modules'))
    await firstHour({ cwd: folder, node, folder, start: 'npx quarterdeck serve' })
  }
}

/** `npm install` has built the console already, so it is packed as it is. In the long tests `npm pack` builds it from its source. */
async function putConsole(checkout: string): Promise<void> {
  const from = (name: string) => cpSync(join(root, name), join(checkout, name), { recursive: true, filter: isSource })
  from('console/package.json')
  if (process.env.LONG === '1') return from('console')
  await buildConsole()
  from('dist/console')
}

const sourceOf = (declaration: string): string => declaration.replace(/^dist/, 'src').replace(/\.d\.ts$/, '.ts')

/** Without Node's types, and with all that is wrong in ours reported. */
async function hasTypes(app: string): Promise<void> {
  writeFileSync(join(app, 'program.ts'), program)
  const flags = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--module', 'nodenext', '--types', '']
  const checked = await run(join(root, 'node_modules/.bin/tsc'), [...flags, 'program.ts'], { cwd: app }).catch(
    ({ stdout }: { stdout: string }) => ({ stdout }),
  )
  expect(checked.stdout).toBe('')
}

/** The library has all names of the public API. A Node that is too old for it says so, and runs the client. */
async function saysWhichNode(app: string): Promise<void> {
  const show = 'const shown = (it) => console.log(Object.keys(it).sort().join(" "));'
  const load = (name: string) => `${show} import("${name}").then(shown, ({ message }) => console.log(message))`
  const loaded = async (node: string, name: string) => (await run(node, ['-e', load(name)], { cwd: app })).stdout.trim()

  expect(await loaded(process.execPath, 'quarterdeck')).toBe(Object.keys(library).toSorted().join(' '))
  const old = findOldNode()
  if (old === null) return
  expect(await loaded(old, 'quarterdeck')).toMatch(
    /^quarterdeck needs Node 24 or newer, this is Node \d+\.\d+\.\d+\. Install it from .+ npx -y node@24 /,
  )
  expect(await loaded(old, 'quarterdeck/client')).toBe('ClientError createClient encodeProof')
}

async function serves(installed: string, app: string): Promise<void> {
  const { createQuarterdeck: create }: { createQuarterdeck: typeof createQuarterdeck } = await import(
    /* @vite-ignore */ pathToFileURL(join(installed, 'dist/index.cjs')).href
  )
  const quarterdeck = create({
    agent: join(app, 'agent.yaml'),
    settings: { port: 0, data_dir: join(app, 'data') },
    env: { QUARTERDECK_CONFIG_DIR: join(app, 'config') },
    log: silentLogger,
  })
  onTestFinished(() => quarterdeck.close({ drainMs: 0 }))
  const { url } = await quarterdeck.listen()
  const shown = async (path: string) => {
    const answer = await fetch(url + path, { headers: { Accept: 'text/html' } })
    return [answer.status, (await answer.text()).includes('<script type="module"')]
  }
  expect(await shown('/docs')).toEqual([200, true])
  const health: unknown = await (await fetch(`${url}/health`)).json()
  expect(health).toMatchObject({ version: manifestIn(root).version })
}

/** Uses the pdf.js, the OCR and the language data in the package. */
async function readsFiles(installed: string, folder: string): Promise<void> {
  const reader = createFileReader({
    cacheDir: join(folder, 'extracts'),
    clock: createSystemClock(),
    log: silentLogger,
    environment: process.env,
    limits: readerLimits,
    program: join(installed, 'dist/files/reader/child/main.js'),
  })
  onTestFinished(() => reader.close())
  const read = async (bytes: Buffer, mimeType: FileType) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const path = join(folder, sha256)
    writeFileSync(path, bytes)
    const { sections } = await reader.read(
      { path, mimeType, bytes: bytes.length, sha256 },
      AbortSignal.timeout(120_000),
    )
    return sections.map(({ text }) => text.trim())
  }
  expect(await read(pdfOf([{ lines: ['Read by pdf.js'] }]), 'application/pdf')).toEqual(['Read by pdf.js'])
  expect(await read(await scan('Read by Tesseract').png().toBuffer(), 'image/png')).toEqual(['Read by Tesseract'])
  const data = join(installed, 'dist/packages/@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz')
  expect(existsSync(data)).toBe(true)
}

test('the notices name every published package of the lockfile', () => {
  expect(readFileSync(join(root, 'THIRD-PARTY-NOTICES.md'), 'utf8') === thirdPartyNotices(root)).toBe(true)
})

test('the notices quote each licence once, and say whose it is', () => {
  const notices = readFileSync(join(root, 'THIRD-PARTY-NOTICES.md'), 'utf8')
  const texts = notices.match(/````text\n.*?\n````/gs) ?? []
  const named = notices.split('\n').filter((line) => /^(?:## |Also of )/.test(line))
  const unnamed = shippedPackages(root)
    .filter(({ isForSomeSystems }) => !isForSomeSystems)
    .map(({ name, version }) => `${name} ${version}`)
    .filter((one) => !named.some((line) => line.includes(one)))

  expect(new Set(texts).size).toBe(texts.length)
  expect(unnamed).toEqual([])
})

interface Manifest {
  version: string
  dependencies?: Record<string, string>
}

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** A program for a browser: it uses only the types of the package and of the web. */
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

test('the client is a package of its own that has no dependencies, has types, and works', {
  timeout: 300_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-client-package-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const checkout = join(folder, 'checkout')
  const parts = ['src', 'scripts', 'packages', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'LICENSE']
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

  // Like the install of a package without dependencies.
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
    agent: join(root, 'examples/express/agent.yaml'),
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

test('the bill of materials has every published package, and all that npm knows of', async () => {
  const { components, dependencies } = sbom(root)
  const published = new Set(shippedPackages(root).map(({ name, version }) => `${name}@${version}`))
  expect(new Set(components.map(({ name, version }) => `${name}@${version}`))).toEqual(published)
  const refs = new Set(components.map((component) => component['bom-ref']))
  expect(refs.size).toBe(components.length)
  expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([])
  expect(components.filter(({ hashes }) => hashes === undefined)).toEqual([])

  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only']
  const { stdout } = await run('npm', args, { cwd: root, maxBuffer: 20_000_000 })
  const known: { purl: string; name: string }[] = JSON.parse(stdout).components
  const missing = known.map(({ purl }) => purl.split('?')[0] ?? '').filter((purl) => !refs.has(purl))
  expect(missing.filter((purl) => !purl.includes('/quarterdeck-console@'))).toEqual([])
})
