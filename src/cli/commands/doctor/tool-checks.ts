// Checks the tools of an agent: loads modules, reads documents, starts servers and asks them for their tools.

import { abortAfter } from '../../../domain/abort.ts'
import type { AgentDefinition } from '../../../domain/agent/agent.ts'
import type { McpServerSettings, ToolSettings } from '../../../domain/agent/tool-settings.ts'
import { ServerError } from '../../../domain/errors.ts'
import { type Logger, silentLogger } from '../../../domain/logger.ts'
import { createConnections } from '../../../outgoing/connections.ts'
import type { ProxyVariables } from '../../../outgoing/proxy-choice.ts'
import { createToolbox } from '../../../tools/create-toolbox.ts'
import { createStrayErrors } from '../../../tools/function/stray-errors.ts'
import { authServerOf } from '../../../tools/mcp/auth/sign-in.ts'
import { createMcpServer, mcpTimeouts } from '../../../tools/mcp/mcp-server.ts'
import { createMcpToolbox } from '../../../tools/mcp/mcp-toolbox.ts'
import { createStartQueue, PATIENCE_MS } from '../../../tools/mcp/start-queue.ts'
import { createProcessGroups } from '../../../tools/process/process-groups.ts'
import type { AgentCheckDeps } from '../../check-agents.ts'
import { counted } from '../../terminal/terminal-text.ts'
import type { Check } from './checks.ts'

interface ToolCheckDeps extends AgentCheckDeps {
  /** All loaded agents: one may be a tool of another. */
  agents: readonly AgentDefinition[]
  /** The proxy settings for tools over HTTP. Null: no proxy. */
  proxyVariables: ProxyVariables | null
}

/** Longer than a server may take to connect, so that its own error comes first. */
const LIST_TIMEOUT_MS = 45_000

/** No checks for an agent without tools. Stops everything that it started. */
export async function checkTools(agent: AgentDefinition, deps: ToolCheckDeps): Promise<Check[]> {
  const servers = agent.tools.filter((tool) => tool.type === 'mcp')
  const [own, ...listed] = await Promise.all([
    checkOwn(agent, deps),
    ...servers.map((server) => checkServer(agent.name, server, deps)),
  ])
  return [...own, ...listed.flat()]
}

async function checkOwn({ name: agent, tools }: AgentDefinition, deps: ToolCheckDeps): Promise<Check[]> {
  const name = 'Tools'
  const own = tools.filter((tool) => tool.type !== 'mcp' && tool.type !== 'knowledge')
  const looks = await lookAtEach(own, tools, deps)
  const problems = new Set(looks.flatMap(({ problem }) => problem?.message ?? []))
  if (problems.size > 0) {
    const mend = 'Fix the tool in the agent file, or the file that it names.'
    return [...problems].map((problem) => ({ name, status: 'fail', detail: `${agent}: ${problem}`, mend }))
  }
  if (own.length === 0) return []
  const count = looks.reduce((sum, { tool, size }) => (tool === null ? sum : sum + size), 0)
  return [{ name, status: 'ok', detail: `${agent}: ${counted(count, 'tool')}` }]
}

interface Look {
  problem: ServerError | null
  size: number
}

/**
 * One tool at a time, so that the first problem does not hide the others. Then, with `tool` null, `all` together, because names may
 * clash.
 */
export async function lookAtEach(
  tools: readonly ToolSettings[],
  all: readonly ToolSettings[],
  deps: ToolCheckDeps,
): Promise<(Look & { tool: ToolSettings | null })[]> {
  const each: (Look & { tool: ToolSettings | null })[] = []
  for (const tool of tools) each.push({ tool, ...(await lookAtTools([tool], deps)) })
  if (each.every(({ problem }) => problem === null)) each.push({ tool: null, ...(await lookAtTools(all, deps)) })
  return each
}

