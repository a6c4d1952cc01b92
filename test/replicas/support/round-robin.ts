import { connect, createServer, type Socket } from 'node:net'

/** A proxy that knows nothing: each connection goes to the next server in turn, and to the one after it if nobody listens there. */
export interface RoundRobin {
  readonly url: string
  /** The ports behind it, from now on. */
  set(ports: readonly number[]): void
  close(): Promise<void>
}

export async function startRoundRobin(): Promise<RoundRobin> {
  const sockets = new Set<Socket>()
  let ports: readonly number[] = []
  let turn = 0

  function pass(client: Socket, triesLeft: number): void {
    turn += 1
    const port = ports[turn % Math.max(1, ports.length)]
    if (port === undefined || triesLeft === 0) return void client.destroy()
    const upstream = connect(port, '127.0.0.1')
    keep(upstream)
    upstream.once('connect', () => {
      client.pipe(upstream).pipe(client)
      // Whoever breaks off is broken off at the other end too: half a stream must not look like a whole one.
      upstream.on('error', () => client.resetAndDestroy())
      upstream.on('close', () => client.destroy())
      client.on('close', () => upstream.destroy())
    })
    upstream.once('error', () => {
      if (upstream.pending) pass(client, triesLeft - 1)
    })
  }

  function keep(socket: Socket): void {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }

  const server = createServer((client) => {
    keep(client)
    pass(client, ports.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : null
  return {
    url: `http://127.0.0.1:${port}`,
    set(next) {
      ports = next
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
