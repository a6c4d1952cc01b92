// Runs the MCP conformance suites against a real server: npm run test:conformance
// The suites are a package of their own, so that the fixtures find the server's packages and not theirs.
// First with the fixtures that the suites look for: nothing may fail but what the suite does not score, and the baseline file explains.
// Then without them, as people run it: only what the baseline file lists may fail. An entry that no longer fails must go.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const program = join(root, 'bin/quarterdeck.js')
const programWithFixtures = join(import.meta.dirname, 'program-with-fixtures.ts')
const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-conformance-'))
const env = { ...process.env, QUARTERDECK_CONFIG_DIR: join(folder, 'config') }
const say = (text: string) => process.stdout.write(`${text}\n`)

interface Leg {
  suite: 'conformance-1' | 'conformance-2'
  args: readonly string[]
  /** Scenarios that the suite does not score, and that fail. */
  unscored?: readonly string[]
}

const fileOf = (name: string) => join(import.meta.dirname, `${name}.yml`)
const baseline = (name: string) => ['--expected-failures', fileOf(name)]
const { unscored }: { unscored: string[] } = parse(readFileSync(fileOf('baseline-2026-07-28'), 'utf8'))
const withFixtures: readonly Leg[] = [
  { suite: 'conformance-1', args: ['--suite', 'all'] },
  { suite: 'conformance-2', args: ['--requirements', '2025-11-25'] },
  { suite: 'conformance-2', args: ['--requirements', '2026-07-28'], unscored },
]
const withoutFixtures: readonly Leg[] = [
  { suite: 'conformance-1', args: ['--suite', 'all', ...baseline('baseline')] },
  {
    suite: 'conformance-2',
    args: ['--suite', 'all', '--spec-version', '2026-07-28', ...baseline('baseline-2026-07-28')],
  },
]

/** Resolves with the address when the server is ready. */
async function serve(server: string, dataDir: string, token: string): Promise<{ child: ChildProcess; url: string }> {
  const args = [server, 'serve', '--port', '0', '--log-format', 'json', '--data-dir', dataDir]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...env, AGENT_TOKEN: token },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let shown = ''
  for await (const chunk of child.stdout) {
    shown += chunk
    const url = /Health\s+(\S+)\/health/.exec(shown)?.[1]
    if (url !== undefined) return { child, url }
  }
  throw new Error(`the server did not start:\n${shown}`)
}

function run({ suite, args, unscored = [] }: Leg, url: string): boolean {
  const main = join(import.meta.dirname, 'suites/node_modules', suite, 'dist/index.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'server', '--url', url, ...args], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  const total = /^Total: .*$/m.exec(stdout)?.[0] ?? 'no total'
  const failing = Array.from(stdout.matchAll(/^ {2}✗ (\S+) \(\w+\)$/gm), ([, name]) => name)
  const isExplained = isDeepStrictEqual(failing.toSorted(), unscored.toSorted())
  const isGood = status === 0 && isExplained
  say(`${isGood ? 'ok    ' : 'FAILED'} ${suite} ${args.slice(0, 4).join(' ')}: ${total}`)
  if (!isExplained) say(`Not scored and failing: ${failing.join(', ')}. The baseline says: ${unscored.join(', ')}.`)
  if (!isGood) say(stdout.slice(Math.max(0, stdout.indexOf('=== SUMMARY'))) + stderr)
  return isGood
}

async function runAll(legs: readonly Leg[], server: string): Promise<boolean> {
  const dataDir = mkdtempSync(join(folder, 'data-'))
  const create = ['tokens', 'create', '--role', 'agent', '--workspace', join(folder, 'shop'), '--data-dir', dataDir]
  const token = execFileSync(process.execPath, [program, ...create], {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
  const { child, url } = await serve(server, dataDir, token)
  try {
    return legs.map((leg) => run(leg, `${url}/mcp?token=${token}`)).every((isGood) => isGood)
  } finally {
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('close', resolve))
  }
}

try {
  mkdirSync(join(folder, 'shop'))
  say('With fixtures:')
  const first = await runAll(withFixtures, programWithFixtures)
  say('Without fixtures, against the baseline:')
  const second = await runAll(withoutFixtures, program)
  process.exitCode = first && second ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
