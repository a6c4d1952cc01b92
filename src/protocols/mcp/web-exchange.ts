// Between our HTTP layer and the web-standard requests and responses of the MCP SDK. Our layer stays in charge of limits, slow readers
// and keep-alive; the SDK never sees a credential.

import { ClientGone } from '../../http/client-gone.ts'
import type { Reply, Request } from '../../http/route.ts'

const PASSED_ON = /^(?:accept|content-type|last-event-id|mcp-.+)$/

/** The body is not in it: it has been read and parsed. Its signal aborts when the client has gone. */
export function webRequest(request: Request): globalThis.Request {
  const headers = new Headers()
  for (const name of Object.keys(request.raw.headers)) {
    if (PASSED_ON.test(name)) headers.set(name, request.header(name) ?? '')
  }
  return new globalThis.Request(`http://localhost${request.path}`, {
    method: request.method,
    headers,
    signal: request.signal,
  })
}

/** Resolves when all is sent, or the client has gone. */
export async function sendWebResponse(response: globalThis.Response, request: Request, reply: Reply): Promise<void> {
  const sessionId = response.headers.get('mcp-session-id')
  const headers = sessionId === null ? {} : { 'Mcp-Session-Id': sessionId }
  const contentType = response.headers.get('content-type') ?? ''
  if (response.body === null) return reply.empty(response.status, headers)
  if (!contentType.startsWith('text/event-stream')) {
    const allow = response.headers.get('allow')
    const more = allow === null ? headers : { ...headers, Allow: allow }
    return reply.text(response.status, await response.text(), contentType, more)
  }
  const reader = response.body.getReader()
  const leave = () => void reader.cancel().catch(() => {})
  request.signal.addEventListener('abort', leave, { once: true })
  try {
    const stream = reply.sse(headers)
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) await stream.write(chunk.value)
  } catch (error) {
    leave()
    if (!(error instanceof ClientGone)) throw error
  } finally {
    request.signal.removeEventListener('abort', leave)
  }
}
