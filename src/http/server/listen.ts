import type { Server } from 'node:http'
import { createServer, type ListenOptions, type Server as NetServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { ServerError } from '../../domain/errors.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'

interface Address {
  host: string
  port: number
}

export interface Listening extends Address {
  /** Stops accepting connections on the extra sockets. The server closes its own. */
  close(): void
}

/**
 * libuv accepts one connection per turn of the event loop from each listening socket. With a thousand streams a turn takes 50 ms, and
 * new clients waited half a minute. So there are several sockets, and the kernel spreads the connections over them.
 */
const SOCKETS = process.platform === 'linux' ? 16 : 1

export interface ListenTarget {
  /** The server listens on all of them or fails. Addresses after the first are skipped if this machine does not have them. */
  hosts: readonly string[]
  /** 0: any port that is free on all hosts. */
  port: number
  /** No other program may open the same port, also none of the same user. New clients then wait longer while a thousand streams run. */
  isExclusive?: boolean
}

/**
 * Throws `config_invalid` and says what to do. `failed` is called for later errors, such as no file descriptors left. `sockets` is the
 * largest number of sockets on each address. Where ports cannot be shared, there is one.
 */
export async function listen(
  server: Server,
  target: ListenTarget,
  failed: (error: Error) => void,
  sockets: number = SOCKETS,
): Promise<Listening> {
  const lock = sockets === 1 || target.isExclusive ? null : await lockListening()
  try {
    const { opened, addresses } = await openOnFreePort(server, target, lock === null ? 1 : sockets)
    for (const one of opened) one.on('error', failed)
    const [{ host, port } = { host: '', port: 0 }] = addresses
    return {
      host,
      port,
      close() {
        for (const one of opened) if (one !== server) one.close()
      },
    }
  } catch (error) {
    throw error instanceof Error ? cannotListen(error, target) : error
  } finally {
    lock?.close()
  }
}

const PORT_TRIES = 20

/** Tries again with another port: a free port can be taken a moment later, or be in use on the other address. */
async function openOnFreePort(server: Server, target: ListenTarget, sockets: number) {
  for (let i = 1; ; i += 1) {
    try {
      // A port of its own cannot be opened twice. One that is shared has to be looked at before.
      const port = sockets === 1 ? target.port : await findFreePort(server, target)
      return await openAll(server, { ...target, port }, sockets)
    } catch (error) {
      if (target.port !== 0 || systemErrorCode(error) !== 'EADDRINUSE' || i === PORT_TRIES) throw error
    }
  }
}

/** Opens all sockets or none. With `sockets` 1 the port is not shared, because two servers of one user could end up sharing it. */
async function openAll(server: Server, { hosts, port }: ListenTarget, sockets: number) {
  const opened: NetServer[] = []
  const addresses: Address[] = []
  try {
    for (const host of hosts) {
      const first = opened.length === 0 ? server : createExtraListener(server)
      const wanted = { host, port: addresses[0]?.port ?? port }
      const shared = sockets === 1 ? null : await openShared(first, wanted)
      const address = shared ?? (await unlessMissing(open(first, wanted), addresses))
      if (address === null) continue
      opened.push(first)
      addresses.push(address)
      if (shared !== null) opened.push(...(await openMore(server, address, sockets - 1)))
    }
    return { opened, addresses }
  } catch (error) {
    closeAll(opened)
    throw error
  }
}

/** Null if this machine does not have the address, and there is another one. */
async function unlessMissing(opening: Promise<Address>, others: readonly Address[]): Promise<Address | null> {
  try {
    return await opening
  } catch (error) {
    if (others.length > 0 && isNoAddress(error)) return null
    throw error
  }
}

const LOCK_TRIES = 200
const LOCK_PAUSE_MS = 5

/**
 * A shared port can also be opened by another process of the same user. A check before finds servers that are already there. Of two
 * servers that check at the same moment, the second waits for this lock until the first has its port. The lock is a socket whose name is
 * in no folder, and the kernel frees it when the process ends. Null if such names do not exist here, or if somebody keeps the lock.
 */
async function lockListening(): Promise<NetServer | null> {
  const path = `\0quarterdeck-listen-${process.geteuid?.() ?? 0}`
  for (let i = 0; i < LOCK_TRIES; i += 1) {
    const lock = createServer((socket) => socket.destroy())
    try {
      await startListening(lock, { path })
      return lock
    } catch (error) {
      if (systemErrorCode(error) !== 'EADDRINUSE') return null
    }
    await setTimeout(LOCK_PAUSE_MS)
  }
  return null
}

/** Finds a port that is free on all hosts, using sockets that do not share. Whoever connects to one of them is a client already. */
async function findFreePort(server: Server, { hosts, port }: ListenTarget): Promise<number> {
  const probes: NetServer[] = []
  const addresses: Address[] = []
  try {
    for (const host of hosts) {
      const probe = createExtraListener(server)
      // A connection that is not accepted when the probe closes is cut. One that does not fit into the queue is tried again by its client.
      const wanted = { host, port: addresses[0]?.port ?? port, backlog: 1 }
      const address = await unlessMissing(open(probe, wanted), addresses)
      if (address === null) continue
      probes.push(probe)
      addresses.push(address)
    }
    return addresses[0]?.port ?? port
  } finally {
    closeAll(probes)
  }
}

/** The ports are free at once. Connections that were accepted go on, so nothing waits for their end. */
function closeAll(servers: readonly NetServer[]): void {
  for (const one of servers) one.close()
}

/** True if this machine has no such address, for example `::1` when IPv6 is off. */
export const isNoAddress = (error: unknown): boolean =>
  ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(systemErrorCode(error))

/** Null if the kernel cannot share ports. Not every kernel that calls itself Linux can. */
async function openShared(server: NetServer, at: Address): Promise<Address | null> {
  try {
    return await open(server, { ...at, reusePort: true })
  } catch (error) {
    if (systemErrorCode(error) === 'EADDRINUSE') throw error
    return null
  }
}

/** Opens as many as possible. The first socket is enough to serve. */
async function openMore(server: Server, at: Address, count: number): Promise<NetServer[]> {
  const others: NetServer[] = []
  for (let i = 0; i < count; i += 1) {
    const other = createExtraListener(server)
    try {
      await open(other, { ...at, reusePort: true })
    } catch {
      break
    }
    others.push(other)
  }
  return others
}

/** A listening socket that hands its connections to `server`, with the same options as node:http. */
const createExtraListener = (server: Server): NetServer =>
  createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
    server.emit('connection', socket)
  })

async function open(server: NetServer, at: Address & { reusePort?: boolean; backlog?: number }): Promise<Address> {
  await startListening(server, at)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP address')
  return { host: address.address, port: address.port }
}

/** Rejects with what the system says, and the host it is about. */
export function startListening(server: NetServer, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(Object.assign(error, { host: options.host }))
    server.once('error', failed)
    server.listen(options, () => {
      server.off('error', failed)
      resolve()
    })
  })
}

function cannotListen(error: NodeJS.ErrnoException & { host?: string }, { hosts, port }: ListenTarget): ServerError {
  const reason = error.code ?? 'unknown'
  const host = error.host ?? hosts.join(', ')
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
      return fail(`${host} is not an address of this machine. Choose one with --host, for example 127.0.0.1.`)
    default:
      return fail(`The server cannot listen on ${host}, port ${port} (${reason}).`)
  }
}
