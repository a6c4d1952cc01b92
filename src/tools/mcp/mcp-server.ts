// One MCP server as the source of many tools. It is started when its tools are first asked for, and again after a crash.

import type { Clock } from '../../domain/clock.ts'
import { globMatches } from '../../domain/glob.ts'
import type { Logger } from '../../domain/logger.ts'
import type { McpServerSettings } from '../../domain/tool-settings.ts'
import type { ProcessGroups } from '../process/process-groups.ts'
import type { ServerTool } from '../tool.ts'
import { createLifeline } from './lifeline.ts'
import { listTools } from './list-tools.ts'
import { connectMcp, type McpConnection, type Session } from './mcp-connection.ts'
import { callFailure, mcpError, notInTime, whoIs } from './mcp-failure.ts'
import { createMcpTool } from './mcp-tool.ts'
import { createPromptTools } from './prompt-tools.ts'
import { createResourceTools } from './resource-tools.ts'
import { isSessionLost } from './session-lost.ts'
import { toolNames } from './tool-names.ts'
import { untilAborted } from './until-aborted.ts'

export interface McpServer {
  /** What it offers now; starts it if need be. Throws a ServerError that says why it cannot be reached and what to do. */
  tools(signal: AbortSignal): Promise<readonly ServerTool[]>
  /** Ends its process with everything that has started from it, or its HTTP session. It is not started again. */
  close(): Promise<void>
}

export interface McpServerDeps {
  clock: Clock
  log: Logger
  processes: ProcessGroups
  /** Ours, as `process.env`. A child gets only the harmless part of it. */
  environment: Readonly<Record<string, string | undefined>>
  /** Of this program; servers are told. */
  version: string
  fetch?: typeof fetch
  connectTimeoutMs?: number
}

const CONNECT_TIMEOUT_MS = 30_000
/** Over HTTP a notice that the tools have changed can get lost, so that a list is not believed for ever. */
const LIST_VALID_MS = 5 * 60_000

export function createMcpServer(settings: McpServerSettings, deps: McpServerDeps): McpServer {
  const { clock } = deps
  const log = deps.log.with({ mcp_server: settings.name })
  const connectTimeoutMs = deps.connectTimeoutMs ?? CONNECT_TIMEOUT_MS
  const lifeline = createLifeline({
    who: whoIs(settings.name),
    clock,
    async open(signal) {
      const connection = await connectMcp(
        settings,
        { ...deps, log, fetch: deps.fetch ?? fetch, connectTimeoutMs },
        signal,
      )
      log.info('The MCP server is connected.', { protocol: connection.client.getNegotiatedProtocolVersion() })
      void connection.gone.then((reason) => log.info('The MCP server is gone.', { reason }))
      return connection
    },
  })

  const session: Session = async (signal, use) => {
    const connection = await lifeline.get(signal)
    try {
      return await use(connection)
    } catch (error) {
      signal.throwIfAborted()
      if (!(await isSessionLost(connection, error))) {
        throw callFailure(connection.sdk, settings.name, error, connection.end)
      }
      // Nobody has taken the request, so that it may be made again, in a new session.
      await connection.close()
      await connection.gone
      const renewed = await lifeline.get(signal)
      return await use(renewed).catch((second: unknown) => {
        signal.throwIfAborted()
        throw callFailure(renewed.sdk, settings.name, second, renewed.end)
      })
    }
  }

  function isWanted(name: string): boolean {
    const fits = (pattern: string): boolean => globMatches(pattern, name)
    return (settings.allow === null || settings.allow.some(fits)) && !settings.deny.some(fits)
  }

  const namedTools = [...Object.keys(settings.tools), ...(settings.allow ?? []).filter((name) => !/[*?]/.test(name))]

  async function list(connection: McpConnection): Promise<readonly ServerTool[]> {
    const late = new AbortController()
    const cancel = clock.after(connectTimeoutMs, () => late.abort())
    const listed = await listTools(connection, isWanted, log, late.signal)
      .catch((error: unknown) => {
        throw late.signal.aborted ? mcpError(settings.name, notInTime(connectTimeoutMs), error) : error
      })
      .finally(cancel)
    for (const name of namedTools) {
      if (!listed.some((tool) => tool.name === name)) {
        log.warn('The configuration names a tool that the MCP server does not offer.', { tool: name })
      }
    }
    const { resources, prompts } = connection.capabilities
    const extras = [
      ...(settings.resources && resources !== undefined ? createResourceTools(settings, session) : []),
      ...(settings.prompts && prompts !== undefined ? createPromptTools(settings, session) : []),
    ]
    const names = toolNames(
      listed.map((tool) => tool.name),
      settings.prefix,
      extras.map((tool) => tool.name),
    )
    const tools = listed.flatMap((tool, i) => {
      const name = names[i] ?? null
      return name === null ? [] : [createMcpTool(name, tool, settings, session, clock)]
    })
    return [...tools, ...extras]
  }

  let known: { connection: McpConnection; at: number; tools: Promise<readonly ServerTool[]> } | undefined

  return {
    tools(signal) {
      return session(signal, async (connection) => {
        const changed = connection.takeToolsChanged()
        const isFresh = settings.connection.kind === 'stdio' || (known && clock.mono() - known.at < LIST_VALID_MS)
        if (known === undefined || known.connection !== connection || changed || !isFresh) {
          const listing = { connection, at: clock.mono(), tools: list(connection) }
          known = listing
          listing.tools.catch(() => {
            if (known === listing) known = undefined
          })
        }
        return untilAborted(known.tools, signal)
      })
    },
    close: () => lifeline.close(),
  }
}
