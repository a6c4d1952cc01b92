// MCP over Streamable HTTP: the SDK's transport, with limits on answers and on reconnecting.

import type {
  AuthProvider,
  FetchLike,
  JSONRPCMessage,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import type { Clock } from '../../../domain/clock.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { McpSdk } from './sdk.ts'

/** The JSON-RPC error code of an answer that we make up when the server's stream ends without one. */
export const STREAM_ENDED = -32_099

const SHORTEST_DELAY_MS = 1_000

export function createHttpTransport(
  sdk: McpSdk,
  server: { url: string; headers: Record<string, string> },
  deps: { fetch: typeof fetch; clock: Clock; version: string; signIn: SignIn | null },
): StreamableHTTPClientTransport {
  const { signIn } = deps
  const transport = new sdk.StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { 'user-agent': `quarterdeck/${deps.version}`, ...server.headers } },
    fetch: boundedFetch(deps.fetch),
    ...(signIn === null ? {} : { authProvider: authProvider(signIn), onInsufficientScope: 'throw' }),
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
    if (id === undefined || options.onRequestStreamEnd !== undefined) return sendWithRights(message, options)
    const onRequestStreamEnd = (): void =>
      transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: STREAM_ENDED, message: 'The stream ended.' } })
    return sendWithRights(message, { ...options, onRequestStreamEnd })
  }
  const sendWithRights: typeof send = async (message, options) => {
    try {
      await send(message, options)
    } catch (error) {
      if (signIn !== null && error instanceof sdk.InsufficientScopeError) {
        throw await signIn.lacks(error.requiredScope ?? '')
      }
      throw error
    }
  }
  return transport
}

function authProvider(signIn: SignIn): AuthProvider {
  let sent = ''
  return {
    async token() {
      sent = await signIn.token()
      return sent
    },
    onUnauthorized: () => signIn.refused(sent),
  }
}

function requestId(message: JSONRPCMessage | JSONRPCMessage[]): string | number | undefined {
  return !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined
}

// A fetch that limits the size of answers. The SDK reads a whole JSON body, or a whole event of a stream, into memory.

const MAX_BYTES = 10_000_000

export function boundedFetch(fetch: FetchLike, maxBytes: number = MAX_BYTES): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (response.body === null) return response
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(limit(maxBytes, isStream)), { status, statusText, headers })
  }
}

/** In a stream of events the limit is for each event. An empty line ends an event. */
function limit(maxBytes: number, eachEvent: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  let last = 0
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of eachEvent ? chunk : []) {
        if (byte === CARRIAGE_RETURN) continue
        size = byte === NEWLINE && last === NEWLINE ? 0 : size + 1
        last = byte
        if (size > maxBytes) break
      }
      if (!eachEvent) size += chunk.length
      if (size > maxBytes) throw new Error(`The answer is longer than ${maxBytes / 1_000_000} MB.`)
      controller.enqueue(chunk)
    },
  })
}

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
