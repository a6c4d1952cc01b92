// A real agent that a real server hosts: its model is scripted, its workspace is a folder of the test, and a person talks to it over HTTP.

import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { acpOf } from '../../../src/hosts/hosts.ts'
import { until } from '../../crash/support/until.ts'
import type { Host } from '../hosts.ts'
import { programOf } from '../hosts.ts'
import { type Asked as Prompt, type ScriptedModel, type Step, startScriptedModel } from '../scripted-model.ts'
import { type Asked, OPERATOR_TOKEN, type Supervisor, startSupervisor } from '../supervisor.ts'
import { type AcpHost, acpHosts } from './acp-hosts.ts'

/** A cold host on a busy machine. */
const PATIENCE = { timeout: 90_000, interval: 100 }

export interface Run {
  run_id: string
  status: string
  error?: { code: string; message: string } | null
}

export interface Message {
  role: string
  content: string
}

export interface AcpYard extends AsyncDisposable {
  host: AcpHost
  workspace: string
  supervisor: Supervisor
  model: ScriptedModel
  /** The text of a file in the workspace, or null. */
  read(name: string): string | null
  /** What the agent has written beside its workspace, or null. */
  readOutside(): string | null
  /** Streams the answer over AG-UI, as the text arrives. */
  stream(text: string): AsyncGenerator<string>
  /** A message that nobody waits for. */
  say(text: string): Promise<void>
  /** The newest run, once it neither waits to begin nor works. */
  rested(): Promise<Run>
  /** Waits for an approval of this tool, and answers it. */
  decide(tool: string, decision: Record<string, unknown>): Promise<Asked>
  approvals(): Promise<Asked[]>
  messages(): Promise<Message[]>
  runs(): Promise<Run[]>
  /** Processes that run for the agent, by id. */
  processes(): number[]
  /** kill -9 of the agent's program with all it has started. */
  killAgent(): Promise<void>
  restart(): Promise<void>
}

export interface AcpYardOptions {
  script: (prompt: Prompt, yard: { workspace: string; outside: string; host: AcpHost }) => Step | undefined
  /** The host is told by its user to ask nobody. */
  isFearless?: boolean
  /** No agent file names it: it is to be started by its name, with the command that people install. */
  isUnnamed?: boolean
}

export const SESSION = '0195f3c2-7a10-7000-8000-00000000aaaa'

