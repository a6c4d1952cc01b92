import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { terminalLine } from '../../terminal/terminal-text.ts'

export interface PortHolder {
  pid: number
  /** Its command line, one line, cut to what fits on a screen. */
  command: string
}

/** Which process listens on `port`; null when it cannot be seen (another user's process, or not Linux). */
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
  // Another process chose these characters; none of them may steer the terminal.
  return terminalLine(command, 80)
}

const readOrEmpty = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')
