// The OpenAPI document of this version with all doors open, as served by a server in memory, on any free port.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../app/app.ts'
import { loadAgent } from '../config/agent/load-agents.ts'
import { resolveSettings } from '../config/settings/resolve-settings.ts'
import { silentLogger } from '../domain/logger.ts'

const exampleAgent = join(import.meta.dirname, '../../examples/assistant/agent.yaml')

export async function servedDocument(version: string): Promise<unknown> {
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
    agents: [loadAgent(exampleAgent, { env: {} })],
    settings,
    dataDir,
    version,
    log: silentLogger,
    exit: (code) => {
      throw new Error(`the server wanted to exit with ${code}`)
    },
  })
  undo.defer(() => app.close({ drainMs: 0 }))
  const { url } = await app.listen()
  const response = await fetch(`${url}/openapi.json`)
  if (!response.ok) throw new Error(`GET /openapi.json was answered with ${response.status}`)
  return response.json()
}
