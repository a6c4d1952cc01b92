import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

// Not imported: as an ES module node:http loads all of Node's fetch.
const { request: send } = process.getBuiltinModule('node:http')

/** `fetch` through the local socket at this path. It takes what our client sends: text bodies, plain headers and a signal. */
export function createSocketFetch(socketPath: string): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(String(input instanceof Request ? input.url : input))
    const { signal } = init
    signal?.throwIfAborted()
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = send({
        socketPath,
        path: url.pathname + url.search,
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        agent: false,
        ...(signal ? { signal } : {}),
      })
      request.once('response', resolve)
      request.once('error', reject)
      request.end(typeof init.body === 'string' ? init.body : undefined)
    })
    const { statusCode = 502, headers } = response
    const plain = Object.entries(headers).map(([name, value]): [string, string] => [name, [value].flat().join(', ')])
    const hasBody = statusCode !== 204 && statusCode !== 304
    if (!hasBody) response.resume()
    return new Response(hasBody ? webStream(response) : null, { status: statusCode, headers: plain })
  }
}

/** A connection that breaks off makes the reader fail. Node's own conversion types its chunks as `any`. */
function webStream(source: IncomingMessage): ReadableStream<Uint8Array> {
  return Readable.toWeb(source) as ReadableStream<Uint8Array>
}
