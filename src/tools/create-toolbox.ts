// The tools of one agent, of all kinds. What a kind needs is loaded when an agent has a tool of it.

import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import type { FunctionToolSettings, McpServerSettings, ToolSettings } from '../domain/tool-settings.ts'
import { unreachable } from '../domain/unreachable.ts'
import { createJsonCheck } from '../json/json-schema.ts'
import { type Connections, createConnections } from '../outgoing/connections.ts'
import type { ProxyVariables } from '../outgoing/proxy-choice.ts'
import type { KnownAgent } from './agent-behaviour.ts'
import type { Complete } from './create-prompt-tool.ts'
import type { StrayErrors } from './function/stray-errors.ts'
import type { HttpToolDeps } from './http/service/call-service.ts'
import type { Lookup } from './http/service/service-http.ts'
import type { McpServerDeps } from './mcp/mcp-server.ts'
import type { NamedServer } from './mcp/mcp-toolbox.ts'
import { toolboxOf } from './static-toolbox.ts'
import type { Tool, Toolbox } from './tool.ts'

export interface ToolboxDeps
  extends Pick<McpServerDeps, 'processes' | 'environment' | 'version' | 'queue' | 'patienceMs'> {
  clock: Clock
  log: Logger
  /** All agents that are loaded: tools may call them by name. */
  agents: readonly KnownAgent[]
  /** The agent's own model, for prompts. */
  complete: Complete
  /** Where errors go that the code of function tools leaves to nobody. */
  strays: StrayErrors
  /** Tools that are given in code. */
  extra?: readonly Tool[]
  /** New each time the files of function tools have changed. */
  reload?: number
  /** Names of hosts to addresses, for `http`; the system's where it is left out. */
  lookup?: Lookup
  /** Those of the server; left out: their own. */
  connections?: Connections
  /** What tools that are reached over HTTP go by; null, or left out: they use no proxy. */
  proxyVariables?: ProxyVariables | null
}

/** A tool, and where it comes from in words: for the sentence that two of them have the same name. */
interface Origin {
  tool: Tool
  from: string
}

/**
 * Throws `config_invalid` for what is wrong in the settings, the code or the documents they name. MCP servers are not started
 * here.
 */
export async function createToolbox(settings: readonly ToolSettings[], deps: ToolboxDeps): Promise<Toolbox> {
  const kinds = loadedOnce(deps)
  const made = await Promise.all(settings.filter((one) => one.type !== 'mcp').map((one) => makeTools(one, deps, kinds)))
  const given = (deps.extra ?? []).map((tool) => ({ tool, from: 'given in code' }))
  const fixed = byName([...made.flat(), ...given], deps.log)

  const servers = settings.filter((one) => one.type === 'mcp')
  if (servers.length === 0) return toolboxOf(fixed)
  const { createServerTools } = await import('./mcp/mcp-toolbox.ts')
  return createServerTools(await openServers(servers, deps, kinds), fixed, deps)
}

type Kinds = ReturnType<typeof loadedOnce>

function loadedOnce(deps: ToolboxDeps) {
  const { connections = createConnections(), proxyVariables = null } = deps
  const lines = proxyVariables === null ? null : connections.through({ proxyVariables })
  let http: Promise<HttpToolDeps> | undefined
  return {
    http(): Promise<HttpToolDeps> {
      http ??= import('./http/service/service-http.ts').then(({ createServiceHttp, systemLookup }) => ({
        http: createServiceHttp({
          connections,
          proxied: lines,
          lookup: deps.lookup ?? systemLookup,
        }),
        clock: deps.clock,
        log: deps.log,
      }))
      return http
    },
    /** For servers at a URL. */
    fetch: (): typeof fetch => (lines ?? connections.through({})).fetch,
  }
}

