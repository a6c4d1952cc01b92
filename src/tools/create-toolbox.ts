// Makes the tools of one agent, of every kind. A kind is loaded only when an agent uses it.

import type {
  ClientToolSettings,
  FunctionToolSettings,
  KnowledgeToolSettings,
  McpServerSettings,
  ToolSettings,
} from '../domain/agent/tool-settings.ts'
import { ServerError } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import { unreachable } from '../domain/unreachable.ts'
import { jsonCheckOf } from '../json/json-schema.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import type { Connections } from '../outgoing/connections.ts'
import type { ProxyVariables } from '../outgoing/proxy-choice.ts'
import type { KnownAgent } from './create-agent-tool.ts'
import type { Complete } from './create-prompt-tool.ts'
import type { StrayErrors } from './function/stray-errors.ts'
import type { HttpToolDeps } from './http/service/call-service.ts'
import type { AuthServer, SignIn } from './mcp/auth/sign-in.ts'
import type { McpServer, McpServerDeps } from './mcp/mcp-server.ts'
import type { ClientTool, Tool, Toolbox } from './tool.ts'
import { boundTool } from './tool-binding.ts'

export interface ToolboxDeps
  extends Pick<McpServerDeps, 'clock' | 'log' | 'processes' | 'environment' | 'version' | 'queue' | 'patienceMs'> {
  /** All loaded agents. Tools may call them by name. */
  agents: readonly KnownAgent[]
  /** Asks the agent's own model. Prompt tools use it. */
  complete: Complete
  /** Receives errors that nobody catches in the code of function tools. */
  strays: StrayErrors
  /** Tools that the embedding program gave in code. */
  extra: readonly Tool[]
  /** A new number each time the files of function tools have changed. Null: they are loaded once. */
  reload: number | null
  connections: Connections
  /** For MCP servers that want a sign-in. Null: nobody can sign in here. */
  signIns: ((server: AuthServer, user: string | null) => SignIn) | null
  /** Proxy settings for tools that are reached over HTTP. Null: no proxy. */
  proxyVariables: ProxyVariables | null
  /** The indexes of all agents' documents. Null: no agent has any. */
  knowledge: Knowledge | null
}

/** A tool and, in words, where it comes from. Two tools with the same name are reported with it. */
interface Origin {
  tool: Tool
  from: string
}

/**
 * Throws `config_invalid` when the settings, or the code or documents that they name, are wrong. Does not start MCP servers:
 * `Toolbox.start` does.
 */
export async function createToolbox(settings: readonly ToolSettings[], deps: ToolboxDeps): Promise<Toolbox> {
  const shared = createSharedHttp(deps)
  const made = await Promise.all(
    settings.filter((one) => one.type !== 'mcp' && one.type !== 'knowledge').map((one) => makeTools(one, deps, shared)),
  )
  const documents = settings.filter((one) => one.type === 'knowledge')
  if (documents.length > 0) made.push(await knowledgeTools(documents, deps.knowledge))
  const given = deps.extra.map((tool) => ({ tool, from: 'given in code' }))
  const fixed = byName([...made.flat(), ...given], deps.log)

  const servers = settings.filter((one) => one.type === 'mcp')
  if (servers.length === 0) return createStaticToolbox([...fixed.values()])
  const { createMcpToolbox } = await import('./mcp/mcp-toolbox.ts')
  refuseSameNames(servers)
  const open = await serverMaker(deps, shared)
  const perUser = servers.filter(isPerUser)
  const common = servers.filter((one) => !isPerUser(one)).map((one) => open(one, null))
  const toolbox = createMcpToolbox(common, fixed, deps)
  if (perUser.length === 0) return toolbox
  const { createUserToolboxes } = await import('./mcp/user-toolboxes.ts')
  return createUserToolboxes({
    common: toolbox,
    connect: (user) => perUser.map((one) => open(one, user)),
    join: (own) => createMcpToolbox([...common, ...own], fixed, deps),
    clock: deps.clock,
  })
}

const isPerUser = ({ connection }: McpServerSettings): boolean =>
  connection.kind === 'http' && connection.auth?.per === 'user'

type SharedHttp = ReturnType<typeof createSharedHttp>

/** What all tools of this agent use to send HTTP requests. */
function createSharedHttp(deps: ToolboxDeps) {
  const { connections, proxyVariables, clock, log } = deps
  const pool = connections.pool({ proxyVariables })
  let http: Promise<HttpToolDeps> | undefined
  return {
    /** For `http` and `openapi` tools. Loaded at the first call. */
    http(): Promise<HttpToolDeps> {
      http ??= import('./http/service/service-http.ts').then(
        ({ createServiceHttp, systemNetwork, MAX_BODY_BYTES }) => ({
          http: createServiceHttp({ connections, pool, network: systemNetwork, maxBytes: MAX_BODY_BYTES }),
          clock,
          log,
        }),
      )
      return http
    },
    /** For MCP servers at a URL. */
    fetch: pool.fetch,
  }
}

