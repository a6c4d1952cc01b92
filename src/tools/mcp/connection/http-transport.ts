// MCP over Streamable HTTP: the SDK's transport, with limits on answers and on reconnecting.

import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Clock } from '../../../domain/clock.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { McpSdk } from './sdk.ts'

/** The JSON-RPC error code of an answer that we make up when the server's stream ends without one. */
export const STREAM_ENDED = -32_099

const SHORTEST_DELAY_MS = 1_000

export function createHttpTransport(
  sdk: McpSdk,
  server: { url: string; headers: Record<string, string> },
  deps: { fetch: typeof fetch; clock: Clock; version: string },
): StreamableHTTPClientTransport {
  const transport = new sdk.StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { 'user-agent': `quarterdeck/${deps.version}`, ...server.headers } },
    fetch: boundedFetch(deps.fetch),
    reconnectionOptions: {
      initialReconnectionDelay: SHORTEST_DELAY_MS,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 5,
    },
    // The server may name a delay. Without a lower limit it could make us ask in a tight loop.
    reconnectionScheduler: (reconnect, delay) => deps.clock.after(Math.max(delay, SHORTEST_DELAY_MS), reconnect),
  })
  const send = transport.send.bind(transport)
  // Without this, a call whose stream breaks off would wait for its whole timeout.
  transport.send = (message, options = {}) => {
    const id = requestId(message)
    if (id === undefined || options.onRequestStreamEnd !== undefined) return send(message, options)
    const onRequestStreamEnd = (): void =>
      transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: STREAM_ENDED, message: 'The stream ended.' } })
    return send(message, { ...options, onRequestStreamEnd })
  }
  return transport
}

function requestId(message: JSONRPCMessage | JSONRPCMessage[]): string | number | undefined {
  return !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined
}
