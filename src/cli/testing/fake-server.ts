import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

export interface SeenRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  /** The JSON body, or null. */
  body: unknown
}

export interface FakeServer {
  url: string
  seen: SeenRequest[]
  close(): Promise<void>
}

/** A server on a real socket that answers as the test says. */
export async function startFakeServer(
  answer: (request: SeenRequest, response: ServerResponse) => void | Promise<void>,
): Promise<FakeServer> {
  const seen: SeenRequest[] = []
  const server: Server = createServer(async (incoming, response) => {
    let text = ''
    for await (const chunk of incoming) text += chunk
    const request: SeenRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: text === '' ? null : JSON.parse(text),
    }
    seen.push(request)
    await answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

export function openSse(response: ServerResponse): (seq: number, event: Record<string, unknown>) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return (seq, event) => void response.write(`id: s.${seq}\ndata: ${JSON.stringify(event)}\n\n`)
}

/** Answers with JSON, as our routes do. */
export const sendJson = (response: ServerResponse, status: number, body: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** The events of a run that has ended, with the ids 1, 2, and so on. */
export function sendEvents(response: ServerResponse, ...events: Record<string, unknown>[]): void {
  const send = openSse(response)
  for (const [index, event] of events.entries()) send(index + 1, event)
  response.end()
}
