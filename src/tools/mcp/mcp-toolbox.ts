// The tools of MCP servers, together with those that are always there. The tools of a server that cannot be reached are left out,
// with one warning in the log.

import { untilAborted } from '../../domain/abort.ts'
import { type Clock, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { createJsonCheck } from '../../json/json-schema.ts'
import { createSchemaBudget, type SchemaBudget } from '../../json/schema/budget.ts'
import type { ServerTool, Tool, Toolbox } from '../tool.ts'
import type { McpServer } from './mcp-server.ts'
import { safeName } from './tools/tool-names.ts'

type ToolLists = readonly (readonly ServerTool[])[]

const NO_TOOLS: readonly ServerTool[] = []

export function createMcpToolbox(
  servers: readonly McpServer[],
  fixed: ReadonlyMap<string, Tool>,
  { log, clock, patienceMs }: { log: Logger; clock: Clock; patienceMs: number },
): Toolbox {
  const warn = createToolWarnings(log)
  const missing = new Set<McpServer>()
  /** What each server offered last. A tool must not change its name because another server is away for a while. */
  const known = new Map<McpServer, readonly ServerTool[]>()
  /** The names under which a server's tools were offered last. */
  const offered = new Map<McpServer, readonly string[]>()
  let last: { lists: ToolLists; tools: ReadonlyMap<string, Tool> } | undefined

  async function listOf(server: McpServer, signal: AbortSignal): Promise<readonly ServerTool[]> {
    try {
      const tools = await server.tools(signal)
      if (missing.delete(server)) log.info('The tools of an MCP server are there again.', { mcp_server: server.name })
      known.set(server, tools)
      return tools
    } catch (error) {
      signal.throwIfAborted()
      if (!missing.has(server)) {
        missing.add(server)
        const reason = error instanceof ServerError ? error.message : 'An internal error.'
        log.warn('The tools of an MCP server are left out.', { mcp_server: server.name, reason, error })
      }
      return NO_TOOLS
    }
  }

  function merge(lists: ToolLists): ReadonlyMap<string, Tool> {
    const claims = new Map<string, number>()
    for (const name of [...fixed.keys(), ...[...known.values()].flatMap((tools) => tools.map((tool) => tool.name))]) {
      claims.set(name, (claims.get(name) ?? 0) + 1)
    }
    const merged = new Map(fixed)
    for (const [i, server] of servers.entries()) {
      // Each server has a budget of its own, so that a hostile one cannot cost another server its tools.
      const budget = createSchemaBudget()
      const names: string[] = []
      for (const tool of lists[i] ?? NO_TOOLS) {
        const clashes = (claims.get(tool.name) ?? 0) > 1
        const name = clashes ? safeName(`${server.name}_${tool.name}`) : tool.name
        const { problem, warnings } = checkParameters(tool, budget)
        warn.notEnforced(server, tool, warnings)
        if (problem !== null) warn.leftOut(server, tool, problem)
        else if (merged.has(name) || (clashes && claims.has(name))) {
          warn.leftOut(
            server,
            tool,
            `${tool.name} and ${name} are both names of other tools. Set a prefix for the server.`,
          )
        } else {
          merged.set(name, clashes ? { ...tool, name } : tool)
          names.push(name)
        }
      }
      if (!missing.has(server)) offered.set(server, names)
    }
    return merged
  }

  const start = (): Promise<unknown> => Promise.all(servers.map((server) => server.start()))
  let firstWait: Promise<unknown> | null = null

  return {
    start() {
      const { signal } = new AbortController()
      // Listing the tools logs what is missing before anybody needs it.
      for (const server of servers) void server.start().then(() => listOf(server, signal))
    },
    servers: () =>
      servers.map((server) => ({
        name: server.name,
        trouble: server.trouble(),
        ...(server.needsSignIn() ? { needsSignIn: true } : {}),
        tools: offered.get(server) ?? [],
      })),
    async tools(signal) {
      // The time in the start queue counts as well.
      firstWait ??= Promise.race([start(), sleep(clock, patienceMs)])
      await untilAborted(firstWait, signal)
      const lists = await Promise.all(servers.map((server) => listOf(server, signal)))
      if (last?.lists.every((list, i) => list === lists[i])) return last.tools
      const tools = merge(lists)
      last = { lists, tools }
      return tools
    },
    async close() {
      // The others are closed even when one cannot be.
      const ends = await Promise.allSettled(servers.map((server) => server.close()))
      for (const [i, end] of ends.entries()) {
        if (end.status === 'fulfilled') continue
        log.warn('An MCP server could not be closed.', { mcp_server: servers[i]?.name, error: end.reason })
      }
    },
  }
}

/** A server that keeps changing its tools must not fill the memory with warnings that were given. */
const MAX_WARNINGS_KEPT = 1_000

/** Warns about tools, once about each. */
function createToolWarnings(log: Logger) {
  const given = new Set<string>()
  const isNew = (...what: string[]): boolean => {
    const text = JSON.stringify(what)
    if (given.has(text)) return false
    if (given.size >= MAX_WARNINGS_KEPT) given.clear()
    given.add(text)
    return true
  }
  return {
    leftOut(server: McpServer, { name: tool }: ServerTool, reason: string): void {
      if (!isNew(server.name, tool, reason)) return
      log.warn('A tool of an MCP server is left out.', { mcp_server: server.name, tool, reason })
    },
    notEnforced(server: McpServer, { name: tool }: ServerTool, warnings: readonly string[]): void {
      if (warnings.length === 0 || !isNew(server.name, tool, ...warnings)) return
      log.warn('The schema of a tool of an MCP server is not enforced in full.', {
        mcp_server: server.name,
        tool,
        warnings,
      })
    },
  }
}

/** A tool whose arguments cannot be checked is not offered. One with a broken schema of its results still is. */
function checkParameters(
  { parameters }: ServerTool,
  budget: SchemaBudget,
): { problem: string | null; warnings: readonly string[] } {
  try {
    return { problem: null, warnings: createJsonCheck(parameters, { budget, foreignPatterns: true }).warnings }
  } catch (error) {
    if (error instanceof ServerError) return { problem: error.message, warnings: [] }
    throw error
  }
}
