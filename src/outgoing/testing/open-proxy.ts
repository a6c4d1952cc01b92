import http from 'node:http'
import net from 'node:net'

interface TestProxy {
  port: number
  /** The requests it got: `CONNECT host:port` or `POST http://host/path`, with their credentials. */
  asked: { line: string; credentials: string | null }[]
  /** How many connections were made to it. */
  connections: number
  /** While true, it reads requests and closes their connections. */
  breaks: boolean
  close(): Promise<void>
}

/** A real proxy for CONNECT and for absolute addresses. It forwards every request to `port` of this machine. */
export async function openProxy(
  port: number,
  answer: { credentials?: string; connectStatus?: number; isSilent?: boolean } = {},
): Promise<TestProxy> {
  const { credentials, connectStatus = 200, isSilent = false } = answer
  const isAllowed = (request: http.IncomingMessage) =>
    credentials === undefined || request.headers['proxy-authorization'] === `Basic ${btoa(credentials)}`
  const note = (request: http.IncomingMessage) => {
    const [, encoded] = (request.headers['proxy-authorization'] ?? '').split(' ')
    const line = `${request.method} ${request.url}`
    proxy.asked.push({ line, credentials: encoded === undefined ? null : atob(encoded) })
  }
  const sockets = new Set<net.Socket>()
  const keep = (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  }
  const server = http.createServer((request, response) => {
    note(request)
    if (proxy.breaks) return void request.socket.destroy()
    if (!isAllowed(request)) return void response.writeHead(407).end()
    const { pathname, search } = new URL(request.url ?? '')
    const { method, headers } = request
    const forwarded = http.request(
      { host: '127.0.0.1', port, path: pathname + search, method, headers },
      (answered) => {
        response.writeHead(answered.statusCode ?? 500, answered.headers)
        answered.pipe(response)
      },
    )
    forwarded.on('error', () => response.writeHead(502).end())
    request.pipe(forwarded)
  })
  server.on('connect', (request, socket: net.Socket) => {
    note(request)
    if (isSilent) return
    if (!isAllowed(request)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    if (connectStatus !== 200) return void socket.end(`HTTP/1.1 ${connectStatus} No\r\n\r\n`)
    const to = net.connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(to).pipe(socket)
    })
    keep(to)
    socket.on('close', () => to.destroy())
  })
  server.on('connection', (socket) => {
    proxy.connections += 1
    keep(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const proxy: TestProxy = {
    port: address.port,
    asked: [],
    connections: 0,
    breaks: false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return proxy
}