export async function openAcpYard(
  of: Host,
  { script, isFearless = false, isUnnamed = false }: AcpYardOptions,
): Promise<AcpYard> {
  const host = acpHosts[of.name]
  const program = programOf(of.acp)
  if (program === null) throw new Error(`${of.name} is not installed`)
  // Hosts do not see the folder for temporary files, and Codex wants no home in it.
  const base = join(homedir(), '.cache', 'quarterdeck')
  mkdirSync(base, { recursive: true, mode: 0o700 })
  const folder = realpathSync(mkdtempSync(join(base, `acp-${of.name}-`)))
  const [home, workspace, data] = ['home', 'shop', 'data'].map((name) => join(folder, name)) as [string, string, string]
  const configDir = join(home, '.config', 'quarterdeck')
  const outside = join(folder, 'outside.txt')
  for (const one of [workspace, data, configDir]) mkdirSync(one, { recursive: true, mode: 0o700 })
  for (const name of ['CLAUDE.md', 'AGENTS.md', 'GEMINI.md'])
    writeFileSync(join(workspace, name), 'Mind the kumquat.\n')
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-qm', 'One'],
  ])
    execFileSync('git', args, { cwd: workspace })
  const model = await startScriptedModel((_results, _tools, asked) => script(asked, { workspace, outside, host }))
  const variables = of.env(model.url)
  const files = host.files(of.files(model.url))
  const added = isFearless ? host.fearless.files : {}
  const command = isUnnamed ? join(folder, 'bin', acpOf(of.name).command) : join(folder, 'agent')
  mkdirSync(dirname(command), { recursive: true })
  const more = of.acp.args.filter((arg) => arg !== '--acp')
  // Whoever starts it by its name has told it before which model it has, and where.
  const known = isUnnamed ? { variables, args: more } : { variables: {}, args: [] }
  writeFileSync(command, starter(program, [...Object.entries(files), ...Object.entries(added)], known), { mode: 0o755 })
  const agent = {
    name: 'coder',
    host: {
      name: of.name,
      command,
      args: [...more, ...(isFearless ? host.fearless.args : [])],
      workspace: './shop',
      env: Object.keys(variables),
    },
  }
  if (!isUnnamed) writeFileSync(join(folder, 'agent.yaml'), JSON.stringify(agent))
  writeFileSync(join(folder, 'quarterdeck.yaml'), JSON.stringify({ workspaces: [{ path: workspace }] }))
  const env = isUnnamed ? { PATH: `${dirname(command)}:${process.env.PATH}` } : variables
  const supervisor = await startSupervisor({ home, configDir, directory: folder, env })

  async function get<T>(path: string): Promise<T> {
    return (await supervisor.get(path)) as T
  }
  const runs = async () => (await get<{ runs: Run[] }>(`/sessions/${SESSION}/runs`)).runs
  const newest = async (): Promise<Run> => (await runs())[0] ?? { run_id: '', status: 'none' }
  const pending = async () => (await supervisor.approvals()).filter(({ status }) => status === 'pending')
  const isAtRest = ({ status }: Run): boolean => !['none', 'queued', 'running'].includes(status)

  /** What was seen is part of the error: a host that does something else is seldom seen twice. */
  async function wait(what: string, isSo: () => Promise<boolean>): Promise<void> {
    await until(what, isSo, PATIENCE.timeout).catch(async (error: Error) => {
      const seen = {
        runs: await runs(),
        asked: await pending(),
        results: model.results,
        messages: await yard.messages(),
      }
      throw new Error(`${error.message}: ${JSON.stringify(seen, null, 1)}`)
    })
  }

  const yard: AcpYard = {
    host,
    workspace,
    supervisor,
    model,
    read: (name) => textOf(join(workspace, name)),
    readOutside: () => textOf(outside),
    async *stream(text) {
      const input = {
        threadId: SESSION,
        runId: crypto.randomUUID(),
        protocolVersion: '1.0.0',
        state: {},
        messages: [{ id: crypto.randomUUID(), role: 'user', content: text }],
        tools: [],
        context: [],
        forwardedProps: {},
      }
      const answer = await fetch(supervisor.url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${OPERATOR_TOKEN}`,
          'content-type': 'application/json',
          accept: 'text/event-stream',
        },
        body: JSON.stringify(input),
      })
      if (answer.status !== 200) throw new Error(`POST /: ${answer.status} ${await answer.text()}`)
      for await (const line of linesOf(answer)) {
        if (!line.startsWith('data: ')) continue
        const event = JSON.parse(line.slice('data: '.length))
        if (event.type === 'TEXT_MESSAGE_CONTENT') yield event.delta
        if (event.type === 'RUN_ERROR') throw new Error(JSON.stringify(event))
      }
    },
    async say(text) {
      const { status, body } = await supervisor.post(`/sessions/${SESSION}/messages`, { message: text })
      if (status !== 202) throw new Error(`POST /sessions/…/messages: ${status} ${JSON.stringify(body)}`)
    },
    async rested() {
      await wait('it did not come to rest', async () => isAtRest(await newest()))
      return newest()
    },
    async decide(tool, decision) {
      const find = async () => (await pending()).find((one) => one.tool === tool)
      await wait(`nobody asked about ${tool}`, async () => (await find()) !== undefined)
      const asked = (await find()) as Asked
      const { status, body } = await supervisor.post(`/approvals/${asked.approval_id}`, {
        digest: asked.digest,
        ...decision,
      })
      if (status !== 200) throw new Error(`POST /approvals: ${status} ${JSON.stringify(body)}`)
      return asked
    },
    approvals: supervisor.approvals,
    messages: async () => (await get<{ messages: Message[] }>(`/sessions/${SESSION}?include=tools`)).messages,
    runs,
    processes: () => processesFor(join(data, 'worktrees')),
    async killAgent() {
      const killed = yard.processes()
      for (const pid of killed) kill(pid)
      // A dead process is listed until its parent has heard of its end, and ours is to hear of it before a person decides.
      await expect.poll(() => killed.filter((pid) => existsSync(`/proc/${pid}`)), PATIENCE).toEqual([])
    },
    restart: () => supervisor.restart(),
    async [Symbol.asyncDispose]() {
      try {
        await supervisor.stop()
        await expect.poll(yard.processes, { timeout: 10_000 }).toEqual([])
      } finally {
        for (const pid of yard.processes()) kill(pid)
        await supervisor.close()
        await model.close()
        rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
      }
    },
  }
  return yard
}

const textOf = (path: string): string | null => (existsSync(path) ? readFileSync(path, 'utf8') : null)

/** Puts the host's own settings into the home folder that it is given, as a person would have done before. */
function starter(
  program: string,
  files: readonly [path: string, text: string][],
  { variables, args }: { variables: Readonly<Record<string, string>>; args: readonly string[] },
): string {
  const paths = [...new Set(files.map(([path]) => path))]
  const begins = paths.map((path) => `mkdir -p "$(dirname "$HOME/${path}")"\n: > "$HOME/${path}"\n`)
  const puts = files.map(([path, text]) => `cat >> "$HOME/${path}" <<'END'\n${text}\nEND\n`)
  const sets = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'\n`)
  return `#!/bin/sh\n${[...sets, ...begins, ...puts].join('')}exec '${program}' ${[...args, '"$@"'].join(' ')}\n`
}

async function* linesOf(answer: Response): AsyncGenerator<string> {
  let rest = ''
  for await (const text of (answer.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** Everything that the server starts for the agent has its private home in its environment. */
function processesFor(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`=${folder}/`)
      } catch {
        return false
      }
    })
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended in the meantime.
  }
}
