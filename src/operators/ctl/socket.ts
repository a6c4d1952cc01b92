// The local socket of `quarterdeck ctl`: a place that only processes of this OS user can reach, without a port. On Windows it is a named
// pipe; that has never been tried.

import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, realpathSync, rmSync, type Stats } from 'node:fs'
import { connect } from 'node:net'
import { isAbsolute, join } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'

export interface CtlPlace {
  /** Our folder for what lives only as long as the server: the socket, and the configuration of started hosts. */
  runtimeDir: string
  /** What a client connects to. */
  path: string
}

export interface CtlPlaceOptions {
  /** The environment of the process, without any `.env`. */
  env: Readonly<Record<string, string | undefined>>
  configDir: string
  /** Must exist. */
  dataDir: string
  /** `ipc_name`. Null: a name made from the data directory. */
  ipcName: string | null
  platform: NodeJS.Platform
}

/** The longest path of a socket in bytes, without the zero at its end. macOS has space for 104 bytes, Linux for 108. */
const MAX_PATH: Partial<Record<NodeJS.Platform, number>> = { linux: 107 }
const SHORTEST_MAX_PATH = 103

/** Where the server listens and its commands look. Both must come to the same place, so it depends on nothing else. */
export function findCtlPlace({ env, configDir, dataDir, ipcName, platform }: CtlPlaceOptions): CtlPlace {
  const hash = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 16)
  const name = ipcName ?? hash
  const base = env.XDG_RUNTIME_DIR
  // The XDG specification says to ignore a relative path.
  const usual = base !== undefined && isAbsolute(base) ? join(base, 'quarterdeck') : join(configDir, 'run')
  if (platform === 'win32') return { runtimeDir: usual, path: `\\\\.\\pipe\\quarterdeck-${name}` }
  const path = join(usual, `${name}.sock`)
  if (Buffer.byteLength(path) <= (MAX_PATH[platform] ?? SHORTEST_MAX_PATH)) return { runtimeDir: usual, path }
  // The system cuts a longer path off or refuses it. Whoever else makes this folder first can only keep us from starting.
  const short = `/tmp/quarterdeck-${process.getuid?.() ?? 'user'}`
  return { runtimeDir: short, path: join(short, `${name}.sock`) }
}

/**
 * Makes the folder and the socket, which only this OS user can open. `listen` opens it. Removes a socket that a killed server left, but
 * never one that somebody answers. Throws `config_invalid`.
 */
export async function openCtlSocket(
  { runtimeDir, path }: CtlPlace,
  listen: (path: string) => Promise<void>,
): Promise<void> {
  makeRuntimeDir(runtimeDir)
  const isPipe = path.startsWith('\\\\')
  if (!isPipe) await removeStale(path)
  try {
    await listen(path)
  } catch (error) {
    throw problem(path, `it cannot be opened (${systemErrorCode(error) || String(error)})`, error)
  }
  // Nobody could reach it before: the folder is private.
  if (!isPipe) chmodSync(path, 0o600)
}

/** Throws `config_invalid` if somebody else can change the folder. */
export function makeRuntimeDir(path: string): void {
  let stat: Stats
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    stat = lstatSync(path)
  } catch (error) {
    throw problem(path, `it cannot be created (${systemErrorCode(error) || String(error)})`, error)
  }
  if (stat.isSymbolicLink()) throw problem(path, 'it is a symbolic link')
  if (!stat.isDirectory()) throw problem(path, 'it is not a folder')
  if (process.getuid !== undefined && stat.uid !== process.getuid()) throw problem(path, 'it belongs to another user')
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
    throw problem(path, `other users can look into it; run: chmod 700 ${path}`)
  }
}

async function removeStale(path: string): Promise<void> {
  let stat: Stats
  try {
    stat = lstatSync(path)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return
    throw problem(path, `it cannot be read (${systemErrorCode(error)})`, error)
  }
  if (!stat.isSocket()) throw problem(path, 'something else has this name. Remove it, then start again')
  const answer = await knock(path)
  if (answer === 'ok') {
    throw problem(path, 'another server answers there. Stop it, or set another ipc_name')
  }
  if (answer !== 'ECONNREFUSED' && answer !== 'ENOENT') throw problem(path, `it cannot be tried (${answer})`)
  rmSync(path, { force: true })
}

/** `ok` if somebody listens, otherwise the system's error code. */
function knock(path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve('ok')
    })
    socket.once('error', (error) => resolve(systemErrorCode(error)))
  })
}

const problem = (path: string, why: string, cause?: unknown): ServerError =>
  new ServerError('config_invalid', `The local socket cannot be opened at ${path}: ${why}.`, {
    details: { path },
    cause,
  })
