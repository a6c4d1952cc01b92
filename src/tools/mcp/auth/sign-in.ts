// What a connection to an MCP server knows of the sign-in. `sign-ins.ts` has the rest, and is loaded only where a server wants one.

import type { McpAuthSettings, McpServerSettings } from '../../../domain/agent/tool-settings.ts'
import { ServerError } from '../../../domain/errors.ts'

/** An MCP server that wants a sign-in. Agents that use the same server under the same name share it. */
export interface AuthServer {
  name: string
  url: string
  headers: Record<string, string>
  auth: McpAuthSettings
}

/** What a connection needs. */
export interface SignIn {
  /** A token that is good now. Throws a ServerError that says who has to sign in; `isSignInNeeded` knows it. */
  token(): Promise<string>
  /** The server refused this token (401). Resolves when another one is there; throws like `token`. */
  refused(token: string): Promise<void>
  /** The token does not cover a call (403). Notes what it lacks, and gives the error for the model. */
  lacks(scope: string): Promise<ServerError>
  /** When somebody signed in; null: nobody has. A connection from before another sign-in is somebody else's. */
  since(): Promise<number | null>
}

const NEEDED = 'sign_in_needed'

export const isSignInNeeded = (error: unknown): error is ServerError =>
  error instanceof ServerError && error.details.reason === NEEDED

export const authServerOf = ({ name, connection }: McpServerSettings): AuthServer | null =>
  connection.kind === 'http' && connection.auth !== undefined
    ? { name, url: connection.url, headers: connection.headers, auth: connection.auth }
    : null

/** `text` is for the model and for people. */
export const signInNeeded = (server: string, text: string): ServerError =>
  new ServerError('tool_failed', text, { details: { mcp_server: server, reason: NEEDED } })
