import type { Server } from 'node:http'
import { createServer, type Server as NetServer, type Socket } from 'node:net'
import { ServerError } from '../domain/errors.ts'

export interface Listening {
  host: string
  port: number
  /** No more connections are taken; those of `server` itself are for it to close. */
  close(): void
}

/**
 * libuv takes one connection a turn of the event loop from each socket that listens, and with a thousand streams a turn takes 50 ms:
 * whoever came then waited for half a minute. So there are several, and the kernel deals the connections out to them.
 */
const SOCKETS = process.platform === 'linux' ? 16 : 1

/** Throws `config_invalid` with what to do. `failed` hears of later trouble, such as a process without file descriptors. */
export async function listen(
  server: Server,
  where: { host: string; port: number },
  failed: (error: Error) => void,
): Promise<Listening> {
  const { host, port } = await begin(server, where)
  const others: NetServer[] = []
  for (let i = 1; i < SOCKETS; i += 1) {
    // As node:http makes its own.
    const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
      server.emit('connection', socket)
    })
    await open(other, { host, port, reusePort: true })
    others.push(other)
  }
  for (const one of [server, ...others]) one.on('error', failed)
  return {
    host,
    port,
    close() {
      for (const other of others) other.close()
    },
  }
}

async function begin(server: Server, where: { host: string; port: number }): Promise<{ host: string; port: number }> {
  try {
    if (SOCKETS === 1) return await open(server, where)
    // Sockets that share a port do not mind others of the same user who do so, too. One that does not share finds out.
    const probe = createServer()
    const { port } = await open(probe, where)
    await new Promise((resolve) => probe.close(resolve))
    return await open(server, { host: where.host, port, reusePort: true })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw cannotListen(error, where.host, where.port)
  }
}

function open(
  server: NetServer,
  where: { host: string; port: number; reusePort?: boolean },
): Promise<{ host: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      const address = server.address()
      if (address === null || typeof address === 'string') reject(new Error('the server has no TCP address'))
      else resolve({ host: address.address, port: address.port })
    })
  })
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): ServerError {
  const reason = error.code ?? 'unknown'
  const fail = (message: string) =>
    new ServerError('config_invalid', message, { details: { host, port, reason }, cause: error })
  switch (reason) {
    case 'EADDRINUSE':
      return fail(
        `Port ${port} on ${host} is already in use. Choose another with --port, or --port 0 for any free one.`,
      )
    case 'EACCES':
      return fail(`Port ${port} on ${host} needs privileges this process lacks. Choose one above 1023 with --port.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return fail(`${host} is no address of this machine. Choose one with --host, for example 127.0.0.1.`)
    default:
      return fail(`The server cannot listen on ${host}, port ${port} (${reason}).`)
  }
}