async function makeTools(
  settings: Exclude<ToolSettings, McpServerSettings>,
  deps: ToolboxDeps,
  kinds: Kinds,
): Promise<Origin[]> {
  const only = (tool: Tool): Origin[] => [{ tool, from: `type ${settings.type}` }]
  switch (settings.type) {
    case 'function': {
      const { loadFunctionTool } = await import('./function/load-function-tool.ts')
      return only(await loadFunctionTool(settings, { clock: deps.clock, reload: deps.reload, strays: deps.strays }))
    }
    case 'http': {
      const { createHttpTool } = await import('./http/create-http-tool.ts')
      return only(createHttpTool(settings, await kinds.http()))
    }
    case 'openapi': {
      const { loadOpenApiTools } = await import('./http/open-api/load-open-api-tools.ts')
      const tools = await loadOpenApiTools(settings, await kinds.http())
      return tools.map((tool) => ({ tool, from: `of the OpenAPI document ${settings.name}` }))
    }
    case 'agent': {
      const { createAgentTool } = await import('./create-agent-tool.ts')
      const { agentMakeup } = await import('./agent-behaviour.ts')
      const { loadModule } = await import('./function/load-module.ts')
      const sourceOf = (tool: FunctionToolSettings) => loadModule(tool, deps).then(({ source }) => source, notLoaded)
      const makeup = await agentMakeup(settings.agent, deps.agents, sourceOf)
      const description = deps.agents.find((one) => one.name === settings.agent)?.description ?? null
      return only(createAgentTool(settings, description, makeup))
    }
    case 'prompt': {
      const { createPromptTool } = await import('./create-prompt-tool.ts')
      return only(createPromptTool(settings, deps.complete))
    }
    case 'client': {
      const { createClientTool } = await import('./create-client-tool.ts')
      return only(createClientTool(settings))
    }
    default:
      return unreachable(settings)
  }
}

/** The agent that has the tool says what is wrong with its file. */
const notLoaded = (): null => null

function byName(origins: readonly Origin[], log: Logger): Map<string, Tool> {
  const seen = new Map<string, Origin>()
  for (const origin of origins) {
    const { tool, from } = origin
    const other = seen.get(tool.name)
    if (other !== undefined) {
      throw new ServerError(
        'config_invalid',
        `Two tools have the name ${tool.name}: one ${other.from}, one ${from}. Give one of them another name.`,
      )
    }
    refuseBrokenSchemas(tool, log)
    seen.set(tool.name, origin)
  }
  return new Map([...seen].map(([name, { tool }]) => [name, tool]))
}

/** Better now than at the first call. */
function refuseBrokenSchemas({ name, parameters, returns }: Tool, log: Logger): void {
  for (const [key, schema] of Object.entries({ parameters, returns })) {
    try {
      if (schema === null) continue
      const { warnings } = createJsonCheck(schema, { foreignPatterns: true })
      if (warnings.length > 0) log.warn('The schema of a tool is not enforced in full.', { tool: name, key, warnings })
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      throw new ServerError('config_invalid', `Tool ${name}, ${key}: ${error.message}`, {
        problems: [...error.problems],
      })
    }
  }
}

async function openServers(
  settings: readonly McpServerSettings[],
  deps: ToolboxDeps,
  kinds: Kinds,
): Promise<NamedServer[]> {
  const { createMcpServer } = await import('./mcp/mcp-server.ts')
  const seen = new Set<string>()
  return settings.map((one) => {
    if (seen.has(one.name)) {
      throw new ServerError(
        'config_invalid',
        `Two MCP servers have the name ${one.name}. Give one of them another name.`,
      )
    }
    seen.add(one.name)
    const { clock, log, processes, environment, version, queue, patienceMs } = deps
    const server = createMcpServer(one, {
      clock,
      log,
      processes,
      environment,
      version,
      fetch: kinds.fetch(),
      ...(queue && { queue }),
      ...(patienceMs && { patienceMs }),
    })
    return { name: one.name, ...server }
  })
}
