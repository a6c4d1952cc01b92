// Starts the programs: the server or the floor on one core, the model and the load on the other.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { type Child, startChild } from './child.ts'
import type { LoadDoorName } from './door.ts'
import { listen } from './listen.ts'
import type { LoadReport } from './load.ts'
import { cpuMs, processTree } from './process-stat.ts'

/** The program that is measured: the floor or a server. */
export interface Target {
  readonly name: string
  readonly url: string
  readonly child: Child
  /** Time from the start of the process to its first 200 on /ready. */
  readonly startMs: number
  /** Resolves when it has done what it puts off while it is busy: the search index has caught up. */
  rested(): Promise<void>
  stop(): Promise<void>
}

export interface LoadPlan {
  parallel: number
  runs?: number
  seconds?: number
  /** `full` or `paced:N`, for the fake model. */
  message: string
  tokens: number
  /** As in `LoadOptions`. */
  threads?: number
  thread?: string
  rampMs?: number
  /** Default: the AG-UI door. */
  door?: LoadDoorName
  /** Another server of the same store, which the runs are sent to. The target is asked to follow them. */
  startAt?: Target
  /** Counts the CPU until the target has also done what it put off. */
  untilRested?: boolean
}

export interface LoadResult extends LoadReport {
  /** CPU of all threads of the target, per run. */
  cpuMsPerRun: number
  /** Share of the other core that load and model used. Near 1, they were the limit, not the target. */
  loadCore: number
  /** Descriptions of failed runs. Empty when no run failed. */
  problems: string[]
}

interface ServerOptions {
  name?: string
  /** Default: the script of the stage. */
  script?: string
  /** An existing directory. Default: a new one. */
  dataDir?: string
  /** Options for Node, before the script. */
  nodeArgs?: readonly string[]
  env?: Record<string, string>
  /** It may use all cores. Default: only the core of what is measured. */
  anyCore?: boolean
}

export interface Stage {
  /** What the reader must know about the conditions: which program runs on which core, or that nothing is pinned. */
  readonly remarks: readonly string[]
  /** A new empty folder that is removed with the stage. */
  folder(name: string): string
  floor(): Promise<Target>
  server(options?: ServerOptions): Promise<Target>
  load(target: Target, plan: LoadPlan): Promise<LoadResult>
  /** Lets a program that was started elsewhere use all cores. Its later children may do so too. */
  unpin(pid: number): void
  /** Ends the programs that a failed scenario left running, except the model. */
  clear(): Promise<void>
  /** Ends everything and removes the folders. */
  close(): Promise<void>
}

interface StageOptions {
  /** The script that takes `serve <agent.yaml> --port P --data-dir D --log-level warn`. */
  serverScript: string
}

const TARGET_CORE = '0'
const LOAD_CORE = '1'
const BOTH_CORES = `${TARGET_CORE},${LOAD_CORE}`
const READY_WITHIN_MS = 30_000
const here = (file: string): string => join(import.meta.dirname, file)

