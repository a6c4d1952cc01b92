// What the door serves: tools and resources as plain data with a function each. The door knows MCP and nothing of what they do.

import type { z } from 'zod'
import { visibleText } from '../../domain/text/visible-text.ts'
import type { AgentPrincipal } from '../../http/route.ts'
import type { ResumableCall } from '../../supervision/agent-service/agent-service.ts'
import type { AgentIdentity } from '../../supervision/sessions/supervised-sessions.ts'

export interface McpTool<Input extends z.ZodObject = z.ZodObject> {
  name: string
  title: string
  /** Written for models. */
  description: string
  input: Input
  annotations?: { readOnlyHint?: boolean; openWorldHint?: boolean }
  /** A thrown `ServerError` becomes an error result with its code and text. Anything else that is thrown is logged as a bug. */
  call(input: z.output<Input>, context: McpCallContext): Promise<McpToolAnswer>
}

export interface McpToolAnswer {
  /** Null: the result is only the text. */
  structured: Record<string, unknown> | null
  isError: boolean
  /** Default: `structured` as JSON. */
  text?: string
}

export interface McpResource {
  name: string
  title: string
  description: string
  mimeType: string
  /** RFC 6570. A URI that matches one of them is read. */
  uriTemplates: readonly string[]
  /** The text of the resource. Throws `ServerError`. */
  read(uri: URL, context: McpReadContext): Promise<string>
}

/** Who calls, and from where. Everything but `client` is checked; `client` is what the caller says about itself. */
export interface McpAgent {
  principal: AgentPrincipal
  /** Real path: the token's folder, or a folder in it that the URL names. */
  workspace: string
  /** From the URL. Whether such a session exists, and whose it is, is for the tools to find out. */
  sessionId: string | null
  channelId: string | null
  client: { name: string; version: string } | null
  /** How long the host lets a call block, if the URL says so. */
  hostLimitMs: number | null
  era: McpEra
  /**
   * What `push` takes. With `isLasting` all calls of one client have the same: they come over a legacy MCP session, or from one stdio
   * bridge. Without it the id stands for this call alone.
   */
  connectionId: string
  isLasting: boolean
}

/** `legacy`: up to 2025-11-25, with a handshake and sessions. `modern`: 2026-07-28, every request stands for itself. */
type McpEra = 'legacy' | 'modern'

interface McpReadContext {
  agent: McpAgent
  signal: AbortSignal
}

export interface McpCallContext extends McpReadContext {
  /**
   * Aborts when nobody waits for the answer any more, and when the server stops (then `signal.reason` is `SERVER_STOPS`, and an answer
   * within a second still arrives). It decides nothing.
   */
  signal: AbortSignal
  /** Tells a caller that asked for progress what is going on: now, and again every 15 s until the call ends. */
  progress(message: string): void
  /** How long the calling host lets this call block, with a margin. Answer before. */
  limitMs: number
  /** False while the call's stream is cut off and its client has not come back for it. */
  isRead: () => boolean
  /** For tools that write their answer down before it is sent, so that the client gets it after a restart too. Null: it cannot ask for it. */
  resumable: ResumableCall<McpToolAnswer> | null
}

const MOST_HOST_CHARS = 64

/** The client says what it likes, and it stands in every record. */
const hostName = (name: string): string =>
  visibleText([...name.slice(0, 2 * MOST_HOST_CHARS)].slice(0, MOST_HOST_CHARS).join('')) || 'unknown'

/** Who calls, for supervision. `named` is the session that the call itself names; null: none. */
export function agentIdentity(agent: McpAgent, named: string | null = null): AgentIdentity {
  const { principal, workspace, sessionId, channelId, client, connectionId, isLasting } = agent
  return {
    owner: principal.owner,
    tokenId: principal.tokenId,
    workspaceRoot: workspace,
    channelId,
    isChannelOfToken: channelId !== null && channelId === principal.channel,
    sessionId: named ?? sessionId,
    connectionId: isLasting ? connectionId : null,
    host: hostName(client?.name ?? ''),
  }
}
