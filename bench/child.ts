import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** A running program. Its output is kept, so that a failure can be explained. */
export interface Child {
  readonly name: string
  readonly pid: number
  /** The first line of its output. Rejects with its error output when it ends before that. */
  firstLine(): Promise<string>
  /** Its whole output, once it has ended. Rejects with its error output when it failed. */
  output(): Promise<string>
  /** False once it has ended. */
  running(): boolean
  /** The end of its error output. */
  errors(): string
  /** Sends SIGTERM, and SIGKILL if the program still runs after 10 s. */
  stop(): Promise<void>
}

interface ChildOptions {
  name: string
  /** Arguments of Node: its own options, the script, the script's arguments. */
  args: readonly string[]
  /** The cores that it may use, as `taskset` takes them, or null for any core. */
  core: string | null
  env?: Record<string, string>
  cwd?: string
}

const KEPT_ERRORS = 4000

export function startChild(options: ChildOptions): Child {
  const { name, args, core } = options
  const command = core === null ? process.execPath : 'taskset'
  const spawned = spawn(command, core === null ? args : ['-c', core, process.execPath, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  return watch(name, spawned)
}

function watch(name: string, child: ChildProcess): Child {
  let out = ''
  let err = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err = (err + text).slice(-KEPT_ERRORS)
  })
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(`could not be started: ${error.message}`))
    child.on('close', (code, signal) => resolve(`ended with ${signal ?? `exit code ${code}`}`))
  })
  const failure = (how: string): Error => new Error(`${name} ${how}\n${err}`)
  const running = (): boolean => child.pid !== undefined && child.exitCode === null && child.signalCode === null

  return {
    name,
    pid: child.pid ?? -1,
    async firstLine() {
      const stream = child.stdout
      while (!out.includes('\n') && stream !== null) {
        const how = await Promise.race([ended, once(stream, 'data').then(() => null)])
        if (how !== null && !out.includes('\n')) throw failure(how)
      }
      return out.slice(0, out.indexOf('\n'))
    },
    async output() {
      const how = await ended
      if (child.exitCode !== 0) throw failure(how)
      return out
    },
    running,
    errors: () => err,
    async stop() {
      if (!running()) return
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(timer)
    },
  }
}
