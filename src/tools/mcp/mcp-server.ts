// One MCP server as the source of many tools. Once started it is kept connected in the background, and nobody waits for a server
// that does not come back.

import type { McpServerSettings } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import type { ServerTool } from '../tool.ts'
import { isSignInNeeded, type SignIn } from './auth/sign-in.ts'
import { connectMcp, type McpConnection, type McpConnectionDeps } from './connection/mcp-connection.ts'
import { callFailure, whoIs } from './connection/mcp-failure.ts'
import { createReconnector } from './connection/reconnector.ts'
import { createStderrTail } from './connection/stderr-tail.ts'
import { createWithConnection, dropConnection } from './connection/with-connection.ts'
import type { StartQueue } from './start-queue.ts'
import { createToolList } from './tool-list.ts'

export interface McpServer {
  readonly name: string
  /** Starts the server the first time. Resolves when it is there, or when nobody should wait for it any longer. Never rejects. */
  start(): Promise<void>
  /**
   * What the server offers now: the same array while nothing has changed. Hardly waits. Throws a ServerError that says why the
   * server cannot be reached and what to do.
   */
  tools(signal: AbortSignal): Promise<readonly ServerTool[]>
  /** Why the server has nothing to offer now. Null when it has. */
  trouble(): string | null
  /** Whether that is because somebody has to sign in. */
  needsSignIn(): boolean
  /** Ends its process and everything that this process has started, or its HTTP session. It is not started again. */
  close(): Promise<void>
}

export interface McpServerDeps extends Omit<McpConnectionDeps, 'tail'> {
  /** Shared by all servers, so that they do not all start at once. */
  queue: StartQueue
  /** How long callers wait for the server to start. */
  patienceMs: number
  listTimeoutMs: number
}

export const mcpTimeouts = {
  /** Longer than callers wait, because npx and uvx may download a package at the first start. */
  connectTimeoutMs: 30_000,
  listTimeoutMs: 5_000,
}

export function createMcpServer(settings: McpServerSettings, deps: McpServerDeps): McpServer {
  const { clock, queue, patienceMs, connectTimeoutMs, listTimeoutMs, signIn } = deps
  const log = deps.log.with({ mcp_server: settings.name })
  const { connection: target } = settings
  const tail = createStderrTail(target.kind === 'stdio' ? Object.values(target.env) : [])

  /** When somebody signed in for the connection that was opened last. */
  let signedInAt: number | null = null
  let signInTrouble: string | null = null

  async function noting<T>(work: Promise<T>): Promise<T> {
    try {
      const done = await work
      signInTrouble = null
      return done
    } catch (error) {
      if (isSignInNeeded(error)) signInTrouble = error.message
      throw error
    }
  }

  /** Follows what people do, also at other processes: a sign-in, a sign-out, one as somebody else. Throws if nobody is signed in. */
  async function followSignIn(signIn: SignIn, signal: AbortSignal): Promise<void> {
    const since = await signIn.since()
    if (since !== null && since === signedInAt) return
    const { connection } = reconnector
    if (connection !== null) {
      await dropConnection(connection, log)
      await connection.gone
    }
    // Says who has to sign in.
    if (since === null) await noting(signIn.token())
    reconnector.retry()
    await reconnector.get(signal)
  }

  async function open(signal: AbortSignal): Promise<McpConnection> {
    if (signIn !== null) {
      signedInAt = await signIn.since()
      await noting(signIn.token())
    }
    const connection = await connectMcp(settings, { ...deps, log, connectTimeoutMs, tail }, signal)
    try {
      await list.read(connection, signal)
    } catch (error) {
      await connection.close()
      throw callFailure(connection.sdk, settings.name, error, connection.end)
    }
    log.info('The MCP server is connected.', { protocol: connection.client.getNegotiatedProtocolVersion() })
    void connection.gone.then((reason) => log.info('The MCP server is gone.', { reason }))
    return connection
  }

  const reconnector = createReconnector({ who: whoIs(settings.name), clock, patienceMs, open, soFar: tail.sentence })
  const list = createToolList(settings, {
    withConnection: createWithConnection(settings.name, reconnector, { clock, log }),
    isOpen: (connection) => reconnector.connection === connection,
    clock,
    log,
    timeoutMs: listTimeoutMs,
  })
  const notYet = (): string => `${whoIs(settings.name)} is still starting.`
  let started: Promise<void> | null = null

  return {
    name: settings.name,
    start() {
      started ??= queue(() => reconnector.start())
      return started
    },
    async tools(signal) {
      signal.throwIfAborted()
      if (signIn !== null) await followSignIn(signIn, signal)
      if (reconnector.trouble !== null) throw reconnector.trouble
      await list.refresh(signal)
      const tools = list.last()
      if (tools === null) throw new ServerError('tool_failed', notYet())
      return tools
    },
    trouble: () => signInTrouble ?? reconnector.trouble?.message ?? (list.last() === null ? notYet() : null),
    needsSignIn: () => signInTrouble !== null,
    close() {
      list.close()
      return reconnector.close()
    },
  }
}
