// One real host in a workspace of its own, connected to a real server as a person would do it.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Host, programOf } from './hosts.ts'
import { type ScriptedModel, type Step, startScriptedModel } from './scripted-model.ts'
import { OPERATOR_TOKEN, type Supervisor, startSupervisor } from './supervisor.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/quarterdeck.js', import.meta.url))

export interface Yard extends HostAtWork, AsyncDisposable {
  home: string
  workspace: string
  supervisor: Supervisor
}

/** A host that is connected to a server in its folder. */
export interface HostAtWork {
  /** Runs the host until it ends. */
  run(script: Script, options?: RunOptions): Promise<Ended>
  start(script: Script, options?: RunOptions): Promise<Running>
  /** Claude Code as a person sees it, in a terminal of tmux. It is asked to begin. */
  terminal(script: Script): Promise<Terminal>
  /** The text of a file in the workspace, or null. */
  read(name: string): string | null
}

export type Script = (
  results: readonly string[],
  tools: readonly string[],
) => Step | undefined | Promise<Step | undefined>

interface RunOptions {
  args?: readonly string[]
  isFearless?: boolean
}

export interface Ended {
  code: number | null
  output: string
  /** What the host told the model about its calls. */
  results: readonly string[]
  tools: readonly string[]
  /** The last request with tools that the model got, as JSON. */
  lastRequest: string
}

export interface Running {
  kill(): void
  ended: Promise<Ended>
}

interface Terminal extends AsyncDisposable {
  screen(): string
  /** A key, as tmux calls it. */
  press(key: string): void
}

export interface YardOptions {
  /** Where its folders are. Left out: the folder for temporary files, which a sandboxed host does not see. */
  base?: string
  /** quarterdeck.yaml, once the folders are known. */
  settings?: (places: { home: string; workspace: string }) => Record<string, unknown>
  /** More arguments of `quarterdeck connect`. */
  connectArgs?: readonly string[]
}

export async function openYard(
  host: Host,
  { base = tmpdir(), connectArgs = [], settings }: YardOptions = {},
): Promise<Yard> {
  const folder = realpathSync(mkdtempSync(join(base, `quarterdeck-${host.name}-`)))
  const [home, workspace] = [join(folder, 'home'), join(folder, 'shop')]
  const configDir = join(home, '.config', 'quarterdeck')
  mkdirSync(workspace)
  mkdirSync(configDir, { recursive: true, mode: 0o700 })
  const supervisor = await startSupervisor({
    home,
    configDir,
    ...(settings === undefined ? {} : { settings: settings({ home, workspace }) }),
  })
  const { end, ...atWork } = await connectHost(host, { home, workspace, connectArgs })
  return {
    home,
    workspace,
    supervisor,
    ...atWork,
    async [Symbol.asyncDispose]() {
      end()
      await supervisor.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** `end` kills what still runs. */
export async function connectHost(
  host: Host,
  { home, workspace, connectArgs }: { home: string; workspace: string; connectArgs: readonly string[] },
): Promise<HostAtWork & { end(): void }> {
  const children = new Set<ChildProcess>()
  await connect([host.name, '--yes', ...connectArgs], { home, workspace })

  async function start(script: Script, { args = [], isFearless = true }: RunOptions = {}): Promise<Running> {
    const model = await startScriptedModel(script)
    for (const [path, text] of Object.entries(host.files(model.url))) put(join(home, path), text)
    const program = programOf(host)
    if (program === null) throw new Error(`${host.name} is not installed`)
    const all = [...host.args, ...(isFearless ? host.fearless : []), ...args]
    const { PATH = '' } = process.env
    const child = spawn(program, all, {
      cwd: workspace,
      env: { PATH, HOME: home, ...host.env(model.url) },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    children.add(child)
    child.stdin.on('error', () => {})
    child.stdin.end('Go.')
    return { kill: () => killGroup(child), ended: ended(child, model) }
  }

  async function terminal(script: Script): Promise<Terminal> {
    const model = await startScriptedModel(script)
    const state = join(home, '.claude.json')
    const known = JSON.parse(readFileSync(state, 'utf8'))
    // What it would ask a new user first.
    const answered = { hasCompletedOnboarding: true, theme: 'dark', bypassPermissionsModeAccepted: true }
    const project = { ...known.projects[workspace], hasTrustDialogAccepted: true }
    const customApiKeyResponses = { approved: ['none'], rejected: [] }
    const projects = { ...known.projects, [workspace]: project }
    writeFileSync(state, JSON.stringify({ ...known, ...answered, customApiKeyResponses, projects }))
    const { PATH = '' } = process.env
    const env = { PATH, HOME: home, TERM: 'xterm-256color', ...host.env(model.url) }
    const tmux = (...args: string[]) =>
      execFileSync('tmux', ['-S', join(home, 'tmux'), ...args], { encoding: 'utf8', env })
    tmux('new-session', '-d', '-x', '160', '-y', '40', '-c', workspace, programOf(host) ?? '', ...host.fearless, 'Go.')
    return {
      screen: () => tmux('capture-pane', '-p', '-J'),
      press: (key) => void tmux('send-keys', key),
      async [Symbol.asyncDispose]() {
        tmux('kill-server')
        await model.close()
      },
    }
  }

  return {
    start,
    terminal,
    run: async (...given) => await (await start(...given)).ended,
    read: (name) => (existsSync(join(workspace, name)) ? readFileSync(join(workspace, name), 'utf8') : null),
    end() {
      for (const child of children) killGroup(child)
    },
  }
}

/** As a person types it, in the folder of the project. */
async function connect(args: readonly string[], { home, workspace }: { home: string; workspace: string }) {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [PROGRAM, 'connect', ...args], {
    cwd: workspace,
    env: { PATH, HOME: home, QUARTERDECK_OPERATOR_TOKEN: OPERATOR_TOKEN },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`quarterdeck connect ended with ${code}:\n${output}`)
}

/** The host's own settings come before what `connect` wrote: in TOML, a key after a table belongs to the table. */
function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (path.endsWith('.json'))
    writeFileSync(path, JSON.stringify({ ...JSON.parse(text), ...JSON.parse(before || '{}') }))
  else if (!before.startsWith(text)) writeFileSync(path, `${text}\n${before.slice(before.indexOf('[mcp_servers'))}`)
}

async function ended(child: ChildProcess, model: ScriptedModel): Promise<Ended> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  const [code] = await once(child, 'exit')
  await model.close()
  return { code, output, results: model.results, tools: model.tools, lastRequest: model.lastRequest() }
}

export const hasTmux = spawnSync('tmux', ['-V']).status === 0

/** A host starts children of its own: hooks, shells, MCP servers. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended in the meantime.
  }
}

/** Command lines of what runs for a yard: its hosts are gone only when their hooks and bridges are. */
export const processesOf = ({ home, workspace }: Pick<Yard, 'home' | 'workspace'>): string[] =>
  execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(workspace) || (line.includes(' hook ') && line.includes(home)))
