// The socket side of the model wires: one POST, its server-sent events, a pool of connections. Knows no provider.

import type { ClientRequest, OutgoingHttpHeaders } from 'node:http'
import type { Clock } from '../domain/clock.ts'
import { HttpConnectionError, HttpStatusError, readBody } from './http-answer.ts'
import { createPayloadStream, type PayloadStream } from './payload-stream.ts'

// As an ES module node:http brings all of undici along: 13 MB and 50 ms that nobody here uses.
const http = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')

export interface HttpRequest {
  url: string
  headers: Readonly<Record<string, string>>
  /** Sent as JSON. */
  body: unknown
}

export interface ModelHttp {
  /**
   * Begins with the first pull. Throws `HttpStatusError` for a status of 300 and more, `HttpContentError` for a body that is
   * no event stream, `HttpConnectionError` for the network. An abort destroys the socket and ends the iteration.
   */
  stream(request: HttpRequest, signal: AbortSignal): PayloadStream
  /** GETs and throws away the answer; throws like `stream`. */
  probe(request: Omit<HttpRequest, 'body'>, signal: AbortSignal): Promise<void>
  /** Closes the pool. */
  close(): void
}

export function createModelHttp({ clock }: { clock: Clock }): ModelHttp {
  const options = { keepAlive: true, scheduling: 'lifo', maxFreeSockets: 256 } as const
  const plain = new http.Agent(options)
  const secure = new https.Agent(options)

  const send = (url: string, method: string, headers: OutgoingHttpHeaders, body?: string): ClientRequest => {
    const request = url.startsWith('https:')
      ? https.request(url, { method, headers, agent: secure })
      : http.request(url, { method, headers, agent: plain })
    request.end(body)
    return request
  }

  return {
    stream(request, signal) {
      const body = JSON.stringify(request.body)
      const headers = {
        ...request.headers,
        accept: 'text/event-stream',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }
      return createPayloadStream(() => send(request.url, 'POST', headers, body), clock, signal)
    },
    probe: (request, signal) => probe(() => send(request.url, 'GET', request.headers), clock, signal),
    close() {
      plain.destroy()
      secure.destroy()
    },
  }
}

function probe(send: () => ClientRequest, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve()
    const begin = (again: boolean) => {
      const request = send()
      const abort = () => {
        request.destroy()
        resolve()
      }
      const settled = () => signal.removeEventListener('abort', abort)
      signal.addEventListener('abort', abort)
      request.once('response', (message) => {
        const answer = { status: message.statusCode ?? 0, headers: message.headers }
        if (answer.status >= 200 && answer.status < 300) {
          settled()
          message.on('error', () => {})
          message.resume()
          resolve()
          return
        }
        void readBody(message, clock).then((body) => {
          settled()
          reject(new HttpStatusError({ ...answer, body }))
        })
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        settled()
        if (again && request.reusedSocket && error.code === 'ECONNRESET') begin(false)
        else reject(new HttpConnectionError(error, false))
      })
    }
    begin(true)
  })
}
