// A server with all its doors and several agents, as `serve` starts it, in front of a model that the test controls.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/app/app.ts'
import { testAppOptions } from '../../src/app/testing/test-app.ts'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import type { AgentDefinition } from '../../src/domain/agent/agent.ts'
import type { ToolRules } from '../../src/domain/agent/tool-settings.ts'
import type { Clock } from '../../src/domain/clock.ts'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { serverTool } from '../../src/tools/testing/server-tool.ts'
import { startModelServer } from './model-server.ts'
import { openTestStore } from './test-store.ts'

export type House = Awaited<ReturnType<typeof openHouse>>

export type AgentPlan = Pick<AgentDefinition, 'name'> & Partial<Pick<AgentDefinition, 'default' | 'sessions'>>

const look = serverTool({
  name: 'look',
  description: 'Looks out.',
  parameters: { type: 'object' },
  effect: 'read',
  timeoutMs: 1_000,
  call: async () => ({ content: 'a ship', isError: false }),
})

/** Use it with `await using`. Every agent has a model of its own name and the tool `look`, with these rules. `more`: environment variables. */
export async function openHouse(
  agents: readonly AgentPlan[] = [{ name: 'tester' }],
  clock?: Clock,
  rules: Partial<ToolRules> = {},
  more: Readonly<Record<string, string>> = {},
) {
  await using undo = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-doors-'))
  undo.defer(() => rm(dataDir, { recursive: true }))
  const model = undo.use(await startModelServer())
  const { env } = undo.use(await openTestStore())
  const { settings } = resolveSettings({
    flags: { port: '0' },
    env: { ...env, ...more },
    file: null,
    onTerminal: false,
  })
  const app = await createApp({
    ...testAppOptions(),
    agents: agents.map((plan) => ({
      ...testAgent,
      default: false,
      ...plan,
      model: { ...testAgent.model, provider: 'openai', name: plan.name, baseUrl: model.baseUrl, apiKey: 'none' },
    })),
    settings,
    dataDir,
    ...(clock === undefined ? {} : { clock }),
    tools: Object.fromEntries(agents.map(({ name }) => [name, [{ ...look, ...rules }]])),
  })
  undo.defer(() => app.close({ drainMs: 0 }))
  const { url, engine, approvals, tokens } = await app.listen()
  const opened = undo.move()

  const post = (path: string, body: unknown, headers: Record<string, string> = {}, signal: AbortSignal | null = null) =>
    fetch(url + path, {
      method: 'POST',
      signal,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  return {
    url,
    model,
    engine,
    approvals,
    tokens,
    close: () => app.close({ drainMs: 0 }),
    post,
    get: (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers }),
    remove: (path: string) => fetch(url + path, { method: 'DELETE' }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
