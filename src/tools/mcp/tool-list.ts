// The tools of one MCP server, as it listed them last. The list is read again when the server says that it has changed.

import { abortAfter, untilAborted } from '../../domain/abort.ts'
import type { McpServerSettings } from '../../domain/agent/tool-settings.ts'
import { type Clock, sleep } from '../../domain/clock.ts'
import type { Logger } from '../../domain/logger.ts'
import { globMatches } from '../../domain/text/glob.ts'
import type { ServerTool } from '../tool.ts'
import type { McpConnection } from './connection/mcp-connection.ts'
import { mcpError, notInTime } from './connection/mcp-failure.ts'
import { dropConnection, type WithConnection } from './connection/with-connection.ts'
import { listTools } from './tools/list-tools.ts'
import { createMcpTool } from './tools/mcp-tool.ts'
import { createReadOnlyTools } from './tools/read-only-tools.ts'
import { serverIdentity } from './tools/server-identity.ts'
import { toolNames } from './tools/tool-names.ts'

/** A new list is worth a short wait. After that the last one is used. */
const NEW_LIST_WAIT_MS = 1_000
/** Over HTTP the notice that the tools have changed can get lost, so a list is not trusted for ever. */
const LIST_VALID_MS = 5 * 60_000

export function createToolList(
  settings: McpServerSettings,
  deps: {
    withConnection: WithConnection
    /** Whether this is the connection that is open now. */
    isOpen: (connection: McpConnection) => boolean
    clock: Clock
    log: Logger
    timeoutMs: number
  },
) {
  const { withConnection, isOpen, clock, log, timeoutMs } = deps
  const closing = new AbortController()
  let known: { connection: McpConnection; at: number; tools: readonly ServerTool[] } | null = null
  let reading: Promise<void> | null = null

  /** Reads the list from the server. Throws when the server does not give it in time. */
  async function read(connection: McpConnection, signal: AbortSignal): Promise<void> {
    using late = abortAfter(clock, timeoutMs)
    const either = AbortSignal.any([signal, late.signal])
    try {
      const tools = await untilAborted(toolsOf(connection, either), either)
      known = { connection, at: clock.mono(), tools }
    } catch (error) {
      throw late.signal.aborted ? mcpError(settings.name, notInTime(timeoutMs), error) : error
    }
  }

  async function toolsOf(connection: McpConnection, signal: AbortSignal): Promise<readonly ServerTool[]> {
    const listed = await listTools(connection, (name) => isWanted(settings, name), log, signal)
    warnAboutMissing(settings, new Set(listed.map((tool) => tool.name)), log)
    const identity = serverIdentity(settings, connection)
    const ours = createReadOnlyTools(settings, connection.capabilities, withConnection, identity)
    const names = toolNames(
      listed.map((tool) => tool.name),
      settings.prefix,
      ours.map((tool) => tool.name),
    )
    const theirs = listed.flatMap((tool, i) => {
      const name = names[i] ?? null
      if (name === null) return []
      const unchanged = ifUnchanged(() => made)
      const made: ServerTool = createMcpTool(name, tool, settings, unchanged, clock, identity)
      return [made]
    })
    return [...theirs, ...ours]
  }

  /** By now the server may offer something else under the same name, so a tool is called only as it was listed. */
  const ifUnchanged =
    (tool: () => ServerTool): WithConnection =>
    (signal, use) =>
      withConnection(signal, async (connection) => {
        const { name, binding } = tool()
        if (known?.tools.some((one) => one.binding === binding) === true) return use(connection)
        const problem = `has changed its tool ${name}, so it was not called. Call it again in its new form.`
        throw mcpError(settings.name, problem)
      })

  function isOutdated({ connection, at }: NonNullable<typeof known>): boolean {
    if (!isOpen(connection)) return false
    const expired = settings.connection.kind === 'http' && clock.mono() - at >= LIST_VALID_MS
    return connection.takeToolsChanged() || expired
  }

  /** Never rejects. A server that does not give its list is connected anew. */
  async function readAgain(connection: McpConnection): Promise<void> {
    try {
      await read(connection, closing.signal)
    } catch (error) {
      if (!closing.signal.aborted) log.warn('The MCP server did not give its new list of tools.', { error })
      await dropConnection(connection, log)
    } finally {
      reading = null
    }
  }

  return {
    /** As read last. Null before the first time. */
    last: () => known?.tools ?? null,
    read,
    /** Reads an outdated list again in the background, and waits a short time for it. Throws only when the signal aborts. */
    async refresh(signal: AbortSignal): Promise<void> {
      if (known !== null && isOutdated(known)) reading ??= readAgain(known.connection)
      if (reading !== null) await untilAborted(Promise.race([reading, sleep(clock, NEW_LIST_WAIT_MS)]), signal)
    },
    /** Ends what goes on in the background. */
    close: () => closing.abort(),
  }
}

function isWanted({ allow, deny }: McpServerSettings, name: string): boolean {
  const fits = (pattern: string): boolean => globMatches(pattern, name)
  return (allow === null || allow.some(fits)) && !deny.some(fits)
}

function warnAboutMissing({ tools, allow }: McpServerSettings, listed: ReadonlySet<string>, log: Logger): void {
  const named = [...Object.keys(tools), ...(allow ?? []).filter((name) => !/[*?]/.test(name))]
  for (const tool of named) {
    if (!listed.has(tool)) log.warn('The configuration names a tool that the MCP server does not offer.', { tool })
  }
}
