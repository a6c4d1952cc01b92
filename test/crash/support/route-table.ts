import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../../src/app/app.ts'
import { testAppOptions } from '../../../src/app/testing/test-app.ts'
import { resolveSettings } from '../../../src/config/settings/resolve-settings.ts'
import type { SettingFlags } from '../../../src/config/settings/settings.ts'
import { testAgent } from '../../../src/engine/testing/open-engine.ts'
import type { Route } from '../../../src/http/route.ts'

export type RouteRow = Pick<Route, 'method' | 'path' | 'door' | 'role' | 'body'>

/** Every route of a server with these flags, as the app puts them together. So new routes are tested too. */
export async function routeTable(flags: SettingFlags = {}): Promise<RouteRow[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-routes-'))
  const { settings } = resolveSettings({
    flags: { store: ':memory:', ...flags },
    env: {},
    file: null,
    onTerminal: false,
  })
  const app = await createApp({
    ...testAppOptions(),
    agents: [{ ...testAgent, model: { ...testAgent.model, provider: 'demo' } }],
    settings,
    dataDir,
  })
  const { routes } = await app.open()
  const table = (await routes()).map(({ method, path, door, role, body }) => ({ method, path, door, role, body }))
  await app.close({ drainMs: 0 })
  await rm(dataDir, { recursive: true })
  return table
}
