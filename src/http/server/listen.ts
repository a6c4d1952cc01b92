import type { Server } from 'node:http'
import { createServer, type ListenOptions, type Server as NetServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { ServerError } from '../../domain/errors.ts'

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

export interface ListenTarget {
  /** All of them or none. Those behind the first are left out on a machine that does not have them. */
  hosts: readonly string[]
  /** 0: any that is free on all of them. */
  port: number
}

/**
 * Throws `config_invalid` with what to do. `failed` hears of later trouble, such as a process without file descriptors. `sockets` is
 * how many there are at most on each address: where ports cannot be shared one has to do.
 */
export async function listen(
  server: Server,
  where: ListenTarget,
  failed: (error: Error) => void,
  sockets: number = SOCKETS,
): Promise<Listening> {
  const turn = sockets === 1 ? null : await takeTurn()
  try {
    const { opened, places } = await openAnywhere(server, where, turn === null ? 1 : sockets)
    for (const one of opened) one.on('error', failed)
    const [{ host, port } = { host: '', port: 0 }] = places
    return {
      host,
      port,
      close() {
        for (const one of opened) if (one !== server) one.close()
      },
    }
  } catch (error) {
    throw error instanceof Error ? cannotListen(error, where) : error
  } finally {
    turn?.close()
  }
}

const PORT_TRIES = 20

/** A free port may belong to somebody else a moment later, or on the other address: then another one is tried. */
async function openAnywhere(server: Server, where: ListenTarget, sockets: number) {
  for (let i = 1; ; i += 1) {
    try {
      const places = await findPlaces(where)
      return { places, opened: await openAll(server, places, sockets) }
    } catch (error) {
      if (where.port !== 0 || codeOf(error) !== 'EADDRINUSE' || i === PORT_TRIES) throw error
    }
  }
}

/** All of them, or none. `sockets`: 1 where the port must not be shared, since two servers of one user could come to share it. */
async function openAll(server: Server, places: readonly Place[], sockets: number): Promise<NetServer[]> {
  const opened: NetServer[] = []
  try {
    for (const place of places) {
      const first = opened.length === 0 ? server : createFeeder(server)
      const isShared = sockets > 1 && (await openShared(first, place))
      if (!isShared) await open(first, place)
      opened.push(first)
      if (isShared) opened.push(...(await openMore(server, place, sockets - 1)))
    }
    return opened
  } catch (error) {
    await closed(opened)
    throw error
  }
}

interface Place {
  host: string
  port: number
}

const TURN_TRIES = 200
const TURN_PAUSE_MS = 5

/**
 * Sockets that share a port do not mind others of the same user who do so, too. A look at the port before finds those that are there; of two
 * servers that look at the same moment, the second waits here until the first has its port. The name is in no folder, and the kernel frees it
 * with the process. Null where there are no such names, or somebody keeps this one.
 */
async function takeTurn(): Promise<NetServer | null> {
  const path = `\0quarterdeck-listen-${process.geteuid?.() ?? 0}`
  for (let i = 0; i < TURN_TRIES; i += 1) {
    const turn = createServer((socket) => socket.destroy())
    try {
      await listening(turn, { path })
      return turn
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') return null
    }
    await setTimeout(TURN_PAUSE_MS)
  }
  return null
}

/** Where the server can be, by sockets that share with nobody. */
async function findPlaces({ hosts, port }: ListenTarget): Promise<Place[]> {
  const probes: NetServer[] = []
  const places: Place[] = []
  try {
    for (const host of hosts) {
      const probe = createServer()
      try {
        places.push(await open(probe, { host, port: places[0]?.port ?? port }))
        probes.push(probe)
      } catch (error) {
        if (places.length === 0 || !isNoAddress(error)) throw error
      }
    }
    return places
  } finally {
    await closed(probes)
  }
}

const closed = (servers: readonly NetServer[]) =>
  Promise.all(servers.map((one) => new Promise((resolve) => one.close(resolve))))

/** Whether this machine has no such address, as `::1` where IPv6 is off. */
export const isNoAddress = (error: unknown): boolean => ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(codeOf(error))

/** False where the kernel cannot: not every one that calls itself Linux can share a port. */
async function openShared(server: NetServer, place: Place): Promise<boolean> {
  try {
    await open(server, { ...place, reusePort: true })
    return true
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') throw error
    return false
  }
}

/** As many as there can be: the first one is enough to serve. */
async function openMore(server: Server, place: Place, count: number): Promise<NetServer[]> {
  const others: NetServer[] = []
  for (let i = 0; i < count; i += 1) {
    const other = createFeeder(server)
    try {
      await open(other, { ...place, reusePort: true })
    } catch {
      break
    }
    others.push(other)
  }
  return others
}

/** Its connections are `server`'s. As node:http makes its own. */
const createFeeder = (server: Server): NetServer =>
  createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
    server.emit('connection', socket)
  })

async function open(server: NetServer, place: Place & { reusePort?: boolean }): Promise<Place> {
  await listening(server, place)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP address')
  return { host: address.address, port: address.port }
}

function listening(server: NetServer, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(Object.assign(error, { host: options.host }))
    server.once('error', failed)
    server.listen(options, () => {
      server.off('error', failed)
      resolve()
    })
  })
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

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
