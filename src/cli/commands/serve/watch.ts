import { fstatSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { agentPaths, type LoadedConfig } from '../../../app/load-config.ts'
import { diskFiles } from '../../../config/source/config-files.ts'
import type { AgentDefinition } from '../../../domain/agent/agent.ts'
import { usageError } from '../../cli-error.ts'
import { reportError } from '../../report-error.ts'
import type { Io } from '../../terminal/io.ts'
import type { RunningApp } from './start-app.ts'
import type { Stoppable } from './stop.ts'
import { type WatchTargets, watchFiles } from './watch-files.ts'

/** A running server, and what is needed to start the same one again. */
export interface Started {
  app: RunningApp
  config: LoadedConfig
  url: string
  /** The number of its start. Function modules are loaded for each number. */
  reload: number
}

export interface WatchOptions {
  /** Reads the configuration. Throws like `loadConfig`. */
  load(): LoadedConfig
  /** Throws what a start would refuse, while the running server goes on. */
  check(config: LoadedConfig, reload: number): Promise<void>
  start(config: LoadedConfig, reload: number): Promise<Started>
  /** The files of this configuration, and what the last `load` looked for. */
  targets(config: LoadedConfig): WatchTargets
  io: Io
}

/** A person who changed a file waits for the result, so running answers get less time than at a stop. */
const DRAIN_MS = 1_000

/**
 * The server itself writes a file that changes this soon after a start, this many times in a row: its output through `tee`, or what a
 * tool writes while it loads. No person is that quick.
 */
const OWN_WRITE_MS = 1_000
const OWN_WRITES = 5

/**
 * Restarts a server, in this process and on its port, when its files change. Problems with a change are printed, and the server goes on
 * with what it had.
 */
export function watchAndRestart(first: Started, { load, check, start, targets, io }: WatchOptions): Stoppable {
  // Null: neither the new nor the old server could be started. The next change tries again.
  let current: Started | null = first
  let lastGood = first
  let reloads = first.reload
  let closing = false
  let working: Promise<void> | null = null
  const changed = new Set<string>()
  const writtenAtStart = new Map<string, number>()
  let startedAt = Number.NEGATIVE_INFINITY

  const watch = watchFiles(targets(first.config), {
    clock: io.clock,
    onChange(paths) {
      for (const path of paths.filter((one) => !isOwnWrite(one))) changed.add(path)
      working ??= work().finally(() => {
        working = null
      })
    },
    onProblem: (message) => void io.stderr.write(`${message}\n`),
  })

  function isOwnWrite(path: string): boolean {
    if (targets(lastGood.config).files.includes(path)) return false
    const known = writtenAtStart.get(path) ?? 0
    if (known >= OWN_WRITES) return true
    const count = io.clock.mono() - startedAt < OWN_WRITE_MS ? known + 1 : 0
    writtenAtStart.set(path, count)
    if (count < OWN_WRITES) return false
    io.stderr.write(`${describe([path], io.cwd)} at every start, so it is no longer watched.\n`)
    return true
  }

  async function work(): Promise<void> {
    while (changed.size > 0 && !closing) {
      const paths = [...changed]
      changed.clear()
      await restart(describe(paths, io.cwd))
    }
  }

  async function restart(what: string): Promise<void> {
    const began = io.clock.mono()
    let config: LoadedConfig
    reloads += 1
    try {
      config = load()
      refuseWithoutFile(config, lastGood.config)
      await check(config, reloads)
    } catch (error) {
      refuse(what, error)
      // A file that is named but missing may be created next.
      watch.retarget(targets(lastGood.config))
      return
    }
    watch.retarget(targets(config))
    await current?.app.close({ drainMs: Math.min(DRAIN_MS, config.settings.shutdown.drainMs) })
    current = null
    try {
      current = await start(samePort(config, lastGood), reloads)
      const moved = current.url === lastGood.url ? '' : ` Now at ${current.url}`
      lastGood = current
      startedAt = io.clock.mono()
      io.stdout.write(`Restarted in ${((io.clock.mono() - began) / 1000).toFixed(1)} s: ${what}.${moved}\n`)
    } catch (error) {
      current = await start(samePort(lastGood.config, lastGood), lastGood.reload).catch((second: unknown) => {
        reportError(second, io)
        return null
      })
      refuse(what, error)
    }
  }

  function refuse(what: string, error: unknown): void {
    io.stderr.write(`${what}, but the change cannot be used:\n`)
    reportError(error, io)
    const now = current === null ? 'Nothing is served until this is fixed.' : 'The server goes on as it was.'
    io.stderr.write(`${now}\n`)
  }

  return {
    activeRuns: () => current?.app.activeRuns() ?? 0,
    async close(options) {
      closing = true
      watch.close()
      await working
      await current?.app.close(options)
    },
  }
}

/** A missing agent file (renamed, or in the middle of a checkout) does not mean that the person wants the demo agent. */
function refuseWithoutFile(config: LoadedConfig, before: LoadedConfig): void {
  if (config.places.size > 0 || before.places.size === 0) return
  throw usageError('The agent file is missing.', ['Put it back, or stop the server.'])
}

/** After `--port 0`, a restart keeps the port of the first start, so that clients find it again. */
function samePort(config: LoadedConfig, before: Started): LoadedConfig {
  if (config.settings.port !== 0) return config
  return { ...config, settings: { ...config.settings, port: Number(new URL(before.url).port) } }
}

const SHOWN = 3

function describe(paths: readonly string[], cwd: string): string {
  const names = paths.map((path) => shorter(relative(cwd, path), path))
  const rest = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ''
  return `${names.slice(0, SHOWN).join(', ')}${rest} changed`
}

const shorter = (a: string, b: string): string => (a.length < b.length ? a : b)

/** The files of a configuration, files that would become part of it, and what is in the agents' folders. */
export function watchTargets(
  files: readonly string[],
  config: LoadedConfig,
  read: readonly string[],
  io: Io,
): WatchTargets {
  const named = agentPaths(files, io)
  // Without an agent file, the agent comes from the environment, and this folder may be any folder.
  const agents = named.length === 0 ? [] : config.agents
  const folders = [
    ...named.filter((path) => diskFiles.list(path) !== null).map((path) => resolve(io.cwd, path)),
    ...agents.flatMap(({ directory, skills = [] }) => [directory, ...skills.map((skill) => skill.directory)]),
  ]
  const settings = [io.cwd, ...folders].flatMap((folder) =>
    ['quarterdeck.yaml', 'quarterdeck.yml'].map((name) => resolve(folder, name)),
  )
  const own = files.length === 0 ? ['agent.yaml', 'agent.yml'].map((name) => resolve(io.cwd, name)) : []
  // Our own output may go to a file beside the agent. If that counted as a change, each start would cause the next.
  const outputs = [io.stdout, io.stderr].flatMap(({ fd }) => (fd === undefined ? [] : fstatSync(fd)))
  return {
    folders: [...new Set(folders)],
    files: [...new Set([...read, ...own, ...settings, ...agents.flatMap(toolFiles)])],
    ignore: [config.dataDir],
    ignoreFile: ({ dev, ino }) => outputs.some((one) => one.dev === dev && one.ino === ino),
  }
}

const toolFiles = ({ tools }: AgentDefinition): string[] =>
  tools.flatMap((tool) => (tool.type === 'function' || tool.type === 'openapi' ? [tool.file] : []))
