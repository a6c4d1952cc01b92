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
  if (error instanceof ServerError) return error
  const fail = (text: string) => mcpError(server, text, error)
  const status = httpStatus(sdk, error)
  const isRefused = error instanceof sdk.UnauthorizedError || error instanceof sdk.InsufficientScopeError
  if (status === 401 || status === 403 || isRefused) {
    return fail(
      'requires authorization. If people sign in to it (OAuth), write `auth: {}` for it. Otherwise put a token into its ' +
        `\`headers\`, for example \`Authorization: Bearer \${MY_TOKEN}\`.`,
    )
  }
  if (status !== undefined) {
    return fail(`answered with HTTP ${status}. Check that its \`url\` is the address of its MCP endpoint.`)
  }
  if (error instanceof sdk.ProtocolError) {
    return fail(`refused the connection (JSON-RPC error ${error.code}). Its log or stderr may say why.`)
  }
  const refused = notSent(error)
  if (refused !== undefined) return fail(`cannot be reached. ${refused}`)
  const code = networkCode(sdk, error)
  if (code !== undefined) return fail(`cannot be reached (${code}). Check its \`url\` and that it is running.`)
  return fail('does not answer like an MCP server. Check that it is one, and which version of MCP it speaks.')
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
  const fail = (text: string) => mcpError(server, text, error)
  const sdkCode = error instanceof sdk.SdkError ? error.code : undefined
  if (sdkCode === sdk.SdkErrorCode.UnsupportedResultType) {
    return fail('asks for input in the middle of the call, which is not supported.')
  }
  if (sdkCode === sdk.SdkErrorCode.InvalidResult) {
    return fail('answered with something that is not an MCP result. Whether the call took effect is unknown.')
  }
  const said = serversOwnError(sdk, error)
  if (said !== undefined) return fail(`answered with an error: ${said.slice(0, MAX_SAID_CHARS)}`)
  const status = httpStatus(sdk, error)
  if (status !== undefined) return fail(`refused the call with HTTP ${status}.`)
  const refused = notSent(error)
  if (refused !== undefined) return fail(`cannot be reached. ${refused} The call did not take effect.`)
  const code = networkCode(sdk, error)
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') {
    return fail(`cannot be reached (${code}). The call did not take effect.`)
  }
  return fail(`went away during the call.${end === null ? '' : ` ${end}`} Whether it took effect is unknown.`)
}

/** The server's own error message, which the model should read. Undefined for any other error. */
export const serversOwnError = (sdk: McpSdk, error: unknown): string | undefined =>
  error instanceof sdk.ProtocolError && error.code !== STREAM_ENDED ? error.message : undefined

export const httpStatus = (sdk: McpSdk, error: unknown): number | undefined =>
  error instanceof sdk.SdkHttpError ? error.status : undefined

/** Whether the call ended without any answer from the server: its network or its process is gone. */
export const gaveNoAnswer = (sdk: McpSdk, error: unknown): boolean =>
  networkCode(sdk, error) !== undefined || (error instanceof sdk.ProtocolError && error.code === STREAM_ENDED)

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
