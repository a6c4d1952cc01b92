// The layering of docs/understand/architecture.md as a test: imports go down, protocols never import each other, app/ sees all but cli/.

import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const src = join(import.meta.dirname, '..', 'src')

/** What a folder may import besides itself. `folder/file.ts` allows that file alone. */
const allowed: Record<string, readonly string[]> = {
  domain: [],
  json: ['domain'],
  // `doors.ts` is data about the doors: their names are a setting, and a route belongs to one of them.
  // Each kind of channel brings its own settings: see 'what a kind of channel declares' below.
  config: ['domain', 'json', 'doors.ts', 'operators/channels.ts', 'hosts/hosts.ts'],
  hosts: ['domain', 'config/source/env-file.ts'],
  outgoing: ['domain'],
  models: ['domain', 'json', 'outgoing'],
  knowledge: ['domain', 'json', 'store/ports/knowledge.ts', 'models/embedding/embedding.ts', 'files'],
  tools: ['domain', 'json', 'outgoing', 'knowledge/knowledge.ts'],
  files: ['domain'],
  store: ['domain', 'json'],
  log: ['domain', 'json', 'store/store.ts', 'store/ports'],
  engine: ['domain', 'json', 'log', 'store/store.ts', 'store/ports', 'models/model.ts', 'tools/tool.ts'],
  // Types alone, see below.
  client: ['domain', 'protocols', 'http/health/schema.ts'],
  supervision: [
    'domain',
    'json',
    'engine',
    'log/session-log.ts',
    'store/store.ts',
    'store/ports',
    'replicas',
    'hosts',
    'tools/tool.ts',
    'tools/process',
  ],
  evaluation: ['domain', 'json', 'engine', 'log/notes.ts', 'models/model.ts', 'knowledge/knowledge.ts'],
  schedules: ['domain', 'engine', 'log/notes.ts'],
  operators: [
    'domain',
    'json',
    'config/settings/setting.ts',
    'config/settings/channel-values.ts',
    'config/source/schema-key.ts',
    'supervision',
    'engine',
    'log/session-log.ts',
    'store/ports',
    'replicas',
    'tools/http/service',
  ],
  replicas: ['domain', 'json', 'store/ports/shared.ts'],
  http: ['domain', 'json', 'store/ports/shared.ts', 'replicas', 'doors.ts'],
  telemetry: ['domain'],
  protocols: [
    'domain',
    'json',
    'engine',
    'supervision',
    'evaluation',
    'schedules',
    'hosts',
    'http',
    'replicas/shared-counts.ts',
    'files/file-keeper.ts',
    'knowledge/knowledge.ts',
    'models/embedding/embedding.ts',
    'protocols/shared',
  ],
}

const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('testing/'))
  .map((file) => file.replaceAll('\\', '/'))

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path]) =>
    relative(src, join(src, dirname(file), path ?? '')).replaceAll('\\', '/'),
  )
}

/** A protocol is a folder of its own; elsewhere the top folder is the unit. A `door.ts` puts a door together, maybe of several protocols. */
const unitOf = (file: string): string => {
  const [top = '', second = ''] = file.split('/')
  return top === 'protocols' ? `${top}/${second}` : top
}
const isOfDoor = (file: string, target: string): boolean =>
  /^protocols\/[^/]+\/door\.ts$/.test(file) && /^protocols\/[^/]+\/(routes|error-shape)\.ts$/.test(target)

test('imports go down the layers', () => {
  const wrong = sources.flatMap((file) => {
    const [top = ''] = file.split('/')
    const rules = allowed[top]
    if (rules === undefined) return []
    return importsOf(file)
      .filter((target) => unitOf(target) !== unitOf(file) && !isOfDoor(file, target))
      .filter((target) => !rules.some((rule) => target === rule || target.startsWith(`${rule}/`)))
      .map((target) => `${file} imports ${target}`)
  })
  expect(wrong).toEqual([])
})

test('only the CLI imports the CLI', () => {
  const wrong = sources
    .filter((file) => !file.startsWith('cli/'))
    .flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('cli/'))
        .map((target) => `${file} imports ${target}`),
    )
  expect(wrong).toEqual([])
})

// What may be missing is a value that does nothing, or null. A caller that forgets an optional part is told by nobody.
test('in what a part depends on, nothing is optional', () => {
  const optional = sources.flatMap((file) =>
    [...readFileSync(join(src, file), 'utf8').matchAll(/^(?:export )?interface (\w+(?:Deps|Parts))\b.*?^}/gms)].flatMap(
      ([body, name]) =>
        [...body.matchAll(/^ {2}(?:readonly )?(\w+)\?[:(]/gm)].map(([, key]) => `${file} ${name}.${key}`),
    ),
  )
  expect(optional).toEqual([])
})

