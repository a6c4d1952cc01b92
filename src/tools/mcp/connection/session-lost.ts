import type { McpConnection } from './mcp-connection.ts'
import { httpStatus } from './mcp-failure.ts'

const PING_TIMEOUT_MS = 5_000

/**
 * Has the server forgotten our session, as after its restart? Then it refused the request as a whole and has not acted on it.
 * MCP has a status for that, 404. Some servers say 400, which may mean anything: then they are asked something harmless.
 */
export async function isSessionLost({ sdk, client }: McpConnection, error: unknown): Promise<boolean> {
  const status = httpStatus(sdk, error)
  if (status !== 400) return status === 404
  return client.ping({ timeout: PING_TIMEOUT_MS }).then(
    () => false,
    (second: unknown) => httpStatus(sdk, second) === 400 || httpStatus(sdk, second) === 404,
  )
}
