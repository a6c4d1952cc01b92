// `npm run generate`: writes all files that are derived from the code.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createApp } from '../app/app.ts'
import { appDefaults } from '../app/app-options.ts'
import { loadAgent } from '../config/agent/load-agents.ts'
import { generators } from '../config/generate.ts'
import { resolveSettings } from '../config/settings/resolve-settings.ts'
import { readVersion } from '../config/version.ts'
import { silentLogger } from '../domain/logger.ts'
import type { Route } from '../http/route.ts'
import { createAppStarter } from './commands/serve/start-app.ts'
import { createProgram } from './program.ts'
import { referencePages } from './reference-pages.ts'
import { fillRoutes } from './route-tables.ts'
import { createProcessIo } from './terminal/process-io.ts'

const WIDTH = 120

/** JSON in the layout of this repository's formatter: objects over several lines, short lists of plain values on one line. */
export function jsonText(value: unknown): string {
  return `${layOut(value, '', 0)}\n`
}

/** `taken`: how many characters come before it on its line. */
function layOut(value: unknown, indent: string, taken: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const deeper = `${indent}  `
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    const isPlain = value.every((item) => isFlat(item))
    const line = `[${value.map((item) => layOut(item, deeper, 0)).join(', ')}]`
    // Plus one for a comma.
    if (isPlain && taken + line.length + 1 <= WIDTH) return line
    return `[\n${value.map((item) => `${deeper}${layOut(item, deeper, deeper.length)}`).join(',\n')}\n${indent}]`
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  if (entries.length === 0) return '{}'
  const lines = entries.map(([key, item]) => {
    const start = `${deeper}${JSON.stringify(key)}: `
    return `${start}${layOut(item, deeper, start.length)}`
  })
  return `{\n${lines.join(',\n')}\n${indent}}`
}

/** Not an object with members, and no list that holds one. */
const isFlat = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Array.isArray(value) ? value.every(isFlat) : Object.keys(value).length === 0)

// The OpenAPI document of this version with all doors open, as served by a server in memory, on any free port.

const exampleAgent = join(import.meta.dirname, '../../examples/assistant/agent.yaml')

export async function servedApi(version: string): Promise<{ document: unknown; routes: readonly Route[] }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-generate-'))
  await using undo = new AsyncDisposableStack()
  undo.defer(() => rm(dataDir, { recursive: true }))
  const { settings } = resolveSettings({
    flags: { port: '0', store: ':memory:' },
    env: {},
    file: null,
    onTerminal: false,
  })
  const app = await createApp({
    ...appDefaults(),
    log: silentLogger,
    exit: (code) => {
      throw new Error(`the server wanted to exit with ${code}`)
    },
    agents: [loadAgent(exampleAgent, { env: {} })],
    settings,
    dataDir,
    version,
  })
  undo.defer(() => app.close({ drainMs: 0 }))
  const { url, routes } = await app.listen()
  const response = await fetch(`${url}/openapi.json`)
  if (!response.ok) throw new Error(`GET /openapi.json was answered with ${response.status}`)
  return { document: await response.json(), routes: await routes() }
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..')
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
    process.stdout.write(`${file}\n`)
  }
  const version = await readVersion()
  const io = createProcessIo(process)
  const program = await createProgram({ version, io, startApp: createAppStarter(version), settle() {} })
  for (const [file, generate] of Object.entries({ ...generators, ...referencePages(program) })) {
    write(file, generate(file.endsWith('.md') ? readFileSync(join(root, file), 'utf8') : ''))
  }
  const { document, routes } = await servedApi(version)
  write('docs/openapi.json', jsonText(document))
  const http = 'docs/look-up/http.md'
  write(http, fillRoutes(readFileSync(join(root, http), 'utf8'), routes, document))
}