// The settings are below the channels and still have their rows. So what declares a channel loads the rest of it only when it is used.
test('what a kind of channel declares loads nothing above the settings', () => {
  const declares = (file: string) => /^operators\/(?:[\w-]+\/channel|channels|channel-kind)\.ts$/.test(file)
  const wrong = sources.filter(declares).flatMap((file) => {
    const text = readFileSync(join(src, file), 'utf8')
    return [...text.matchAll(/^import (?!type\b)[^']*from '(\.[^']+)'/gm)]
      .map(([, path = '']) => relative(src, join(src, dirname(file), path)).replaceAll('\\', '/'))
      .filter((target) => !declares(target) && !/^(?:config|domain)\//.test(target))
      .map((target) => `${file} loads ${target}`)
  })
  expect(wrong).toEqual([])
})

test('commands open stores through open-store.ts', () => {
  const wrong = sources.filter(
    (file) => file.startsWith('cli/') && importsOf(file).some((target) => target.startsWith('store/sqlite/')),
  )
  expect(wrong).toEqual([])
})

// As an ES module, node:http loads all of Node's fetch: 13 MB and 50 ms, at every start. OpenTelemetry's packages load it anyway.
test('node:http is taken from process.getBuiltinModule, not imported', () => {
  const wrong = sources
    .filter((file) => !file.startsWith('telemetry/'))
    .filter((file) => /^import (?!type\b)[^']*? from 'node:https?'/m.test(readFileSync(join(src, file), 'utf8')))
  expect(wrong).toEqual([])
})

test('the engine and the log take time, ids and randomness as arguments', () => {
  const forbidden =
    /\b(Date\.now|new Date|Math\.random|setTimeout|setInterval|setImmediate|randomUUID|randomBytes|fetch)\b|node:(fs|http|crypto)/
  const wrong = sources
    .filter((file) => file.startsWith('engine/') || file.startsWith('log/'))
    .flatMap((file) =>
      readFileSync(join(src, file), 'utf8')
        .split('\n')
        .map((line, i) => ({ file, line, n: i + 1 })),
    )
    .filter(({ line }) => forbidden.test(line))
    .map(({ file, n, line }) => `${file}:${n} ${line.trim()}`)
  expect(wrong).toEqual([])
})

/** These are started, not imported. */
const PROGRAMS = [
  'console/src/main.tsx',
  'console/src/talk/main.tsx',
  'src/app/knowledge/knowledge-thread.ts',
  'src/config/agent/agent-text-worker.ts',
  'src/files/reader/child/main.ts',
  'src/store/sqlite/disk/wal-writeback-worker.ts',
  'src/supervision/checkpoints/checkpoint-worker.ts',
  'src/supervision/worktrees/worktree-worker.ts',
]
const STARTS_SOMETHING =
  /^(?:void |await |(?:\w+\??\.)*\w+\??\(|(?:export )?(?:const|let) .* = (?:await |set(?:Timeout|Interval|Immediate)\(|fetch\(|matchMedia\(|open[A-Z]\w*(?:<.*>)?\(|start[A-Z]\w*\(|new (?:Worker|BroadcastChannel|MessageChannel|EventSource|WebSocket)\())/

// Test files share a thread, so what an import starts fails later, in the middle of somebody else's test.
test('an import starts nothing: no timer, no channel, no request', () => {
  const root = join(src, '..')
  const files = globSync(['src/**/*.ts', 'console/src/**/*.{ts,tsx}'], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !/\.test\.ts$|\.contract\.ts$|\/testing\//.test(file))
  const wrong = files
    .filter((file) => !PROGRAMS.includes(file))
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        // An address block is filled once, from constants.
        .filter((line) => STARTS_SOMETHING.test(line) && !line.startsWith('LOOPBACK.add'))
        .map((line) => `${file}: ${line}`),
    )
  expect(files.length).toBeGreaterThan(1_000)
  expect(wrong).toEqual([])
})

test('nothing evaluates text as code', () => {
  const wrong = sources.filter((file) => /\beval\(|new Function\(|node:vm/.test(readFileSync(join(src, file), 'utf8')))
  expect(wrong).toEqual([])
})

test('the client runs anywhere: it takes types from the domain and the schemas, and no code from anybody', () => {
  const wrong = sources
    .filter((file) => file.startsWith('client/'))
    .flatMap((file) =>
      [...readFileSync(join(src, file), 'utf8').matchAll(/^(?:import|export) [^']*?from '(?!\.\/)([^']+)'/gm)]
        .filter(
          ([line, path = '']) =>
            !/^(?:im|ex)port type /.test(line) || !/^\.\.\/domain\/|schema\.ts$|\/records\/kinds\//.test(path),
        )
        .map(([line]) => `${file}: ${line}`),
    )
  expect(wrong).toEqual([])
})

test('OpenTelemetry is loaded by nobody who has not asked for it', () => {
  const wrong = sources.filter(
    (file) =>
      !file.startsWith('telemetry/') &&
      /\bfrom '(?:@opentelemetry\/|(?:\.\.?\/)+telemetry\/)/.test(readFileSync(join(src, file), 'utf8')),
  )
  expect(wrong).toEqual([])
})
