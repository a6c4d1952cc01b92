// Errors of MCP servers, in words that tell the reader what to do.

import { ServerError } from '../../../domain/errors.ts'
import { STREAM_ENDED } from './http-transport.ts'
import type { McpSdk } from './sdk.ts'
import type { StdioEnd } from './stdio-transport.ts'

const MAX_SAID_CHARS = 500

export const whoIs = (server: string): string => `The MCP server ${JSON.stringify(server)}`

export const mcpError = (server: string, text: string, cause?: unknown): ServerError =>
  new ServerError('tool_failed', `${whoIs(server)} ${text}`, { details: { mcp_server: server }, cause })

/** Why a server could not be reached at all. */
export function connectFailure(sdk: McpSdk, server: string, error: unknown): ServerError {
  const status = httpStatus(sdk, error)
  if (status === 401 || status === 403 || error instanceof sdk.UnauthorizedError || isScopeError(sdk, error)) {
    return mcpError(
      server,
      'requires authorization. OAuth sign-in to MCP servers is not supported. Put a token into its `headers`, ' +
        `for example \`Authorization: Bearer \${MY_TOKEN}\`.`,
      error,
    )
  }
  if (status !== undefined) {
    return mcpError(
      server,
      `answered with HTTP ${status}. Check that its \`url\` is the address of its MCP endpoint.`,
      error,
    )
  }
  if (error instanceof sdk.ProtocolError) {
    return mcpError(
      server,
      `refused the connection (JSON-RPC error ${error.code}). Its log or stderr may say why.`,
      error,
    )
  }
  const refused = notSent(error)
  if (refused !== undefined) return mcpError(server, `cannot be reached. ${refused}`, error)
  const code = networkCode(sdk, error)
  if (code !== undefined) {
    return mcpError(server, `cannot be reached (${code}). Check its \`url\` and that it is running.`, error)
  }
  return mcpError(
    server,
    'does not answer like an MCP server. Check that it is one, and which version of MCP it speaks.',
    error,
  )
}

export const notInTime = (timeoutMs: number): string =>
  `did not answer within ${timeoutMs / 1_000} s. If it is downloaded on first use (npx, uvx), install it beforehand.`

/** Why the server's process is gone, as a whole sentence. */
export function endText(end: StdioEnd): string {
  switch (end.kind) {
    case 'exit':
      return `It ended with exit code ${end.code}.`
    case 'signal':
      return `It was ended by ${end.signal}.`
    case 'broken':
      return end.reason
    case 'not-started':
      return `It could not be started (${end.code}).`
    case 'closed':
      return 'It was closed.'
  }
}

/** Why a call failed that has reached the server, or may have reached it. */
export function callFailure(sdk: McpSdk, server: string, error: unknown, end: string | null): ServerError {
  if (error instanceof ServerError) return error
  if (sdkCode(sdk, error) === sdk.SdkErrorCode.UnsupportedResultType) {
    return mcpError(server, 'asks for input in the middle of the call, which is not supported.', error)
  }
  if (sdkCode(sdk, error) === sdk.SdkErrorCode.InvalidResult) {
    return mcpError(
      server,
      'answered with something that is not an MCP result. Whether the call took effect is unknown.',
      error,
    )
  }
  const said = serversOwnError(sdk, error)
  if (said !== undefined) return mcpError(server, `answered with an error: ${said.slice(0, MAX_SAID_CHARS)}`, error)
  const status = httpStatus(sdk, error)
  if (status !== undefined) return mcpError(server, `refused the call with HTTP ${status}.`, error)
  const refused = notSent(error)
  if (refused !== undefined)
    return mcpError(server, `cannot be reached. ${refused} The call did not take effect.`, error)
  const code = networkCode(sdk, error)
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') {
    return mcpError(server, `cannot be reached (${code}). The call did not take effect.`, error)
  }
  return mcpError(
    server,
    `went away during the call.${end === null ? '' : ` ${end}`} Whether it took effect is unknown.`,
    error,
  )
}

/** The server's own error message, which the model should read. Undefined for any other error. */
export const serversOwnError = (sdk: McpSdk, error: unknown): string | undefined =>
  error instanceof sdk.ProtocolError && error.code !== STREAM_ENDED ? error.message : undefined

export const httpStatus = (sdk: McpSdk, error: unknown): number | undefined =>
  error instanceof sdk.SdkHttpError ? error.status : undefined

/** Whether the call ended without any answer from the server: its network or its process is gone. */
export const gaveNoAnswer = (sdk: McpSdk, error: unknown): boolean =>
  networkCode(sdk, error) !== undefined || (error instanceof sdk.ProtocolError && error.code === STREAM_ENDED)

const sdkCode = (sdk: McpSdk, error: unknown): string | undefined =>
  error instanceof sdk.SdkError ? error.code : undefined

const isScopeError = (sdk: McpSdk, error: unknown): boolean => error instanceof sdk.InsufficientScopeError

/** Why we refused to send the request: an invalid proxy address, a redirect to another server. */
function notSent(error: unknown): string | undefined {
  if (error instanceof ServerError) return error.message
  return error instanceof Error ? notSent(error.cause) : undefined
}

/** The system's error code inside a failed fetch, such as ECONNREFUSED. */
function networkCode(sdk: McpSdk, error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const isSystem = 'code' in error && typeof error.code === 'string' && !(error instanceof sdk.SdkError)
  return isSystem ? String(error.code) : networkCode(sdk, error.cause)
}
