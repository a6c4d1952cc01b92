// Builds `dist`, as it is published: the program and most of its packages, bundled into a few files; the pages that it serves; the
// types of the public API. Bundling makes the start faster, because Node spends more time on finding a file than on reading it.
//
//   node scripts/build.ts --to <folder>      only the program, without types, for tests that start it many times

import { execFileSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import { parseArgs } from 'node:util'
import { type Plugin, type RolldownOptions, rolldown } from 'rolldown'
import { plainTypes, reachableTypes } from './plain-types.ts'
import { carriedPackages, shippedPackages } from './shipped-packages.ts'

const root = join(import.meta.dirname, '..')
const source = join(root, 'src')
const packages = join(root, 'node_modules')
const { to } = parseArgs({ options: { to: { type: 'string' } } }).values
const dist = to ?? join(root, 'dist')

/** These are started or imported by their path, so each keeps its place. */
const PROGRAM = ['index', 'cli/main']
/** So are these, in processes and threads of their own. They share no file with the server, which would make them load most of it. */
const SMALL = [
  'app/knowledge/knowledge-thread',
  'cli/commands/hook/main',
  'config/agent/agent-text-worker',
  'files/reader/child/main',
  'store/sqlite/disk/wal-writeback-worker',
  'supervision/checkpoints/checkpoint-worker',
  'supervision/worktrees/worktree-worker',
]
/** Bundled alone, into a file without imports, because it runs in browsers. */
const CLIENT = ['client/client']
/** Files that the program reads while it runs. */
const PAGES = 'src/http/pages/*/*.{html,css,js}'

/** Not bundled: native packages, which npm chooses for the machine, the reduced pdf.js of unpdf, because we ship the full one,
 * and what pg would use if somebody had installed it. */
const EXTERNAL = ['sharp', '@napi-rs/canvas', '@napi-rs/keyring', 'unpdf/pdfjs', 'pg-native']

/** In a bundle, `import.meta.url` of a module still says where the module would be without bundling, so that it finds the files beside it. */
const ownUrls: Plugin = {
  name: 'own-urls',
  transform(code, id) {
    if (!id.startsWith(source + sep) || !code.includes('import.meta.url')) return null
    const place = relative(source, id).replaceAll(sep, '/').replace(/\.ts$/, '.js')
    return code.replaceAll('import.meta.url', `__sourceUrl(${JSON.stringify(place)})`)
  },
  renderChunk: (code, { fileName }, { format }) =>
    code.replace(/__sourceUrl\("([^"]+)"\)/g, (_, place: string) => {
      const path = posix.relative(posix.dirname(fileName), place)
      const here = format === 'cjs' ? 'require("node:url").pathToFileURL(__filename)' : 'import.meta.url'
      return `new URL(${JSON.stringify(path)}, ${here}).href`
    }),
}

/** We give Tesseract the path of its worker. The path that it would compute itself is wrong in a bundle. */
const noWorkerPath: Plugin = {
  name: 'no-worker-path',
  transform: (code, id) =>
    id.endsWith(join('tesseract.js', 'src', 'worker', 'node', 'defaultOptions.js'))
      ? code.replace('__dirname', "''")
      : null,
}

/** We never speak HTTP/2 (`src/outgoing/connections.ts`). undici then does without node:http2, which is 8 MB with the TLS that it loads. */
const noHttp2: Plugin = {
  name: 'no-http2',
  transform: (code, id) =>
    id.endsWith(join('undici', 'lib', 'dispatcher', 'client-h2.js'))
      ? code.replace("require('node:http2')", '{ constants: {} }')
      : null,
}

/** What a start of the server loads, besides `cli/main`: all that these import. The rest is loaded when it is needed. */
const SERVER = [
  'cli/commands/serve/serve',
  'app/app',
  'app/app-options',
  'models/openai/openai',
  'operators/web-push/create-web-push',
]

/** The modules of one file: `main` has what every command needs, `server` the rest of what a start loads. */
const groups = new Map<string, 'main' | 'server'>()
const findGroups: Plugin = {
  name: 'find-groups',
  buildEnd() {
    const take = (names: readonly string[], group: 'main' | 'server'): void => {
      const found = new Set(names.map((name) => join(source, `${name}.ts`)))
      for (const id of found) for (const next of this.getModuleInfo(id)?.importedIds ?? []) found.add(next)
      for (const id of found) if (!groups.has(id)) groups.set(id, group)
    }
    take(['cli/main'], 'main')
    take(SERVER, 'server')
  },
}

