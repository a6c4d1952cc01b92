// Whether the tools of an agent are there: modules load, documents are read, servers start and say what they offer.

import type { AgentDefinition } from '../../../domain/agent.ts'
import { ServerError } from '../../../domain/errors.ts'
import { type Logger, silentLogger } from '../../../domain/logger.ts'
import type { McpServerSettings, ToolSettings } from '../../../domain/tool-settings.ts'
import { createConnections } from '../../../outgoing/connections.ts'
import type { ProxyVariables } from '../../../outgoing/proxy-choice.ts'
import { createToolbox } from '../../../tools/create-toolbox.ts'
import { createStrayErrors } from '../../../tools/function/stray-errors.ts'
import { createMcpServer } from '../../../tools/mcp/mcp-server.ts'
import { createMcpToolbox } from '../../../tools/mcp/mcp-toolbox.ts'
import { createProcessGroups } from '../../../tools/process/process-groups.ts'
import type { Io } from '../../terminal/io.ts'
import type { Check } from './checks.ts'

export interface ToolCheckDeps {
  /** All that are loaded: they may be each other's tools. */
  agents: readonly AgentDefinition[]
  version: string
  /** What tools that are reached over HTTP go by; null: they use no proxy. */
  proxyVariables: ProxyVariables | null
  io: Io
  /** New each time the files of function tools have changed. */
  reload?: number
}

/** Longer than a server may take to connect, so that it is its own failure that is told. */
const LIST_TIMEOUT_MS = 45_000

/** None for an agent without tools. What was started for it is ended. */
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
  const own = tools.filter((tool) => tool.type !== 'mcp')
  // One by one, because the first that is wrong should not hide the others; then all, because names may clash.
  const each = await Promise.all(own.map((tool) => lookAtTools([tool], deps)))
  const looks = each.some(({ problem }) => problem !== null) ? each : [await lookAtTools(tools, deps)]
  const problems = new Set(looks.flatMap(({ problem }) => problem?.message ?? []))
  if (problems.size > 0) {
    const mend = 'Correct the tool in the agent file, or the file that it names.'
    return [...problems].map((problem) => ({ name, status: 'fail', detail: `${agent}: ${problem}`, mend }))
  }
  if (own.length === 0) return []
  const count = each.reduce((sum, { size }) => sum + size, 0)
  return [{ name, status: 'ok', detail: `${agent}: ${count === 1 ? '1 tool' : `${count} tools`}` }]
}

/** Makes the tools; servers among them are not started. */
export async function lookAtTools(
  settings: readonly ToolSettings[],
  deps: ToolCheckDeps,
): Promise<{ problem: ServerError | null; size: number }> {
  try {
    const toolbox = await createToolbox(settings, {
      ...toolDeps(silentLogger, deps),
      strays: createStrayErrors(),
      agents: deps.agents,
      complete: () => Promise.reject(new Error('a tool was called that was only looked at')),
      ...(deps.reload === undefined ? {} : { reload: deps.reload }),
    })
    const isFixed = settings.every(({ type }) => type !== 'mcp')
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
  const timeout = new AbortController()
  const stopWaiting = clock.after(LIST_TIMEOUT_MS, () => timeout.abort())
  const { log, warnings } = createWarnings()
  // A toolbox does without a server that it cannot have; here its reason is wanted, so that the server itself is asked first.
  const { connections, proxyVariables, ...common } = toolDeps(log, deps)
  const { fetch } = connections.pool({ proxyVariables: proxyVariables ?? {} })
  const server = createMcpServer(settings, { ...common, fetch, patienceMs: LIST_TIMEOUT_MS })
  const toolbox = createMcpToolbox([server], new Map(), { log, clock })
  try {
    const began = clock.mono()
    await server.start()
    await server.tools(timeout.signal)
    const ms = Math.round(clock.mono() - began)
    const { size } = await toolbox.tools(timeout.signal)
    const tools = size === 1 ? '1 tool' : `${size} tools`
    const mend = 'Correct the server in the agent file (`allow`, `tools`, `prefix`), or do without.'
    return [
      { name, status: 'ok', detail: `${shown}: ${tools} (${ms} ms)` },
      ...[...warnings].map((detail): Check => ({ name, status: 'warn', detail: `${shown}: ${detail}`, mend })),
    ]
  } catch (error) {
    const what = settings.connection.kind === 'stdio' ? 'command' : 'url'
    const mend = `Try its ${what} by itself. The server starts without it, and the agent then lacks its tools.`
    if (timeout.signal.aborted) {
      const detail = `${shown} does not list its tools within ${LIST_TIMEOUT_MS / 1000} s`
      return [{ name, status: 'fail', detail, mend }]
    }
    if (!(error instanceof ServerError)) throw error
    return [{ name, status: 'fail', detail: `${shown}: ${error.message}`, mend }]
  } finally {
    stopWaiting()
    await toolbox.close()
    connections.close()
  }
}

function toolDeps(log: Logger, { version, proxyVariables, io }: ToolCheckDeps) {
  const { clock, env } = io
  const processes = createProcessGroups({ clock, process })
  return { clock, log, version, processes, environment: env, connections: createConnections(), proxyVariables }
}

/** What is left out of a server's tools is said in the log alone, and again each time its list is read. */
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
