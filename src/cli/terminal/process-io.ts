import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { type Clock, createSystemClock } from '../../domain/clock.ts'
import { credentialNames, credentialVariable } from '../../operators/credentials/credentials.ts'
import { createStrayErrors } from '../../tools/function/stray-errors.ts'
import { exitCodes } from '../exit-codes.ts'
import { programName } from '../program-name.ts'
import { reportError } from '../report-error.ts'
import type { Io, StopSignal } from './io.ts'
import { terminalLine } from './terminal-text.ts'

/**
 * The same signal often arrives twice: a terminal and systemd send it to the whole process group, and npm, npx and our launcher pass it
 * on. A second Ctrl-C by a person, or a second SIGTERM, comes later than this.
 */
const SAME_INTERRUPT_MS = 500
const SAME_TERMINATE_MS = 1_000

/** Our own secrets, and where some of them are kept. Tools and the programs that they start must not find them. */
export const ownVariables = [
  ...['QUARTERDECK_TOKEN', 'QUARTERDECK_OPERATOR_TOKEN', 'QUARTERDECK_CONFIG_DIR'],
  ...['QUARTERDECK_STORE', 'QUARTERDECK_TELEMETRY_HEADERS'],
  ...credentialNames.map(credentialVariable),
]

/** What the launcher in `bin` can do. */
export interface Launcher {
  /** Overwrites variables where the system shows those that the process began with; false if it cannot. */
  eraseVariables(names: readonly string[]): boolean
  tune: Io['tune']
}

const noLauncher: Launcher = { eraseVariables: () => true, tune: null }

const LONGEST_WARNING = 500

/** Warnings that need no action: experimental parts of Node, and a tool's module that was read twice because its package.json has no `type`. */
const isNoise = (warning: Error): boolean =>
  warning.name === 'ExperimentalWarning' || ('code' in warning && warning.code === 'MODULE_TYPELESS_PACKAGE_JSON')

export function createProcessIo(process: NodeJS.Process, launcher = noLauncher): Io {
  const env = { ...process.env }
  let isErased = true
  function forget(names: readonly string[]): boolean {
    const known = names.filter((name) => env[name] !== undefined)
    for (const name of known) delete process.env[name]
    if (known.length > 0) isErased = launcher.eraseVariables(known) && isErased
    return isErased
  }
  forget(ownVariables)
  const clock = createSystemClock()

  // A reader that stops early, like `| head`, is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? exitCodes.ok.code : reportError(error, io))
  })

  const crashListeners: ((error: unknown) => void)[] = []
  const strays = createStrayErrors()
  const crash = (error: unknown) => {
    // An uncaught error of a tool fails its call, not the server.
    if (strays.take(error)) return
    const listener = crashListeners.at(-1)
    if (listener === undefined) process.exit(exitCodes.internal.code)
    listener(error)
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)

  const warningListeners: ((text: string) => void)[] = []
  // Node's own text asks people to pass flags to node. It stays for those who did.
  if (!process.traceProcessWarnings) {
    process.removeAllListeners('warning')
    process.on('warning', (warning) => {
      if (isNoise(warning)) return
      const text = terminalLine(`${warning.name}: ${warning.message}`, LONGEST_WARNING)
      const listener = warningListeners.at(-1)
      if (listener === undefined) process.stderr.write(`warning: ${text}\n`)
      else listener(text)
    })
  }

  const io: Io = {
    tune: launcher.tune,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env,
    forget,
    cwd: process.cwd(),
    program(folder = env.INIT_CWD ?? process.cwd()) {
      const { pid, ppid, platform, argv } = process
      return programName({ script: argv[1] ?? '', cwd: folder, env, pid, ppid, hostname: hostname(), platform })
    },
    clock,
    strays,
    onSignal(listener, { hangUp } = { hangUp: false }) {
      let isOver = false
      const tell = (signal: StopSignal) => (): void => {
        if (!isOver) listener(signal)
      }
      const terminate = onceWithin(SAME_TERMINATE_MS, clock, tell('SIGTERM'))
      const handlers: [NodeJS.Signals, () => void][] = [
        ['SIGINT', onceWithin(SAME_INTERRUPT_MS, clock, tell('SIGINT'))],
        ['SIGTERM', terminate],
      ]
      if (hangUp) handlers.push(['SIGHUP', terminate])
      for (const [signal, handle] of handlers) process.on(signal, handle)
      return () => {
        isOver = true
        // When the last handler goes, Node drops a signal that has come and was not told yet. So whoever listens next comes first.
        setImmediate(() => {
          for (const [signal, handle] of handlers) process.off(signal, handle)
        })
      }
    },
    onCrash(listener) {
      crashListeners.push(listener)
      return () => void crashListeners.splice(crashListeners.indexOf(listener), 1)
    },
    onWarning(listener) {
      warningListeners.push(listener)
      return () => void warningListeners.splice(warningListeners.indexOf(listener), 1)
    },
    onEnter: (listener) => onEnter(process, listener),
    exit: (code) => process.exit(code),
    openUrl: (url) => openUrl(url, process.platform),
  }
  return io
}