/** Creates the tools without starting MCP servers. */
async function lookAtTools(settings: readonly ToolSettings[], deps: ToolCheckDeps): Promise<Look> {
  try {
    // Documents have a check of their own.
    const plain = settings.filter(({ type }) => type !== 'knowledge')
    const toolbox = await createToolbox(plain, {
      ...toolDeps(silentLogger, deps),
      strays: createStrayErrors(),
      agents: deps.agents,
      complete: () => Promise.reject(new Error('a check does not call tools')),
      extra: [],
      reload: deps.reload,
      knowledge: null,
      signIns: null,
      patienceMs: PATIENCE_MS,
    })
    const isFixed = plain.every(({ type }) => type !== 'mcp')
    const size = isFixed ? (await toolbox.tools(new AbortController().signal)).size : 0
    await toolbox.close()
    return { problem: null, size }
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    return { problem: error, size: 0 }
  }
}

async function checkServer(agent: string, settings: McpServerSettings, deps: ToolCheckDeps): Promise<Check[]> {
  const { clock } = deps.io
  const name = 'MCP'
  const shown = `${settings.name} of ${agent}`
  if (authServerOf(settings) !== null) {
    return [{ name, status: 'ok', detail: `${shown}: people sign in to it; see who is signed in on the agent’s page` }]
  }
  using timeout = abortAfter(clock, LIST_TIMEOUT_MS)
  const { log, warnings } = createWarnings()
  // A toolbox silently does without a server that fails. Here we want the reason, so we ask the server first.
  const { connections, proxyVariables, ...common } = toolDeps(log, deps)
  const { fetch } = connections.pool({ proxyVariables })
  const server = createMcpServer(settings, {
    ...common,
    ...mcpTimeouts,
    fetch,
    signIn: null,
    patienceMs: LIST_TIMEOUT_MS,
  })
  const toolbox = createMcpToolbox([server], new Map(), { log, clock, patienceMs: PATIENCE_MS })
  try {
    const began = clock.mono()
    await server.start()
    await server.tools(timeout.signal)
    const ms = Math.round(clock.mono() - began)
    const { size } = await toolbox.tools(timeout.signal)
    const mend = 'Fix the server in the agent file (`allow`, `tools`, `prefix`), or ignore this.'
    return [
      { name, status: 'ok', detail: `${shown}: ${counted(size, 'tool')} (${ms} ms)` },
      ...[...warnings].map((detail): Check => ({ name, status: 'warn', detail: `${shown}: ${detail}`, mend })),
    ]
  } catch (error) {
    const what = settings.connection.kind === 'stdio' ? 'command' : 'url'
    const mend = `Try its ${what} on its own. Quarterdeck starts without it, but the agent lacks its tools.`
    if (timeout.signal.aborted) {
      const detail = `${shown} does not list its tools within ${LIST_TIMEOUT_MS / 1000} s`
      return [{ name, status: 'fail', detail, mend }]
    }
    if (!(error instanceof ServerError)) throw error
    return [{ name, status: 'fail', detail: `${shown}: ${error.message}`, mend }]
  } finally {
    await toolbox.close()
    connections.close()
  }
}

function toolDeps(log: Logger, { version, proxyVariables, io }: ToolCheckDeps) {
  const { clock, env } = io
  const processes = createProcessGroups({ clock, process })
  const connections = createConnections()
  return { clock, log, version, processes, queue: createStartQueue(), environment: env, connections, proxyVariables }
}

/** Only the log says which of a server's tools are left out, and repeats it each time the list is read. */
function createWarnings(): { log: Logger; warnings: Set<string> } {
  const warnings = new Set<string>()
  const log: Logger = {
    ...silentLogger,
    warn(message, fields = {}) {
      const facts = [fields.tool, fields.reason, fields.problems].filter((fact) => fact !== undefined).map(String)
      warnings.add([message, ...facts].join(' '))
    },
    with: () => log,
  }
  return { log, warnings }
}
