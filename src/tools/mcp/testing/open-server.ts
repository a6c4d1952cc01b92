import { createRequire } from 'node:module'
import type { McpServerSettings } from '../../../domain/agent/tool-settings.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import type { LogFields, Logger } from '../../../domain/logger.ts'
import { createConnections } from '../../../outgoing/connections.ts'
import { createProcessGroups } from '../../process/process-groups.ts'
import { never, toolCall } from '../../testing/tool-call.ts'
import type { ServerTool, ToolCallRequest, ToolOutcome, ToolVoice } from '../../tool.ts'
import { createMcpServer, type McpServer, type McpServerDeps } from '../mcp-server.ts'
import { createStartQueue } from '../start-queue.ts'
import { mcpSettings } from './mcp-settings.ts'

export interface OpenServer extends AsyncDisposable {
  server: McpServer
  /** Every logged line: level, message and fields. */
  logged: [level: string, message: string, fields: LogFields | undefined][]
  /** Starts the server if necessary. */
  tools(): Promise<readonly ServerTool[]>
  tool(name: string): Promise<ServerTool>
  call(name: string, input?: Record<string, unknown>, options?: CallOptions): Promise<ToolOutcome>
}

interface CallOptions extends Partial<Pick<ToolCallRequest, 'answers' | 'hold'>> {
  signal?: AbortSignal
  progress?: ToolVoice['progress']
}

/** A server that is closed when the test ends, also when it fails. */
export function openServer(settings: Partial<McpServerSettings>, deps: Partial<McpServerDeps> = {}): OpenServer {
  const clock = createSystemClock()
  const logged: OpenServer['logged'] = []
  const connections = createConnections()
  const server = createMcpServer(mcpSettings(settings), {
    clock,
    log: collectingLogger(logged),
    processes: createProcessGroups({ clock, process }),
    environment: { ...process.env, QUARTERDECK_SECRET: 'not for children' },
    version: '0.0.0',
    fetch: connections.pool({ proxyVariables: null }).fetch,
    signIn: null,
    queue: createStartQueue(),
    // A busy machine may be slow.
    patienceMs: 60_000,
    connectTimeoutMs: 60_000,
    listTimeoutMs: 60_000,
    ...deps,
  })
  const tools = async () => {
    await server.start()
    return server.tools(never)
  }
  async function tool(name: string): Promise<ServerTool> {
    const found = (await tools()).find((one) => one.name === name)
    if (found === undefined) throw new Error(`There is no tool ${name}.`)
    return found
  }
  return {
    server,
    logged,
    tools,
    tool,
    call: async (name, input = {}, { signal = never, progress, ...more } = {}) => {
      const request = { ...toolCall(input, { voice: progress === undefined ? {} : { progress } }), ...more }
      const { whole: _forApps, ...outcome } = await (await tool(name)).call(request, signal)
      return outcome
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      connections.close()
    },
  }
}

/** Runs one of our scripts as the server's process. */
export function script(file: string, ...args: string[]): Pick<McpServerSettings, 'connection'> {
  return {
    connection: {
      kind: 'stdio',
      command: process.execPath,
      args: [file, ...args],
      env: {},
      directory: import.meta.dirname,
    },
  }
}

export const fake = (mode = 'plain'): Pick<McpServerSettings, 'connection'> =>
  script(`${import.meta.dirname}/fake-server.ts`, mode)

/** The file that an npm package starts. */
export function packageScript(name: string): string {
  const require = createRequire(import.meta.url)
  const path = require.resolve(`${name}/package.json`)
  const { bin } = require(path) as { bin: Record<string, string> }
  const [file = ''] = Object.values(bin)
  return path.replace('package.json', file)
}

function collectingLogger(into: OpenServer['logged']): Logger {
  const log = (level: string) => (message: string, fields?: LogFields) => void into.push([level, message, fields])
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: () => collectingLogger(into),
  }
}
