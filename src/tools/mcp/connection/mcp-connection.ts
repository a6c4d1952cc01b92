// One open connection to one MCP server: its process or its HTTP session, with the SDK's client on top.

import { statSync } from 'node:fs'
import type { Client, ServerCapabilities, Transport } from '@modelcontextprotocol/client'
import { abortAfter, untilAborted } from '../../../domain/abort.ts'
import type { McpServerSettings } from '../../../domain/agent/tool-settings.ts'
import { type Clock, sleep } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Logger } from '../../../domain/logger.ts'
import { childEnvironment } from '../../process/child-environment.ts'
import type { ProcessGroups } from '../../process/process-groups.ts'
import type { ToolCallRequest } from '../../tool.ts'
import type { SignIn } from '../auth/sign-in.ts'
import { elicitResult, questionOf } from '../tools/elicitation.ts'
import { createHttpTransport } from './http-transport.ts'
import { connectFailure, endText, httpStatus, mcpError, notInTime, whoIs } from './mcp-failure.ts'
import type { Connection } from './reconnector.ts'
import { loadSdk, type McpSdk } from './sdk.ts'
import type { StderrTail } from './stderr-tail.ts'
import { createStdioTransport, type StdioEnd } from './stdio-transport.ts'

/** The longest time that a timer takes. It turns off the SDK's timeouts, because signals already limit calls and connecting. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1
const GOODBYE_MS = 1_000
/** The pages of MCP Apps that clients of ours can show. */
const APP_TYPE = 'text/html;profile=mcp-app'

export interface McpConnection extends Connection {
  readonly sdk: McpSdk
  readonly client: Client
  readonly capabilities: ServerCapabilities
  /** Why the connection is gone, as a sentence. Null while it lasts. */
  readonly end: string | null
  /** True once after each time the server said that its tools have changed. */
  takeToolsChanged(): boolean
  /** Runs a call. What the server asks meanwhile is asked in the name of this call. */
  during<T>(call: Asker, work: () => Promise<T>): Promise<T>
}

type Asker = Pick<ToolCallRequest, 'hold'>

export interface McpConnectionDeps {
  clock: Clock
  log: Logger
  processes: ProcessGroups
  /** Our environment, such as `process.env`. A child gets only the harmless part of it. */
  environment: Readonly<Record<string, string | undefined>>
  /** The version of this program. Servers are told. */
  version: string
  /** For a server at a URL. */
  fetch: typeof fetch
  /** For a server that wants a sign-in. */
  signIn: SignIn | null
  connectTimeoutMs: number
  /** Of the attempt that is under way, or of the last one. */
  tail: StderrTail
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
    if (!(error instanceof Refused)) throw error
    // Nearly every server expects `initialize` first. The protocol of 2026 no longer has it, so servers that know only that one
    // refuse it. Asking in the new way first would crash some of the old servers.
    const timeoutMs = Math.max(until - deps.clock.mono(), 1)
    return await attempt(sdk, settings, deps, signal, { mode: 'auto', timeoutMs }).catch((second: unknown) => {
      throw second instanceof Refused ? second.failure : second
    })
  }
}

/** The server answered, but refused to connect. */
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
  deps.tail.clear()
  const wire = createWire(sdk, settings, deps)
  let toolsChanged = false
  const client = new sdk.Client(
    { name: 'quarterdeck', version: deps.version },
    {
      // No sampling, no roots, no links to open. The SDK refuses requests for what is not offered.
      capabilities: {
        elicitation: { form: {} },
        extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [APP_TYPE] } },
      },
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
  const askers = new Set<Asker>()
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    const [asker, ...others] = askers
    const question = questionOf(settings.name, params)
    if (asker === undefined || others.length > 0 || question === null) {
      // The protocol does not say which call a question belongs to. A guess could show it to another user.
      const reason = question === null ? 'it cannot be asked' : `${askers.size} calls are open`
      deps.log.warn('A question of an MCP server is cancelled.', { reason })
      return { action: 'cancel' }
    }
    return elicitResult(await asker.hold(question, mcpReq.signal))
  })
  client.onerror = (error) =>
    deps.log.debug('The connection to the MCP server reports an error.', { content: error.message })
  const gone = new Promise<string>((resolve) => {
    client.onclose = () => resolve(wire.end() ?? 'The connection was closed.')
  })

  using late = abortAfter(deps.clock, how.timeoutMs)
  const either = AbortSignal.any([signal, late.signal])
  try {
    await untilAborted(client.connect(wire.transport, { timeout: NO_TIMEOUT_MS, signal: either }), either)
  } catch (error) {
    await wire.transport.close()
    if (signal.aborted) throw new ServerError('shutting_down', `${whoIs(settings.name)} is being closed.`)
    if (late.signal.aborted)
      throw mcpError(settings.name, notInTime(deps.connectTimeoutMs) + deps.tail.sentence(), error)
    const failure = wire.failure() ?? connectFailure(sdk, settings.name, error)
    const refused = error instanceof sdk.ProtocolError || httpStatus(sdk, error) === 400
    throw refused ? new Refused(failure) : failure
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
    async during(call, work) {
      askers.add(call)
      try {
        return await work()
      } finally {
        askers.delete(call)
      }
    },
    async close() {
      await wire.goodbye()
      await client.close()
    },
  }
}

interface Wire {
  transport: Transport
  /** Why the connection ended, as a sentence. Null while it lasts. */
  end(): string | null
  /** What the transport knows about a failed start. */
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
      // A courtesy, so that the server can free the session before it expires.
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
    tail: deps.tail,
    log: deps.log,
    clock: deps.clock,
  })
  return {
    transport,
    end: () => (transport.end === null ? null : endText(transport.end)),
    failure: () => (transport.end === null ? undefined : startFailure(name, transport.end, connection, deps.tail)),
    goodbye: async () => {},
  }
}

function startFailure(
  server: string,
  end: StdioEnd,
  child: { command: string; directory: string },
  tail: StderrTail,
): Error | undefined {
  if (end.kind === 'closed') return undefined
  if (end.kind === 'broken') return mcpError(server, `cannot be used. ${end.reason}${tail.sentence()}`)
  if (end.kind !== 'not-started') {
    return mcpError(server, `stopped while it was starting. ${endText(end)}${tail.sentence()}`)
  }
  if (!isDirectory(child.directory)) {
    return mcpError(server, `cannot be started: there is no directory ${JSON.stringify(child.directory)}.`)
  }
  if (end.code !== 'ENOENT') return mcpError(server, `cannot be started: ${child.command} gives ${end.code}.`)
  const onWindows =
    process.platform === 'win32' ? ' For npx and the like, write `command: cmd` and `args: [/c, npx, …]`.' : ''
  return mcpError(
    server,
    `cannot be started: there is no command ${JSON.stringify(child.command)}. Install it or write its full path.${onWindows}`,
  )
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