async function knowledgeTools(
  settings: readonly KnowledgeToolSettings[],
  knowledge: Knowledge | null,
): Promise<Origin[]> {
  if (knowledge === null) throw new ServerError('config_invalid', 'Tools of type knowledge cannot be used here.')
  const { createKnowledgeTools } = await import('./create-knowledge-tools.ts')
  return createKnowledgeTools(settings, knowledge).map((tool) => ({ tool, from: 'of type knowledge' }))
}

async function makeTools(
  settings: Exclude<ToolSettings, McpServerSettings | KnowledgeToolSettings>,
  deps: ToolboxDeps,
  shared: SharedHttp,
): Promise<Origin[]> {
  const only = (tool: Tool): Origin[] => [{ tool, from: `of type ${settings.type}` }]
  switch (settings.type) {
    case 'function': {
      const { loadFunctionTool } = await import('./function/load-function-tool.ts')
      return only(await loadFunctionTool(settings, deps))
    }
    case 'http': {
      const { createHttpTool } = await import('./http/create-http-tool.ts')
      return only(createHttpTool(settings, await shared.http()))
    }
    case 'openapi': {
      const { loadOpenApiTools } = await import('./http/open-api/load-open-api-tools.ts')
      const tools = await loadOpenApiTools(settings, await shared.http())
      return tools.map((tool) => ({ tool, from: `of the OpenAPI document ${settings.name}` }))
    }
    case 'agent': {
      const { createAgentTool } = await import('./create-agent-tool.ts')
      const { loadModule } = await import('./function/load-module.ts')
      const sourceOf = (tool: FunctionToolSettings) => loadModule(tool, deps).then(({ source }) => source, notLoaded)
      return only(await createAgentTool(settings, deps.agents, sourceOf))
    }
    case 'prompt': {
      const { createPromptTool } = await import('./create-prompt-tool.ts')
      return only(createPromptTool(settings, deps.complete))
    }
    case 'client':
      return only(createClientTool(settings))
    default:
      return unreachable(settings)
  }
}

/** The agent that owns the tool reports what is wrong with its file. */
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

/** Reports a broken schema now instead of at the first call. */
function refuseBrokenSchemas({ name, parameters, returns }: Tool, log: Logger): void {
  for (const [key, schema] of Object.entries({ parameters, returns })) {
    try {
      if (schema === null) continue
      const { warnings } = jsonCheckOf(schema)
      if (warnings.length > 0) log.warn('The schema of a tool is not enforced in full.', { tool: name, key, warnings })
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      throw new ServerError('config_invalid', `Tool ${name}, ${key}: ${error.message}`, {
        problems: [...error.problems],
      })
    }
  }
}

/** Makes MCP servers. `user`: whose sign-in they use; null: nobody's, or the one for everybody. */
async function serverMaker(deps: ToolboxDeps, shared: SharedHttp) {
  const { createMcpServer, mcpTimeouts } = await import('./mcp/mcp-server.ts')
  const { authServerOf } = await import('./mcp/auth/sign-in.ts')
  const common = { ...deps, ...mcpTimeouts, fetch: shared.fetch }
  return (one: McpServerSettings, user: string | null): McpServer => {
    const wanted = authServerOf(one)
    return createMcpServer(one, { ...common, signIn: wanted === null ? null : (deps.signIns?.(wanted, user) ?? null) })
  }
}

function refuseSameNames(servers: readonly McpServerSettings[]): void {
  const seen = new Set<string>()
  for (const { name } of servers) {
    if (seen.has(name)) {
      throw new ServerError('config_invalid', `Two MCP servers have the name ${name}. Give one of them another name.`)
    }
    seen.add(name)
  }
}

/** The `client` kind: declared here, run by whoever talks to the agent. */
const createClientTool = (settings: ClientToolSettings): ClientTool => ({
  location: 'client',
  // The client decides what its tool does, so we cannot bind more than the shape of the result.
  ...boundTool('client', settings, { returns: settings.returns }),
})

/** Tools that are always there, with no server behind them. */
export function createStaticToolbox(tools: readonly Tool[]): Toolbox {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return {
    start() {},
    tools: async () => byName,
    servers: () => [],
    close: async () => {},
  }
}
