import { abortAfter, untilAborted } from '../../../domain/abort.ts'
import type { Clock } from '../../../domain/clock.ts'
import type { Logger } from '../../../domain/logger.ts'
import { type McpConnection, NO_TIMEOUT_MS } from './mcp-connection.ts'
import { callFailure, gaveNoAnswer, httpStatus } from './mcp-failure.ts'
import type { Reconnector } from './reconnector.ts'

/** Runs a call on the open connection. What goes wrong becomes a ServerError. */
export type WithConnection = <T>(signal: AbortSignal, use: (connection: McpConnection) => Promise<T>) => Promise<T>

const PING_TIMEOUT_MS = 5_000

/**
 * Calls that survive a server's restart: a call that the server has not taken is made again in a new MCP session. A server that
 * hangs is connected anew.
 */
export function createWithConnection(
  server: string,
  reconnector: Reconnector<McpConnection>,
  { clock, log }: { clock: Clock; log: Logger },
): WithConnection {
  let openCalls = 0
  let checked: McpConnection | null = null

  async function counted<T>(connection: McpConnection, use: (connection: McpConnection) => Promise<T>): Promise<T> {
    openCalls += 1
    try {
      return await use(connection)
    } finally {
      openCalls -= 1
    }
  }

  /**
   * After a call was given up: if the server does not answer a ping either, it hangs, and so would every further call. Never
   * rejects.
   */
  async function dropIfHanging(connection: McpConnection): Promise<void> {
    // The server may be busy with the other open calls. The last one to give up checks.
    if (checked === connection || openCalls > 0 || connection.end !== null) return
    checked = connection
    using late = abortAfter(clock, PING_TIMEOUT_MS)
    try {
      await untilAborted(connection.client.ping({ signal: late.signal, timeout: NO_TIMEOUT_MS }), late.signal)
    } catch (error) {
      if (!late.signal.aborted && !gaveNoAnswer(connection.sdk, error)) return
      if (reconnector.connection !== connection) return
      log.warn('The MCP server no longer answers and is connected anew.')
      await dropConnection(connection, log)
    } finally {
      checked = null
    }
  }

  return async (signal, use) => {
    const connection = await reconnector.get(signal)
    try {
      return await counted(connection, use)
    } catch (error) {
      if (signal.aborted || gaveNoAnswer(connection.sdk, error)) void dropIfHanging(connection)
      signal.throwIfAborted()
      if (!(await isSessionLost(connection, error))) {
        throw callFailure(connection.sdk, server, error, connection.end)
      }
      // The server has not taken the call, so it is safe to make it again in a new session.
      await connection.close()
      await connection.gone
      const renewed = await reconnector.get(signal)
      return await counted(renewed, use).catch((second: unknown) => {
        signal.throwIfAborted()
        throw callFailure(renewed.sdk, server, second, renewed.end)
      })
    }
  }
}

/** Closes a connection so that the reconnector opens a new one. Never rejects. */
export const dropConnection = (connection: McpConnection, log: Logger): Promise<void> =>
  connection.close().catch((error: unknown) => log.debug('The connection to the MCP server was not closed.', { error }))

/**
 * Whether the server has forgotten our session, as it does after a restart. Then it refused the whole request and has not acted on
 * it. MCP has the status 404 for that. Some servers answer 400, which may mean anything, so they are sent a harmless ping.
 */
async function isSessionLost({ sdk, client }: McpConnection, error: unknown): Promise<boolean> {
  const status = httpStatus(sdk, error)
  if (status !== 400) return status === 404
  return client.ping({ timeout: PING_TIMEOUT_MS }).then(
    () => false,
    (second: unknown) => httpStatus(sdk, second) === 400 || httpStatus(sdk, second) === 404,
  )
}
