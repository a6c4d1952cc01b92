import net, { type Server, type Socket } from 'node:net'

export interface RawServer {
  port: number
  /** Every connection that was ever made. */
  sockets: Socket[]
  close(): Promise<void>
}

/** Makes `server` listen on a free port of this machine. */
export async function openServer(server: Server, host = '127.0.0.1'): Promise<RawServer> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  // As many as a test opens at once. A connection that finds no place tries again only after a second.
  await new Promise<void>((resolve) => server.listen({ port: 0, host, backlog: 4_096 }, resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    port: address.port,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** A server on plain sockets: the test writes the bytes of every answer. Requests must have no body. */
export function listenRaw(
  answer: (socket: Socket, request: { head: string; connection: number; count: number }) => void,
  host?: string,
): Promise<RawServer> {
  let connections = 0
  let count = 0
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    connections += 1
    const connection = connections
    let text = ''
    socket.on('end', () => socket.end())
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        const head = text.slice(0, end)
        text = text.slice(end + 4)
        count += 1
        answer(socket, { head, connection, count })
      }
    })
  })
  return openServer(server, host)
}

/** The bytes of an answer. */
export const answerOf = (body: string, headers = ''): string =>
  `HTTP/1.1 200 OK\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
