// The real program as a process of its own, so that it can be killed, starved and lied to. Everything that a test starts here
// ends with the test, whatever became of it.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { inject } from 'vitest'
import type { ScriptedAnswer } from '../../../src/models/scripted/script.ts'

export interface StartOptions {
  /** Of the yard when left out. */
  dataDir?: string
  flags?: readonly string[]
  /** Added to an environment that holds nothing of ours. */
  env?: Readonly<Record<string, string>>
  /** Where it starts; with agent.yaml if there is one. The folder of the yard when left out. */
  cwd?: string
  /** Options of Node, of those that the launcher would give. */
  nodeArgs?: readonly string[]
}

export interface TestServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** From the start of the process until it said that it is ready. */
  readonly readyMs: number
  readonly exited: Promise<Exit>
  /** What it has logged so far. */
  log(): string
  signal(signal: NodeJS.Signals): void
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<Exit>
  /** Resident bytes. */
  rss(): Promise<number>
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
  /** From the start of the process. */
  afterMs: number
  log: string
}

/** A server that ended instead of getting ready. */
export class DidNotStart extends Error {
  readonly exit: Exit
  constructor(exit: Exit) {
    super(`the server ended with ${exit.code ?? exit.signal} before it was ready:\n${exit.log}`)
    this.exit = exit
  }
}

export interface Yard {
  readonly directory: string
  readonly dataDir: string
  /** Throws `DidNotStart`. */
  start(options?: StartOptions): Promise<TestServer>
  /** What the model says from the next start on. */
  script(answers: readonly ScriptedAnswer[]): Promise<void>
}

export interface YardOptions {
  /** What the model says; it begins again behind the last one. */
  answers?: readonly ScriptedAnswer[]
  /** Instead of the scripted model. */
  model?: Record<string, unknown>
  /** More keys of agent.yaml. */
  agent?: Record<string, unknown>
  /** Files beside agent.yaml, by name. */
  files?: Readonly<Record<string, string>>
}

/** A folder with an agent in it and the servers that were started on it. `onEnd` is the test's `onTestFinished`. */
export async function openYard(onEnd: (clean: () => Promise<void>) => void, options: YardOptions = {}): Promise<Yard> {
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-crash-'))
  const start = serversIn(directory, onEnd)
  const dataDir = join(directory, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  const script = (answers: readonly ScriptedAnswer[]) =>
    writeFile(join(directory, 'script.json'), JSON.stringify({ loop: true, answers }))
  await script(options.answers ?? [HELLO])
  const agent = {
    name: 'crash',
    model: options.model ?? { provider: 'scripted', name: 'script', script: 'script.json' },
    instructions: { inline: 'You are a test.' },
    ...options.agent,
  }
  for (const [name, text] of Object.entries(options.files ?? {})) await writeFile(join(directory, name), text)
  // JSON is YAML.
  await writeFile(join(directory, 'agent.yaml'), JSON.stringify(agent))

  return { directory, dataDir, script, start }
}

/** Starts servers in a folder that has an agent.yaml. The servers end and the folder goes when `onEnd` says so. */
export function serversIn(directory: string, onEnd: (clean: () => Promise<void>) => void): Yard['start'] {
  const children = new Set<ChildProcess>()
  onEnd(async () => {
    await Promise.all([...children].map(end))
    await rm(directory, { recursive: true, force: true, maxRetries: 3 })
  })
  return (options = {}) => startServer(directory, { dataDir: join(directory, 'data'), ...options }, children)
}

const HELLO: ScriptedAnswer = { parts: [{ text: 'Hello.' }] }

function startServer(
  directory: string,
  { dataDir, cwd = directory, flags = [], env = {}, nodeArgs = [] }: StartOptions & { dataDir: string },
  children: Set<ChildProcess>,
): Promise<TestServer> {
  const began = performance.now()
  const agents = existsSync(join(cwd, 'agent.yaml')) ? ['agent.yaml'] : []
  const args = ['serve', ...agents, '--port', '0', '--data-dir', dataDir, '--log-format', 'json', ...flags]
  const program = inject('program')
  const child = spawn(process.execPath, [...nodeArgs, program, ...args], {
    cwd,
    // With a launcher's mark the program ends with whoever started it: a test run that is killed leaves nothing behind.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      // Otherwise the compiled code of each test run would stay in the user's cache.
      XDG_CACHE_HOME: join(dirname(program), '../cache'),
      QUARTERDECK_CONFIG_DIR: join(directory, 'config'),
      QUARTERDECK_RELAUNCHED: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  children.add(child)
  let log = ''
  let banner = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      children.delete(child)
      resolve({ code, signal, afterMs: performance.now() - began, log })
    })
  })

  return new Promise((resolve, reject) => {
    exited.then((exit) => reject(new DidNotStart(exit)), reject)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      banner += text
      const port = /Health\s+http:\/\/[^/]*:(\d+)\//.exec(banner)?.[1]
      if (port === undefined || !banner.includes('is ready')) return
      const pid = child.pid ?? 0
      resolve({
        url: `http://127.0.0.1:${port}`,
        port: Number(port),
        pid,
        readyMs: performance.now() - began,
        exited,
        log: () => log,
        signal: (signal) => void child.kill(signal),
        kill() {
          child.kill('SIGKILL')
          return exited
        },
        rss: () => residentBytes(pid),
      })
    })
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGKILL')
  await gone
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}
