// One open connection to one server: its process or its HTTP session, and the SDK's client on top.

import { statSync } from 'node:fs'
import type { Client, ServerCapabilities, Transport } from '@modelcontextprotocol/client'
import { type Clock, sleep } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Logger } from '../../../domain/logger.ts'
import type { McpServerSettings } from '../../../domain/tool-settings.ts'
import { childEnvironment } from '../../process/child-environment.ts'
import type { ProcessGroups } from '../../process/process-groups.ts'
import { untilAborted } from '../../until-aborted.ts'
import { createHttpTransport } from './http-transport.ts'
import { connectFailure, endText, httpStatus, mcpError, notInTime, whoIs } from './mcp-failure.ts'
import type { Line } from './reconnector.ts'
import { loadSdk, type McpSdk } from './sdk.ts'
import { createStdioTransport, type StdioEnd } from './stdio-transport.ts'

/** Time is kept by signals: the engine's for calls, ours for connecting. The longest a timer takes turns the SDK's own off. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1
const GOODBYE_MS = 1_000

export interface McpConnection extends Line {
  readonly sdk: McpSdk
  readonly client: Client
  readonly capabilities: ServerCapabilities
  /** Why it is gone, as a sentence; null while it lasts. */
  readonly end: string | null
  /** True once after the server said that its tools have changed. */
  takeToolsChanged(): boolean
}

/** Runs something on the open connection; what goes wrong becomes a ServerError. */
export type Session = <T>(signal: AbortSignal, use: (connection: McpConnection) => Promise<T>) => Promise<T>

export interface McpConnectionDeps {
  clock: Clock
  log: Logger
  processes: ProcessGroups
  /** Ours; a child gets the harmless part of it. */
  environment: Readonly<Record<string, string | undefined>>
  /** Of this program; servers are told. */
  version: string
  fetch: typeof fetch
  connectTimeoutMs: number
}

/** Throws a ServerError that says what to do. */
export async function connectMcp(
  settings: McpServerSettings,
  deps: McpConnectionDeps,
  signal: AbortSignal,
): Promise<McpConnection> {
  const sdk = await loadSdk()
  const until = deps.clock.mono() + deps.connectTimeoutMs
  try {
    return await attempt(sdk, settings, deps, signal, { mode: 'legacy', timeoutMs: deps.connectTimeoutMs })
  } catch (error) {
    // Nearly every server begins with `initialize`. One that knows only the protocol of 2026, which has done away with it,
    // refuses it; to ask in the new way first would end some of the old servers.
    const refused = error instanceof Refused
    const timeoutMs = Math.max(until - deps.clock.mono(), 1)
    if (!refused) throw error
    return await attempt(sdk, settings, deps, signal, { mode: 'auto', timeoutMs }).catch((second: unknown) => {
      throw second instanceof Refused ? second.failure : second
    })
  }
}

/** The server answered, and said no. */
class Refused extends Error {
  readonly failure: Error
  constructor(failure: Error) {
    super(failure.message)
    this.failure = failure
  }
}

async function attempt(
  sdk: McpSdk,
  settings: McpServerSettings,
  deps: McpConnectionDeps,
  signal: AbortSignal,
  how: { mode: 'legacy' | 'auto'; timeoutMs: number },
): Promise<McpConnection> {
  const wire = createWire(sdk, settings, deps)
  let toolsChanged = false
  const client = new sdk.Client(
    { name: 'quarterdeck', version: deps.version },
    {
      // Nothing is offered to servers: no sampling, no elicitation, no roots. The SDK refuses what is not offered.
      capabilities: {},
      versionNegotiation: { mode: how.mode },
      inputRequired: { autoFulfill: false },
      listChanged: {
        tools: {
          autoRefresh: false,
          debounceMs: 0,
          onChanged: () => {
            toolsChanged = true
          },
        },
      },
    },
  )
  client.onerror = (error) => deps.log.debug('The connection to the MCP server complains.', { content: error.message })
  const gone = new Promise<string>((resolve) => {
    client.onclose = () => resolve(wire.end() ?? 'The connection was closed.')
  })

  const late = new AbortController()
  const cancel = deps.clock.after(how.timeoutMs, () => late.abort())
  const given = AbortSignal.any([signal, late.signal])
  try {
    await untilAborted(client.connect(wire.transport, { timeout: NO_TIMEOUT_MS, signal: given }), given)
  } catch (error) {
    await wire.transport.close()
    if (signal.aborted) throw new ServerError('shutting_down', `${whoIs(settings.name)} is being closed.`)
    if (late.signal.aborted) throw mcpError(settings.name, notInTime(deps.connectTimeoutMs), error)
    const failure = wire.failure() ?? connectFailure(sdk, settings.name, error)
    const refused = error instanceof sdk.ProtocolError || httpStatus(sdk, error) === 400
    throw refused ? new Refused(failure) : failure
  } finally {
    cancel()
  }

  return {
    sdk,
    client,
    capabilities: client.getServerCapabilities() ?? {},
    gone,
    get end() {
      return wire.end()
    },
    takeToolsChanged() {
      const changed = toolsChanged
      toolsChanged = false
      return changed
    },
    async close() {
      await wire.goodbye()
      await client.close()
    },
  }
}

interface Wire {
  transport: Transport
  /** Why it ended, as a sentence. */
  end(): string | null
  /** What the transport itself knows about a failed start. */
  failure(): Error | undefined
  goodbye(): Promise<void>
}

function createWire(sdk: McpSdk, settings: McpServerSettings, deps: McpConnectionDeps): Wire {
  const { connection, name } = settings
  if (connection.kind === 'http') {
    const transport = createHttpTransport(sdk, connection, deps)
    return {
      transport,
      end: () => null,
      failure: () => undefined,
      // Only a courtesy, so that the server need not wait for the session to expire.
      goodbye: () => Promise.race([transport.terminateSession().catch(() => {}), sleep(deps.clock, GOODBYE_MS)]),
    }
  }
  const transport = createStdioTransport({
    start: () =>
      deps.processes.start({
        command: connection.command,
        args: connection.args,
        env: { ...childEnvironment(deps.environment, process.platform), ...connection.env },
        directory: connection.directory,
      }),
    parse: sdk.parseJSONRPCMessage,
    log: deps.log,
    clock: deps.clock,
  })
  return {
    transport,
    end: () => (transport.end === null ? null : endText(transport.end)),
    failure: () => (transport.end === null ? undefined : startFailure(name, transport.end, connection)),
    goodbye: async () => {},
  }
}

function startFailure(server: string, end: StdioEnd, child: { command: string; directory: string }): Error | undefined {
  if (end.kind === 'closed') return undefined
  if (end.kind === 'broken') return mcpError(server, `cannot be used. ${end.reason}`)
  if (end.kind !== 'not-started') {
    return mcpError(
      server,
      `went away while it was being started. ${endText(end)} What it wrote to stderr is in the log at level debug.`,
    )
  }
  if (!isDirectory(child.directory)) {
    return mcpError(server, `cannot be started: there is no directory ${JSON.stringify(child.directory)}.`)
  }
  if (end.code !== 'ENOENT') return mcpError(server, `cannot be started: ${child.command} gives ${end.code}.`)
  const onWindows =
    process.platform === 'win32' ? ' For npx and the like, `command: cmd` with `args: [/c, npx, …]`.' : ''
  return mcpError(
    server,
    `cannot be started: there is no command ${JSON.stringify(child.command)}. Install it or write its full path.${onWindows}`,
  )
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
