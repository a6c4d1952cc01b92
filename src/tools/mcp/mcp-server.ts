// One MCP server as the source of many tools. Once started it is kept connected: after a break it is connected anew in the
// background, and nobody waits for one that does not come back.

import { type Clock, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { globMatches } from '../../domain/glob.ts'
import type { Logger } from '../../domain/logger.ts'
import type { McpServerSettings } from '../../domain/tool-settings.ts'
import type { ProcessGroups } from '../process/process-groups.ts'
import type { ServerTool } from '../tool.ts'
import { untilAborted } from '../until-aborted.ts'
import { connectMcp, type McpConnection, NO_TIMEOUT_MS, type Session } from './connection/mcp-connection.ts'
import { callFailure, gaveNoAnswer, mcpError, notInTime, whoIs } from './connection/mcp-failure.ts'
import { createLifeline } from './connection/reconnector.ts'
import { isSessionLost } from './connection/session-lost.ts'
import { createStartQueue, type StartQueue } from './start-queue.ts'
import { listTools } from './tools/list-tools.ts'
import { createMcpTool } from './tools/mcp-tool.ts'
import { createPromptTools } from './tools/prompt-tools.ts'
import { createResourceTools } from './tools/resource-tools.ts'
import { serverIdentity } from './tools/server-identity.ts'
import { toolNames } from './tools/tool-names.ts'

export interface McpServer {
  /** Starts it the first time. Resolves when it is there, or nobody should wait for it any longer. Never rejects. */
  start(): Promise<void>
  /** What it offers now; hardly waits. Throws a ServerError that says why it cannot be reached and what to do. */
  tools(signal: AbortSignal): Promise<readonly ServerTool[]>
  /** Why it has nothing to offer now; null when it has. */
  trouble(): string | null
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
  /** For a server at a URL. */
  fetch: typeof fetch
  /** Shared by all servers, so that they do not start all at once. */
  queue?: StartQueue
  /** How long anybody waits for it to start. */
  patienceMs?: number
  connectTimeoutMs?: number
  listTimeoutMs?: number
}

export const PATIENCE_MS = 5_000
/** Longer than anybody waits: a package that npx or uvx downloads at its first start gets the time for it. */
const CONNECT_TIMEOUT_MS = 30_000
const LIST_TIMEOUT_MS = 5_000
/** A new list is worth a short wait; then the last one serves. */
const NEW_LIST_WAIT_MS = 1_000
const PING_TIMEOUT_MS = 5_000
/** Over HTTP a notice that the tools have changed can get lost, so that a list is not believed for ever. */
const LIST_VALID_MS = 5 * 60_000

export function createMcpServer(settings: McpServerSettings, deps: McpServerDeps): McpServer {
  const { clock } = deps
  const log = deps.log.with({ mcp_server: settings.name })
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS, listTimeoutMs = LIST_TIMEOUT_MS, patienceMs = PATIENCE_MS } = deps
  const queue = deps.queue ?? createStartQueue()
  let known: { connection: McpConnection; at: number; tools: readonly ServerTool[] } | null = null
  const lifeline = createLifeline({
    who: whoIs(settings.name),
    clock,
    patienceMs,
    async open(signal) {
      const connection = await connectMcp(settings, { ...deps, log, connectTimeoutMs }, signal)
      try {
        await learn(connection, signal)
      } catch (error) {
        await connection.close()
        throw callFailure(connection.sdk, settings.name, error, connection.end)
      }
      log.info('The MCP server is connected.', { protocol: connection.client.getNegotiatedProtocolVersion() })
      void connection.gone.then((reason) => log.info('The MCP server is gone.', { reason }))
      return connection
    },
  })

  let callsInWork = 0
  async function onConnection<T>(connection: McpConnection, use: (connection: McpConnection) => Promise<T>) {
    callsInWork += 1
    try {
      return await use(connection)
    } finally {
      callsInWork -= 1
    }
  }

  const session: Session = async (signal, use) => {
    const connection = await lifeline.get(signal)
    try {
      return await onConnection(connection, use)
    } catch (error) {
      if (signal.aborted || gaveNoAnswer(connection.sdk, error)) void doubt(connection)
      signal.throwIfAborted()
      if (!(await isSessionLost(connection, error))) {
        throw callFailure(connection.sdk, settings.name, error, connection.end)
      }
      // Nobody has taken the request, so that it may be made again, in a new session.
      await connection.close()
      await connection.gone
      const renewed = await lifeline.get(signal)
      return await onConnection(renewed, use).catch((second: unknown) => {
        signal.throwIfAborted()
        throw callFailure(renewed.sdk, settings.name, second, renewed.end)
      })
    }
  }

  /** Never rejects. The lifeline hears of it and connects anew. */
  const drop = (connection: McpConnection): Promise<void> =>
    connection
      .close()
      .catch((error: unknown) => log.debug('The connection to the MCP server was not closed.', { error }))

  let doubted: McpConnection | null = null
  /** A call was given up. If the server answers nothing else either, it hangs, and so would every further call. Never rejects. */
  async function doubt(connection: McpConnection): Promise<void> {
    // What else is in work may be what it is busy with; the last to give up asks.
    if (doubted === connection || callsInWork > 0 || connection.end !== null) return
    doubted = connection
    const late = new AbortController()
    const cancel = clock.after(PING_TIMEOUT_MS, () => late.abort())
    try {
      await untilAborted(connection.client.ping({ signal: late.signal, timeout: NO_TIMEOUT_MS }), late.signal)
    } catch (error) {
      if (!late.signal.aborted && !gaveNoAnswer(connection.sdk, error)) return
      if (lifeline.line !== connection) return
      log.warn('The MCP server does not answer any more and is connected anew.')
      await drop(connection)
    } finally {
      cancel()
      doubted = null
    }
  }

  function isWanted(name: string): boolean {
    const fits = (pattern: string): boolean => globMatches(pattern, name)
    return (settings.allow === null || settings.allow.some(fits)) && !settings.deny.some(fits)
  }

  const namedTools = [...Object.keys(settings.tools), ...(settings.allow ?? []).filter((name) => !/[*?]/.test(name))]

  async function learn(connection: McpConnection, signal: AbortSignal): Promise<void> {
    const late = new AbortController()
    const cancel = clock.after(listTimeoutMs, () => late.abort())
    const given = AbortSignal.any([signal, late.signal])
    try {
      const tools = await untilAborted(list(connection, given), given)
      known = { connection, at: clock.mono(), tools }
    } catch (error) {
      throw late.signal.aborted ? mcpError(settings.name, notInTime(listTimeoutMs), error) : error
    } finally {
      cancel()
    }
  }

  /** What the server offers by now may be something else under the same name: it is called only as it was listed. */
  const onlyFor =
    (tool: () => ServerTool): Session =>
    (signal, use) =>
      session(signal, async (connection) => {
        const { name, binding } = tool()
        if (known?.tools.some((one) => one.binding === binding) === true) return use(connection)
        throw mcpError(settings.name, `has changed its tool ${name}, so it was not called. Call it again as it is now.`)
      })

  async function list(connection: McpConnection, signal: AbortSignal): Promise<readonly ServerTool[]> {
    const listed = await listTools(connection, isWanted, log, signal)
    for (const name of namedTools) {
      if (!listed.some((tool) => tool.name === name)) {
        log.warn('The configuration names a tool that the MCP server does not offer.', { tool: name })
      }
    }
    const { resources, prompts } = connection.capabilities
    const identity = serverIdentity(settings, connection)
    const extras = [
      ...(settings.resources && resources !== undefined ? createResourceTools(settings, session, identity) : []),
      ...(settings.prompts && prompts !== undefined ? createPromptTools(settings, session, identity) : []),
    ]
    const names = toolNames(
      listed.map((tool) => tool.name),
      settings.prefix,
      extras.map((tool) => tool.name),
    )
    const tools = listed.flatMap((tool, i) => {
      const name = names[i] ?? null
      if (name === null) return []
      const made: ServerTool = createMcpTool(
        name,
        tool,
        settings,
        onlyFor(() => made),
        clock,
        identity,
      )
      return [made]
    })
    return [...tools, ...extras]
  }

  const closing = new AbortController()
  let learning: Promise<void> | null = null
  /** Never rejects: a server that does not say what it offers is connected anew. */
  async function learnAgain(connection: McpConnection): Promise<void> {
    try {
      await learn(connection, closing.signal)
    } catch (error) {
      if (!closing.signal.aborted) log.warn('The MCP server did not give its new list of tools.', { error })
      await drop(connection)
    } finally {
      learning = null
    }
  }

  function isOld({ connection, at }: NonNullable<typeof known>): boolean {
    if (lifeline.line !== connection) return false
    const expired = settings.connection.kind === 'http' && clock.mono() - at >= LIST_VALID_MS
    return connection.takeToolsChanged() || expired
  }

  const notYet = (): string => `${whoIs(settings.name)} is still being started.`
  let started: Promise<void> | null = null

  return {
    start() {
      started ??= queue(() => lifeline.start())
      return started
    },
    async tools(signal) {
      signal.throwIfAborted()
      if (lifeline.trouble !== null) throw lifeline.trouble
      if (known !== null && isOld(known)) learning ??= learnAgain(known.connection)
      if (learning !== null) await untilAborted(Promise.race([learning, sleep(clock, NEW_LIST_WAIT_MS)]), signal)
      if (known === null) throw new ServerError('tool_failed', notYet())
      return known.tools
    },
    trouble: () => lifeline.trouble?.message ?? (known === null ? notYet() : null),
    close() {
      closing.abort()
      return lifeline.close()
    },
  }
}