/** THIRD-PARTY-NOTICES.md must name every package whose code is in the bundle. */
const onlyKnownPackages: Plugin = {
  name: 'only-known-packages',
  moduleParsed({ id }) {
    const [, name] = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id) ?? []
    if (name === undefined || shipped.has(name.replaceAll('\\', '/'))) return
    throw new Error(`${name} would become part of the program: add it to scripts/shipped-packages.ts`)
  },
}

const shipped = new Set(shippedPackages(root).map(({ name }) => name))

async function bundle(options: RolldownOptions): Promise<void> {
  const { output, plugins, ...input } = options
  const bundled = await rolldown({
    cwd: root,
    platform: 'node',
    // Its usual entry loads its parts with a require that no bundler can follow.
    resolve: { alias: { 'jsonc-parser': join(packages, 'jsonc-parser/lib/esm/main.js') } },
    logLevel: 'warn',
    checks: { ineffectiveDynamicImport: false },
    ...input,
    plugins: [onlyKnownPackages, plugins],
  })
  // Not minified, so that stack traces name functions and lead to readable code.
  await bundled.write({ dir: dist, format: 'esm', entryFileNames: '[name].js', ...output })
  await bundled.close()
}

const entries = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, join(source, `${name}.ts`)]))

async function bundleAll(): Promise<void> {
  await bundle({
    input: entries(PROGRAM),
    external: EXTERNAL,
    plugins: [ownUrls, noWorkerPath, noHttp2, findGroups],
    preserveEntrySignatures: 'allow-extension',
    output: {
      // Finding and linking modules took a quarter of a start, as a hundred files and by `import`. The launcher can also keep what V8
      // has compiled of such a file.
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'chunks/[name].cjs',
      codeSplitting: {
        groups: [{ name: (id) => groups.get(id) ?? null, debugName: 'start' }],
        includeDependenciesRecursively: false,
      },
      strictExecutionOrder: true,
    },
  })
  for (const file of globSync('**/*.cjs', { cwd: dist })) writeAscii(join(dist, file))
  await bundle({
    input: entries(SMALL),
    external: EXTERNAL,
    plugins: [ownUrls, noWorkerPath, noHttp2],
    output: { chunkFileNames: 'chunks/small/[name].js' },
  })
  await bundle({ input: entries(CLIENT), external: /^node:/ })
  await bundle({
    input: { worker: join(packages, 'tesseract.js/src/worker-script/node/index.js') },
    external: [/^tesseract\.js-core\//, 'node-fetch'],
    output: {
      dir: join(dist, 'packages/tesseract.js'),
      format: 'cjs',
      entryFileNames: '[name].cjs',
      paths: (id) => id.replace(/^tesseract\.js-core\/(.*)$/, '../tesseract.js-core/$1.js'),
    },
  })
}

/** V8 keeps the text of what it runs, in half the memory if it is ASCII. Outside of `String.raw`, which has none here, the meaning is the same. */
function writeAscii(file: string): void {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  writeFileSync(file, readFileSync(file, 'utf8').replace(/[^\0-\x7f]/g, escaped))
}

function copyFiles(): void {
  for (const page of globSync(PAGES, { cwd: root })) cpSync(join(root, page), join(dist, relative('src', page)))
  for (const [name, patterns] of Object.entries(carriedPackages)) {
    const from = join(packages, name)
    for (const file of globSync([...patterns], { cwd: from })) {
      cpSync(join(from, file), join(dist, 'packages', name, file), { recursive: true })
    }
  }
}

interface Manifest {
  dependencies: Record<string, string>
}

/** Writes the declarations that the public API uses, and removes all others. `npm run check` has checked them, which takes three times as long. */
async function writeTypes(): Promise<void> {
  const flags = ['--emitDeclarationOnly', '--noCheck', '--checkers', '1']
  execFileSync(join(packages, '.bin/tsc'), ['-p', 'tsconfig.build.json', ...flags], { cwd: root, stdio: 'inherit' })
  writeFileSync(join(dist, 'client/wire.d.ts'), await plainTypes(join(source, 'client/wire.ts')))
  const { files, packages: used } = reachableTypes(['index', 'client/client'].map((name) => join(dist, `${name}.d.ts`)))
  for (const file of globSync('**/*.d.ts', { cwd: dist })) {
    if (!files.has(join(dist, file)) && !file.startsWith('packages')) rmSync(join(dist, file))
  }
  const { dependencies }: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const missing = [...used].filter((name) => !(name in dependencies))
  if (missing.length > 0) throw new Error(`the types need ${missing.join(', ')}, which are not dependencies`)
}

// The console lies in the same folder and has a build of its own.
for (const name of globSync('*', { cwd: dist, exclude: ['console'] })) rmSync(join(dist, name), { recursive: true })
await bundleAll()
copyFiles()
if (to === undefined) await writeTypes()