/** Calls `listener` once for a series of calls that are less than `ms` apart. */
export function onceWithin(ms: number, clock: Clock, listener: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const now = clock.mono()
    const repeated = now - last < ms
    last = now
    if (!repeated) listener()
  }
}

/**
 * Calls `press` when somebody presses Enter at the terminal. The returned function ends that. Only the job in the foreground reads: the
 * system would stop one in the background (`serve &`, or Ctrl-Z and `bg`) as soon as it does. Nothing tells a job that runs that `fg` has
 * brought it back, so it does not read again then.
 */
function onEnter(process: NodeJS.Process, press: () => void): () => void {
  const { stdin } = process
  if (stdin.isTTY !== true) return () => {}
  const read = (chunk: Buffer | string): void => {
    if (/[\r\n]/.test(String(chunk))) press()
  }
  // The terminal was closed. A signal says so too.
  const ignore = (): void => {}
  const follow = (): void => void (isInForeground(process) ? stdin.resume() : stdin.pause())
  follow()
  stdin.on('data', read).on('error', ignore)
  if (process.platform !== 'win32') process.on('SIGCONT', follow)
  return () => {
    if (process.platform !== 'win32') process.off('SIGCONT', follow)
    stdin.off('data', read).off('error', ignore).pause()
  }
}

/** Whether our group of processes has the terminal. False if that is not known. */
function isInForeground({ pid, platform }: NodeJS.Process): boolean {
  if (platform === 'win32') return true
  try {
    const [group, owner] =
      platform === 'linux'
        ? readFileSync(`/proc/${pid}/stat`, 'utf8')
            .replace(/^.*\) /s, '')
            .split(' ')
            .filter((_, at) => at === 2 || at === 5)
        : execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(pid)], { encoding: 'utf8' })
            .trim()
            .split(/\s+/)
    return group !== undefined && group === owner
  } catch {
    return false
  }
}

/** The program that opens a page. Never a shell: a URL must not become a command. */
export function openerFor(url: string, platform: NodeJS.Platform): { program: string; args: string[] } | null {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    return null
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return null
  switch (platform) {
    case 'darwin':
      return { program: 'open', args: [parsed.href] }
    case 'win32':
      return { program: 'rundll32', args: ['url.dll,FileProtocolHandler', parsed.href] }
    default:
      return { program: 'xdg-open', args: [parsed.href] }
  }
}

/** False for a URL that is not for a browser. If the program is missing, nothing happens: the URL is on the screen anyway. */
function openUrl(url: string, platform: NodeJS.Platform): boolean {
  const opener = openerFor(url, platform)
  if (opener === null) return false
  const child = spawn(opener.program, opener.args, { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
  return true
}
