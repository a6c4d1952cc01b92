// Tools that MCP servers bring, beside those that are always there. A server that cannot be reached is left out, and said so once.

import { type Clock, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { createJsonCheck } from '../../json/json-schema.ts'
import { createSchemaBudget, type SchemaBudget } from '../../json/schema/budget.ts'
import type { ServerTool, Tool, Toolbox } from '../tool.ts'
import { untilAborted } from '../until-aborted.ts'
import { PATIENCE_MS } from './mcp-server.ts'
import { safeName } from './tools/tool-names.ts'

export interface NamedServer {
  name: string
  /** Resolves when nobody need wait for it any longer. Never rejects; the second time joins the first. */
  start(): Promise<void>
  /** The same array again while nothing has changed. Throws when the server cannot be reached. */
  tools(signal: AbortSignal): Promise<readonly ServerTool[]>
  /** Why it has nothing to offer now; null when it has. */
  trouble(): string | null
  close(): Promise<void>
}

/** A server that changes its tools without end must not fill the memory with what was said about them. */
const MAX_SAID = 1_000

export function createServerTools(
  servers: readonly NamedServer[],
  fixed: ReadonlyMap<string, Tool>,
  { log, clock, patienceMs = PATIENCE_MS }: { log: Logger; clock: Clock; patienceMs?: number },
): Toolbox {
  const none: readonly ServerTool[] = []
  const missing = new Set<NamedServer>()
  /** What each has offered last: a name must not change its meaning because another server is away for a while. */
  const known = new Map<NamedServer, readonly ServerTool[]>()
  /** The names under which its tools were offered last. */
  const offered = new Map<NamedServer, readonly string[]>()
  const said = new Set<string>()
  let last: { lists: readonly (readonly ServerTool[])[]; tools: ReadonlyMap<string, Tool> } | undefined

  const saidBefore = (...what: string[]): boolean => {
    const text = JSON.stringify(what)
    if (said.has(text)) return true
    if (said.size >= MAX_SAID) said.clear()
    said.add(text)
    return false
  }
  const leftOut = (server: NamedServer, tool: string, reason: string): void => {
    if (saidBefore(server.name, tool, reason)) return
    log.warn('A tool of an MCP server is left out.', { mcp_server: server.name, tool, reason })
  }
  const unenforced = (server: NamedServer, tool: string, warnings: readonly string[]): void => {
    if (warnings.length === 0 || saidBefore(server.name, tool, ...warnings)) return
    log.warn('The schema of a tool of an MCP server is not enforced in full.', {
      mcp_server: server.name,
      tool,
      warnings,
    })
  }

  async function listOf(server: NamedServer, signal: AbortSignal): Promise<readonly ServerTool[]> {
    try {
      const tools = await server.tools(signal)
      if (missing.delete(server)) log.info('The tools of an MCP server are there again.', { mcp_server: server.name })
      known.set(server, tools)
      return tools
    } catch (error) {
      signal.throwIfAborted()
      if (!missing.has(server)) {
        missing.add(server)
        const reason = error instanceof ServerError ? error.message : 'An error inside of the server part.'
        log.warn('The tools of an MCP server are left out.', { mcp_server: server.name, reason, error })
      }
      return none
    }
  }

  function merge(lists: readonly (readonly ServerTool[])[]): ReadonlyMap<string, Tool> {
    const claims = new Map<string, number>()
    for (const name of [...fixed.keys(), ...[...known.values()].flatMap((tools) => tools.map((tool) => tool.name))]) {
      claims.set(name, (claims.get(name) ?? 0) + 1)
    }
    const merged = new Map(fixed)
    for (const [i, server] of servers.entries()) {
      // Of its own for each: a hostile server must not cost another one its tools.
      const budget = createSchemaBudget()
      const names: string[] = []
      for (const tool of lists[i] ?? none) {
        const clashes = (claims.get(tool.name) ?? 0) > 1
        const name = clashes ? safeName(`${server.name}_${tool.name}`) : tool.name
        const { problem, warnings } = readParameters(tool, budget)
        unenforced(server, tool.name, warnings)
        if (problem !== null) leftOut(server, tool.name, problem)
        else if (merged.has(name) || (clashes && claims.has(name))) {
          leftOut(
            server,
            tool.name,
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
      // What is missing is in the log before anybody needs it.
      for (const server of servers) void server.start().then(() => listOf(server, signal))
    },
    servers: () =>
      servers.map((server) => ({
        name: server.name,
        trouble: server.trouble(),
        tools: offered.get(server) ?? [],
      })),
    async tools(signal) {
      // Those that wait for their turn to start included.
      firstWait ??= Promise.race([start(), sleep(clock, patienceMs)])
      await untilAborted(firstWait, signal)
      const lists = await Promise.all(servers.map((server) => listOf(server, signal)))
      if (last?.lists.every((list, i) => list === lists[i])) return last.tools
      const tools = merge(lists)
      last = { lists, tools }
      return tools
    },
    async close() {
      // One that cannot be closed is no reason to leave the others running.
      const ends = await Promise.allSettled(servers.map((server) => server.close()))
      for (const [i, end] of ends.entries()) {
        if (end.status === 'fulfilled') continue
        log.warn('An MCP server could not be closed.', { mcp_server: servers[i]?.name, error: end.reason })
      }
    },
  }
}

/** Its arguments could not be checked. What it says of its results is no reason to do without it. */
function readParameters(
  { parameters }: Tool,
  budget: SchemaBudget,
): { problem: string | null; warnings: readonly string[] } {
  try {
    return { problem: null, warnings: createJsonCheck(parameters, { budget, foreignPatterns: true }).warnings }
  } catch (error) {
    if (error instanceof ServerError) return { problem: error.message, warnings: [] }
    throw error
  }
}
