import type http from 'node:http'
import { createServer } from 'node:http'

export interface Service {
  host: string
  port: number
  /** `http://address:port` */
  url: string
  /** Counts connections, also those that sent no request. */
  connections: number
  requests: { method: string; url: string; headers: http.IncomingHttpHeaders; body: string }[]
  close(): Promise<void>
}

export type Answer = (response: http.ServerResponse, request: http.IncomingMessage) => void

/** A real HTTP server on this machine. */
export async function openService(answer: Answer, host = '127.0.0.1', port = 0): Promise<Service> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      service.requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
      answer(response, request)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const service: Service = {
    host,
    port: address.port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    connections: 0,
    requests: [],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  server.on('connection', () => {
    service.connections += 1
  })
  return service
}

export function answerJson(response: http.ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}
