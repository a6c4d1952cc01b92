// Real Postgres servers on this machine, for tests and measurements. They write to disk as in production: durability is tested.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../src/http/testing/free-port.ts'
import { findPostgres, NO_POSTGRES } from './find-postgres.ts'

export interface PostgresServer {
  /** Of the database `postgres`, as its superuser. */
  readonly url: string
  readonly port: number
  readonly dir: string
  /** `fast` ends all connections and writes everything out. `immediate` is a crash: the next start recovers from the log. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>
  /** kill -9 of all its processes at once. */
  kill(): Promise<void>
  /** SIGSTOP of all its processes: connections stay open, and nobody answers. */
  pause(): void
  /** They go on where they were. */
  resume(): void
  /** Until `kill`, nothing is written to the disk that nobody waits for: the crash takes it. On Linux. */
  holdText(): Promise<void>
  /** Starts it again after `stop` or `kill`, on the same port. */
  start(): Promise<void>
  /** Stops it, if it runs, and removes its files. */
  discard(): Promise<void>
}

export interface PostgresOptions {
  /** The folder with its programs. Left out: the one that is found. */
  bin?: string
  /** A folder that has been initialized, or does not exist yet. Left out: a new one. */
  dir?: string
  settings?: Readonly<Record<string, string | number>>
  /** More variables of its environment. */
  env?: Readonly<Record<string, string>>
  /** Also the lines of its log. */
  log?: (line: string) => void
}

const run = promisify(execFile)

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { dir, settings = {}, env = {}, log, bin = findPostgres() } = options
  if (bin === null) throw new Error(NO_POSTGRES)
  const user = serverUser()
  const data = join(dir ?? mkdtempSync(join(tmpdir(), 'quarterdeck-postgres-')), 'data')
  if (!existsSync(data)) {
    mkdirSync(data, { recursive: true, mode: 0o700 })
    for (const folder of [data, join(data, '..')]) if (user !== null) chownSync(folder, user.uid, user.gid)
    const flags = ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C', '--no-sync']
    await run(join(bin, 'initdb'), [...flags, '-D', data], { ...user })
  }
  const start = async () => {
    const child = await launch(join(bin, 'postgres'), ['-D', data, ...given], port, { user, env, log })
    endWithUs(child, dir === undefined ? join(data, '..') : null)
    return child
  }
  const given = Object.entries({ ...defaults, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let port = await freePort()
  let process = await start().catch(async () => {
    // Another process may have taken the port meanwhile.
    port = await freePort()
    return start()
  })

  const server: PostgresServer = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    dir: join(data, '..'),
    async stop(mode = 'fast') {
      await ended(process, mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    },
    async kill() {
      // A stopped server makes no more processes.
      process.kill('SIGSTOP')
      const children = childrenOf(process.pid)
      const end = ended(process, 'SIGKILL')
      for (const pid of children) killOne(pid)
      await end
      // The next start is refused as long as one of them is there.
      while (children.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 5))
    },
    pause() {
      // A stopped server makes no more processes.
      process.kill('SIGSTOP')
      for (const pid of childrenOf(process.pid)) killOne(pid, 'SIGSTOP')
    },
    resume() {
      for (const pid of childrenOf(process.pid)) killOne(pid, 'SIGCONT')
      process.kill('SIGCONT')
    },
    async holdText() {
      if (!existsSync('/proc')) return
      const writer = () => childrenOf(process.pid).find((pid) => nameOf(pid).includes('walwriter'))
      while (writer() === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
      killOne(writer() ?? 0, 'SIGSTOP')
    },
    async start() {
      process = await start()
    },
    async discard() {
      await ended(process, 'SIGQUIT')
      rmSync(server.dir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return server
}

/** Small, because several servers may share a laptop. */
const defaults = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 100,
  shared_buffers: '32MB',
  // A checkpoint in the middle of a measurement is noise.
  checkpoint_timeout: '30min',
}

/** Postgres refuses to run as root. */
function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  const found = ['postgres', 'nobody'].flatMap((name) => users.find((line) => line.startsWith(`${name}:`)) ?? [])
  const [, , uid, gid] = found[0]?.split(':') ?? []
  if (uid === undefined || gid === undefined)
    throw new Error('Postgres does not run as root, and there is no other user.')
  return { uid: Number(uid), gid: Number(gid) }
}

/** Resolves when the server takes connections. */
function launch(
  program: string,
  args: readonly string[],
  port: number,
  how: {
    user: { uid: number; gid: number } | null
    env: Readonly<Record<string, string>>
    log: PostgresOptions['log'] | undefined
  },
): Promise<ChildProcess> {
  const { user, env, log = () => {} } = how
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args, '-p', String(port)], {
      ...user,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.trimEnd().split('\n')) log(line)
      if (said.length < 100_000) said += text
      if (text.includes('ready to accept')) resolve(child)
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`Postgres did not start:\n${said}`)))
  })
}

/**
 * However we end, also by kill -9, the server ends, and its folder is removed if it is only ours. A process beside it waits for the end
 * of a pipe that we hold. It is in a group of its own, because Ctrl-C kills the whole group.
 */
function endWithUs(server: ChildProcess, folder: string | null): void {
  const wait = 'for i in $(seq 100); do kill -0 "$1" && sleep 0.05 || break; done'
  const script = `cat; kill -QUIT "$1"; ${wait}; test -z "$2" || rm -rf "$2"`
  const args = ['-c', script, 'sh', String(server.pid), folder ?? '']
  const watchdog = spawn('sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  watchdog.unref()
  // Its number may soon belong to another process.
  server.once('exit', () => watchdog.kill('SIGKILL'))
}

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill(signal)
  })
}

function childrenOf(parent: number | undefined): number[] {
  if (parent === undefined || !existsSync('/proc')) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)?.parent === parent)
}

function statOf(pid: number): { state: string; parent: number } | null {
  try {
    const [state = '', parent = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return { state, parent: Number(parent) }
  } catch {
    return null
  }
}

/** A zombie has given back everything. */
export const isRunning = (pid: number): boolean => !['Z', 'X', undefined].includes(statOf(pid)?.state)

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

function killOne(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself.
  }
}