export async function openStage(options: StageOptions): Promise<Stage> {
  if (!existsSync(options.serverScript)) {
    throw new Error(`There is no server at ${options.serverScript}. Name its script with --server.`)
  }
  const root = mkdtempSync(join(tmpdir(), 'quarterdeck-bench-'))
  const children = new Set<Child>()
  const remarks: string[] = []
  const pinned = canPin(remarks)
  let count = 0

  function start(name: string, args: readonly string[], core: string, env: Record<string, string> = {}): Child {
    const child = startChild({
      name,
      args,
      core: pinned ? core : null,
      env: { QUARTERDECK_CONFIG_DIR: join(root, 'config'), ...env },
      cwd: root,
    })
    children.add(child)
    return child
  }
  async function stop(child: Child): Promise<void> {
    await child.stop()
    children.delete(child)
  }
  const folder = (name: string): string => {
    count += 1
    const path = join(root, `${name}-${count}`)
    mkdirSync(path)
    return path
  }

  const model = start('the fake model', [here('fake-model.ts'), '--port', '0'], LOAD_CORE)
  const modelUrl = `http://127.0.0.1:${portIn(await model.firstLine())}/v1`
  const agentFile = join(root, 'agent.yaml')
  writeFileSync(
    agentFile,
    `name: bench\nmodel: { provider: openai, name: fake, base_url: "${modelUrl}", api_key: none }\ninstructions: { inline: You are a test. }\n`,
  )

  return {
    remarks,
    folder,
    async floor() {
      const child = start('the floor', [here('floor.ts'), '--port', '0', '--model', modelUrl], TARGET_CORE)
      const url = `http://127.0.0.1:${portIn(await child.firstLine())}/`
      return { name: 'floor', url, child, startMs: 0, rested: async () => {}, stop: () => stop(child) }
    },
    async server(server = {}) {
      const dataDir = server.dataDir ?? folder('data')
      const port = await freePort()
      const url = `http://127.0.0.1:${port}/`
      const flags = ['serve', agentFile, '--port', String(port), '--data-dir', dataDir, '--log-level', 'warn']
      const begun = performance.now()
      const args = [...(server.nodeArgs ?? []), resolve(server.script ?? options.serverScript), ...flags]
      const child = start(
        server.name ?? 'the server',
        args,
        server.anyCore === true ? BOTH_CORES : TARGET_CORE,
        server.env,
      )
      await untilReady(child, `${url}ready`)
      return {
        name: server.name ?? 'server',
        url,
        child,
        startMs: performance.now() - begun,
        rested: () => untilIndexed(join(dataDir, 'quarterdeck.db')),
        stop: () => stop(child),
      }
    },
    async load(target, plan) {
      count += 1
      const args = ['--url', target.url, '--parallel', String(plan.parallel), '--message', plan.message]
      args.push('--tokens', String(plan.tokens), '--prefix', `load${count}`)
      if (plan.runs !== undefined) args.push('--runs', String(plan.runs))
      if (plan.seconds !== undefined) args.push('--seconds', String(plan.seconds))
      if (plan.threads !== undefined) args.push('--threads', String(plan.threads))
      if (plan.thread !== undefined) args.push('--thread', plan.thread)
      if (plan.door !== undefined) args.push('--door', plan.door)
      if (plan.rampMs !== undefined) args.push('--ramp', String(plan.rampMs))
      if (plan.startAt !== undefined) args.push('--start-at', plan.startAt.url)
      const before = { target: cpuMs(target.child.pid), model: cpuMs(model.pid) }
      const child = start('the load', [here('load.ts'), ...args], LOAD_CORE)
      const report: LoadReport = JSON.parse(await child.output())
      children.delete(child)
      if (!target.child.running()) throw new Error(`${target.name} died under load\n${target.child.errors()}`)
      const modelSeconds = (cpuMs(model.pid) - before.model) / 1000
      if (plan.untilRested === true) await target.rested()
      return {
        ...report,
        cpuMsPerRun: (cpuMs(target.child.pid) - before.target) / report.runs,
        loadCore: (report.cpuSeconds + modelSeconds) / report.seconds,
        problems: problemsOf(target.name, report),
      }
    },
    unpin(pid) {
      if (pinned) for (const each of processTree(pid)) spawnSync('taskset', ['-cp', BOTH_CORES, String(each)])
    },
    async clear() {
      await Promise.all([...children].filter((child) => child !== model).map(stop))
    },
    async close() {
      await Promise.all([...children].map(stop))
      rmSync(root, { recursive: true, force: true })
    },
  }
}

function problemsOf(name: string, report: LoadReport): string[] {
  if (report.runs === 0) return [`${name}: no run was made`]
  if (report.failed === 0) return []
  const reasons = Object.entries(report.failures).map(([reason, times]) => `${times} × ${reason}`)
  return [`${name}: ${report.failed} of ${report.runs} runs failed (${reasons.join(', ')})`]
}

function canPin(remarks: string[]): boolean {
  const found = spawnSync('taskset', ['--version']).status === 0
  const cores = availableParallelism()
  if (found && cores >= 2) {
    // This process sleeps and reads /proc. It must not use the core that is measured.
    spawnSync('taskset', ['-cp', LOAD_CORE, String(process.pid)])
    remarks.push(`server or floor on core ${TARGET_CORE}, load and fake model on core ${LOAD_CORE}`)
    return true
  }
  remarks.push(found ? `only ${cores} core: nothing is pinned` : 'no taskset here: nothing is pinned to a core')
  return false
}

function portIn(line: string): number {
  const { port }: { port: number } = JSON.parse(line)
  return port
}

async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server, 0)
  await new Promise((done) => server.close(done))
  return port
}

async function untilReady(child: Child, url: string): Promise<void> {
  const begun = performance.now()
  while (performance.now() - begun < READY_WITHIN_MS) {
    if (!child.running()) throw new Error(`${child.name} ended before it was ready\n${child.errors()}`)
    if ((await statusOf(url)) === 200) return
    await delay(5)
  }
  throw new Error(`${child.name} is not ready after ${READY_WITHIN_MS / 1000} s (${url})\n${child.errors()}`)
}

const INDEXED_WITHIN_MS = 120_000

/** A server on Postgres has no such file, and its database does that work. */
async function untilIndexed(path: string): Promise<void> {
  if (!existsSync(path)) return
  const db = new DatabaseSync(path, { readOnly: true })
  const due = db.prepare(
    'SELECT EXISTS (SELECT 1 FROM messages WHERE mid > (SELECT indexed_to FROM search_state)) AS due',
  )
  const begun = performance.now()
  while (due.get()?.due !== 0) {
    if (performance.now() - begun > INDEXED_WITHIN_MS) throw new Error('the search index does not catch up')
    await delay(50)
  }
  db.close()
}

function statusOf(url: string): Promise<number | null> {
  return new Promise((done) => {
    get(url, { agent: false }, (response) => {
      response.resume()
      done(response.statusCode ?? null)
    }).on('error', () => done(null))
  })
}
