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

/**
 * Throws `config_invalid` with what to do. `failed` hears of later trouble, such as a process without file descriptors. `sockets` is
 * how many there are at most: where ports cannot be shared one has to do.
 */
export async function listen(
  server: Server,
  where: Where,
  failed: (error: Error) => void,
  sockets: number = SOCKETS,
): Promise<Listening> {
  const { host, port, isShared } = await begin(server, where, sockets)
  const others = isShared ? await openMore(server, { host, port }, sockets - 1) : []
  for (const one of [server, ...others]) one.on('error', failed)
  return {
    host,
    port,
    close() {
      for (const other of others) other.close()
    },
  }
}

interface Where {
  host: string
  port: number
}

async function begin(server: Server, where: Where, sockets: number): Promise<Where & { isShared: boolean }> {
  try {
    if (sockets === 1) return { ...(await open(server, where)), isShared: false }
    // Sockets that share a port do not mind others of the same user who do so, too. One that does not share finds out.
    const probe = createServer()
    const { port } = await open(probe, where)
    await new Promise((resolve) => probe.close(resolve))
    try {
      return { ...(await open(server, { host: where.host, port, reusePort: true })), isShared: true }
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') throw error
      // Not every kernel that calls itself Linux can share a port.
      return { ...(await open(server, { host: where.host, port })), isShared: false }
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw cannotListen(error, where.host, where.port)
  }
}

/** As many as there can be: the first one is enough to serve. */
async function openMore(server: Server, where: Where, count: number): Promise<NetServer[]> {
  const others: NetServer[] = []
  for (let i = 0; i < count; i += 1) {
    // As node:http makes its own.
    const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
      server.emit('connection', socket)
    })
    try {
      await open(other, { ...where, reusePort: true })
    } catch {
      break
    }
    others.push(other)
  }
  return others
}

function open(server: NetServer, where: Where & { reusePort?: boolean }): Promise<Where> {
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
