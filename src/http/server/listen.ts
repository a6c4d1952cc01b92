import type { Server } from 'node:http'
import { createServer, type ListenOptions, type Server as NetServer, type Socket } from 'node:net'
import { ServerError } from '../../domain/errors.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { copyListening, type ListeningCopy } from './copy-listening.ts'

interface Address {
  host: string
  port: number
}

export interface Listening extends Address {
  /** Stops accepting connections on the extra descriptors. The server closes its own. */
  close(): Promise<void>
}

/**
 * How many connections wait in the kernel until they are accepted; the system may allow fewer. A client that finds no room tries again
 * after 1, 3, 7, 15 and 31 s.
 */
const BACKLOG = 4096

/** A server that has accepted so many connections gets more descriptors to accept from. Few servers on a laptop do. */
const BUSY = 64
const COPIES = 15

export interface ListenTarget {
  /** The server listens on all of them or fails. Addresses after the first are skipped if this machine does not have them. */
  hosts: readonly string[]
  /** 0: any port that is free on all hosts. */
  port: number
}

/**
 * No other program can open the same port, also none of the same user. Throws `config_invalid` and says what to do. `failed` is called
 * for later errors, such as no file descriptors left.
 */
export async function listen(server: Server, target: ListenTarget, failed: (error: Error) => void): Promise<Listening> {
  try {
    const { opened, addresses } = await openOnFreePort(server, target)
    for (const one of opened) one.on('error', failed)
    const [{ host, port } = { host: '', port: 0 }] = addresses
    return { host, port, close: copyWhenBusy(server, opened, failed) }
  } catch (error) {
    throw error instanceof Error ? cannotListen(error, target) : error
  }
}

/** Returns what closes all listeners but the server itself. */
function copyWhenBusy(server: Server, opened: readonly NetServer[], failed: (error: Error) => void) {
  const others = opened.filter((one) => one !== server)
  const closing = new AbortController()
  let copying: Promise<void> | null = null
  let accepted = 0

  function take(copy: ListeningCopy): void {
    const other = createExtraListener(server)
    others.push(other)
    other.on('error', failed).listen(copy)
  }

  function count(): void {
    accepted += 1
    if (accepted < BUSY) return
    server.off('connection', count)
    copying = copyListening(opened, COPIES, take, closing.signal)
  }

  // Other systems are not tried out.
  if (process.platform === 'linux') server.on('connection', count)
  return async () => {
    server.off('connection', count)
    closing.abort()
    await copying
    closeAll(others)
  }
}

const PORT_TRIES = 20

/** Tries again with another port: a port that is free on one address can be in use on the other. */
async function openOnFreePort(server: Server, target: ListenTarget) {
  for (let i = 1; ; i += 1) {
    try {
      return await openAll(server, target)
    } catch (error) {
      if (target.port !== 0 || systemErrorCode(error) !== 'EADDRINUSE' || i === PORT_TRIES) throw error
    }
  }
}

/** Opens all addresses or none. */
async function openAll(server: Server, { hosts, port }: ListenTarget) {
  const opened: NetServer[] = []
  const addresses: Address[] = []
  try {
    for (const host of hosts) {
      const one = opened.length === 0 ? server : createExtraListener(server)
      const address = await unlessMissing(open(one, { host, port: addresses[0]?.port ?? port }), addresses)
      if (address === null) continue
      opened.push(one)
      addresses.push(address)
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

/** The ports are free at once. Connections that were accepted go on, so nothing waits for their end. */
function closeAll(servers: readonly NetServer[]): void {
  for (const one of servers) one.close()
}

/** True if this machine has no such address, for example `::1` when IPv6 is off. */
export const isNoAddress = (error: unknown): boolean =>
  ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(systemErrorCode(error))

/** A listening socket that hands its connections to `server`, with the same options as node:http. */
const createExtraListener = (server: Server): NetServer =>
  createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
    server.emit('connection', socket)
  })

async function open(server: NetServer, at: Address): Promise<Address> {
  await startListening(server, { ...at, backlog: BACKLOG })
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
