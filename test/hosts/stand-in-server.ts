// A server process with the real HTTP layer, hook door and MCP door, and a desk that the test answers for. It is a process of its own,
// so that a test can kill it or stop it in its tracks. Arguments: the port (0 = any), and the folder that the agent's token is for.

import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { createSystemClock } from '../../src/domain/clock.ts'
import { createIds } from '../../src/domain/ids.ts'
import { silentLogger } from '../../src/domain/logger.ts'
import { createAuth } from '../../src/http/auth/auth.ts'
import { digestOf } from '../../src/http/auth/tokens/token.ts'
import { createTempFolder } from '../../src/http/body/temp-file.ts'
import { createMetrics } from '../../src/http/metrics/metrics.ts'
import type { Reply, Request, Route } from '../../src/http/route.ts'
import { createGuard } from '../../src/http/server/guard.ts'
import { createHttpServer } from '../../src/http/server/server.ts'
import { createServerState } from '../../src/http/server-state.ts'
import { createHookRoutes } from '../../src/protocols/hooks/routes.ts'
import { mcpErrorShape } from '../../src/protocols/mcp/error-shape.ts'
import { createMcpDoor } from '../../src/protocols/mcp/mcp-door.ts'
import { createMcpRoutes } from '../../src/protocols/mcp/routes.ts'
import type { McpTool } from '../../src/protocols/mcp/tool-table.ts'
import type { HookDesk, HookNotice, HookVerdict } from '../../src/supervision/hooks/hook-desk.ts'

/** What waits for the test's decision. */
export interface Waiting {
  id: string
  tool: string
  input: Record<string, unknown>
  toolUseId: string | null
  /** The host has gone. */
  isAlone: boolean
}

const AGENT_TOKEN = 'agent-token-of-the-tests-with-real-hosts'

const [port = '0', workspace = '/'] = process.argv.slice(2)
const clock = createSystemClock()
const ids = createIds(() => clock.now())
const waiting = new Map<string, Waiting & { decide(verdict: HookVerdict): void }>()
const notices: HookNotice[] = []
let isBroken = false

function ask(question: Omit<Waiting, 'id' | 'isAlone'>, signal: AbortSignal): Promise<HookVerdict> {
  return new Promise((resolve) => {
    const id = randomUUID()
    const entry = { ...question, id, isAlone: false, decide: resolve }
    waiting.set(id, entry)
    signal.addEventListener('abort', () => {
      entry.isAlone = true
    })
  })
}

const desk: HookDesk = {
  async permission(_agent, { toolName, input, toolUseId, effect }, { signal }) {
    if (effect === 'read') return { behavior: 'pass' }
    return await ask({ tool: toolName, input: { ...input }, toolUseId }, signal)
  },
  async notice(_agent, notice) {
    notices.push(notice)
    return {}
  },
}

const ApproveSchema = z.object({
  tool_name: z.string(),
  input: z.record(z.string(), z.unknown()),
  tool_use_id: z.string().optional(),
})

const tools: McpTool[] = [
  {
    name: 'heartbeat',
    title: 'Heartbeat',
    description: 'Say that you are alive.',
    input: z.object({ status_message: z.string().optional() }),
    call: async ({ status_message }, { agent }) => ({
      structured: { acknowledged: true, status_message, era: agent.era, client: agent.client?.name ?? null },
      isError: false,
    }),
  },
  {
    name: 'approve_tool',
    title: 'Permission prompt',
    description: 'For the host.',
    input: ApproveSchema,
    async call(given, { signal, progress }) {
      progress('Waiting for a person.')
      const { tool_name: tool, input, tool_use_id: toolUseId = null } = ApproveSchema.parse(given)
      const verdict = await ask({ tool, input, toolUseId }, signal)
      const text = JSON.stringify(verdict.behavior === 'allow' ? { updatedInput: input, ...verdict } : verdict)
      return { structured: {}, isError: false, text }
    },
  },
]

const door = createMcpDoor({ clock, ids, log: silentLogger, version: '0', instructions: '', tools, resources: [] })

const control = (
  method: 'GET' | 'POST',
  path: string,
  handle: (request: Request, reply: Reply) => Promise<void>,
): Route => ({ method, path, door: null, role: 'public', body: 'control', summary: path, handle })

const routes: Route[] = [
  ...createHookRoutes({ desk, clock }).map((route) => ({
    ...route,
    handle: async (request: Request, reply: Reply) => {
      if (isBroken) throw new Error('broken on purpose')
      await route.handle(request, reply)
    },
  })),
  ...createMcpRoutes({ door }),
  control('POST', '/tokens', async (request, reply) => {
    const asked = z.object({ role: z.string(), user: z.string(), name: z.string() }).parse(await request.json())
    reply.json(201, { ...asked, id: 'token-1', workspace, created_at: '2026-11-15T00:00:00.000Z', token: AGENT_TOKEN })
  }),
  control('GET', '/stand-in', async (_request, reply) => {
    reply.json(200, { waiting: [...waiting.values()].map(({ decide: _, ...shown }) => shown), notices })
  }),
  control('POST', '/stand-in/decide', async (request, reply) => {
    const { id, verdict } = (await request.json()) as { id: string; verdict: HookVerdict }
    waiting.get(id)?.decide(verdict)
    waiting.delete(id)
    reply.empty(204)
  }),
  control('POST', '/stand-in/broken', async (request, reply) => {
    isBroken = (await request.json()) === true
    reply.empty(204)
  }),
]

const state = createServerState(silentLogger)
const server = createHttpServer({
  routes,
  auth: createAuth({
    tokens: () => [{ id: 'token-1', user: 'ada', role: 'agent', sha256: digestOf(AGENT_TOKEN), workspace }],
    tokenRequired: false,
    clock,
  }),
  guard: createGuard({
    host: '127.0.0.1',
    loopbackOnly: true,
    tokenRequired: false,
    allowedHosts: [],
    origins: 'local',
  }),
  log: silentLogger,
  clock,
  ids,
  metrics: createMetrics(),
  doors: ['mcp'],
  state,
  tempFolder: createTempFolder(join(tmpdir(), `quarterdeck-stand-in-${randomUUID()}`)),
  errorShapes: { mcp: mcpErrorShape },
})
const listening = await server.listen({ hosts: ['127.0.0.1'], port: Number(port) })
state.advance('ready')
process.stdout.write(`${listening.port}\n`)
