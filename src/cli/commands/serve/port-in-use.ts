import { readdir, readFile, readlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { isNoAddress } from '../../../http/server/listen.ts'
import { type CliError, unavailable } from '../../cli-error.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'

/** Whether listening failed because another process uses the port. The cause may be inside one of our own errors. */
export function isPortInUse(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && current.code === 'EADDRINUSE') return true
  }
  return false
}

/** Names the process that uses the port, and a free port. */
export async function portInUse(
  hosts: readonly string[],
  port: number,
  findHolder: (port: number) => Promise<PortHolder | null> = findPortHolder,
): Promise<CliError> {
  const holder = await findHolder(port)
  const who = holder === null ? 'another process' : `${holder.command} (pid ${holder.pid})`
  const host = (await takenHost(hosts, port)) ?? hosts[0]
  const free = await findFreePort(hosts, port)
  const mend = free === null ? ['Let the system choose a port: --port 0'] : [`This port is free: --port ${free}`]
  return unavailable(`Port ${port} on ${host} is in use by ${who}.`, mend)
}

/** The first address on which the port is taken, or null. Only the first address must exist on this machine. */
export async function takenHost(hosts: readonly string[], port: number): Promise<string | null> {
  for (const [i, host] of hosts.entries()) {
    const trouble = await tryPort(host, port)
    if (trouble !== null && (i === 0 || !isNoAddress(trouble))) return host
  }
  return null
}

function tryPort(host: string, port: number): Promise<Error | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

/** The first free port after `port`. Null if the next fifty are taken. */
export async function findFreePort(hosts: readonly string[], port: number): Promise<number | null> {
  for (let candidate = port + 1; candidate <= Math.min(port + 50, 65_535); candidate += 1) {
    if ((await takenHost(hosts, candidate)) === null) return candidate
  }
  return null
}

interface PortHolder {
  pid: number
  /** Its command line, shortened to fit on a screen. */
  command: string
}

/** The process that listens on `port`. Null if it cannot be seen: another user's process, or not Linux. */
export async function findPortHolder(port: number, proc = '/proc'): Promise<PortHolder | null> {
  const inodes = new Set<string>()
  for (const table of ['tcp', 'tcp6']) {
    for (const inode of listeningInodes(await readOrEmpty(join(proc, 'net', table)), port)) inodes.add(inode)
  }
  if (inodes.size === 0) return null

  const names = await readdir(proc).catch(() => [])
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue
    if (await holdsSocket(join(proc, name, 'fd'), inodes)) {
      return { pid: Number(name), command: await commandOf(join(proc, name)) }
    }
  }
  return null
}

// Columns of /proc/net/tcp: sl, local address:port in hex, remote, state (0A = LISTEN), …, inode at index 9.
function listeningInodes(table: string, port: number): string[] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  return table.split('\n').flatMap((line) => {
    const columns = line.trim().split(/\s+/)
    const inode = columns[9]
    return columns[1]?.endsWith(`:${hexPort}`) && columns[3] === '0A' && inode !== undefined ? [inode] : []
  })
}

async function holdsSocket(folder: string, inodes: ReadonlySet<string>): Promise<boolean> {
  const descriptors = await readdir(folder).catch(() => [])
  for (const descriptor of descriptors) {
    const target = await readlink(join(folder, descriptor)).catch(() => '')
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1]
    if (inode !== undefined && inodes.has(inode)) return true
  }
  return false
}

async function commandOf(folder: string): Promise<string> {
  const line = (await readOrEmpty(join(folder, 'cmdline'))).split('\0').join(' ')
  const command = line.trim() || (await readOrEmpty(join(folder, 'comm'))).trim()
  // Another process chose these characters; they must not control the terminal.
  return terminalLine(command, 80)
}

const readOrEmpty = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')
