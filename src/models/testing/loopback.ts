import http from 'node:http'
import type { Socket } from 'node:net'

export interface Loopback {
  url: string
  /** All connections so far. */
  sockets: Socket[]
  /** The parsed bodies of the requests. */
  bodies: unknown[]
  requests: { method: string; url: string; headers: http.IncomingHttpHeaders }[]
  close(): Promise<void>
}

/** A real server on a free port of this machine. */
export async function listen(
  answer: (response: http.ServerResponse, request: http.IncomingMessage, count: number) => void,
): Promise<Loopback> {
  const sockets: Socket[] = []
  const bodies: unknown[] = []
  const requests: Loopback['requests'] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      bodies.push(text === '' ? null : JSON.parse(text))
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
      answer(response, request, requests.length)
    })
  })
  server.on('connection', (socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    sockets,
    bodies,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export const sse = (payloads: readonly string[]): string => payloads.map((payload) => `data: ${payload}\n\n`).join('')

export function sendStream(response: http.ServerResponse, payloads: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(sse(payloads))
}
