import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, isoTime, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { launcherFor, type NamedLauncher } from '../../hosts/hosts.ts'
import type { ProcessEnd, ProcessGroup, ProcessGroups } from '../../tools/process/process-groups.ts'
import { markOf } from '../../tools/process/process-table.ts'
import { findProgram, type ProgramSearch } from '../commands/find-program.ts'
import type { OutputPiece } from '../commands/run-command.ts'
import { type ChildRecords, hostFolders, TERM_MS } from './child-records.ts'
import { createLastWords, createOutputRing, type OutputRing, readLines } from './host-output.ts'
import { inSandbox, type Sandbox, writableIn } from './sandbox.ts'

export interface HostRequest {
  launcher: NamedLauncher
  /** Absolute path of the program. */
  program: string
  /** `host_cli_args`. */
  extraArgs: readonly string[]
  /** Real path. */
  workspace: string
  prompt: string
  agentToken: string
  mcpUrl: string
  sessionId: string
  /** Null: the host runs without one. */
  sandbox: Sandbox | null
}

export interface HostDeps {
  clock: Clock
  log: Logger
  processes: ProcessGroups
  records: ChildRecords
  /** What the host gets of our environment; see `commandEnvironment`. Its own login is in the home folder. */
  environment: Readonly<Record<string, string>>
  /** Ours; the host's configuration is kept in it while it runs. */
  runtimeDir: string
  /** Folders that a sandboxed agent must not see: config, runtime and data folder, and the runtime folder of the user. */
  masked: readonly string[]
  home: string | null
  /** One line of stdout or stderr. */
  onOutput(line: OutputPiece): void
  /** The host runs. `respawn` is 0 for its first start. */
  onStart(start: { pid: number; respawn: number }): void
  /** The host has crashed and will start again in `delayMs`. */
  onRespawn(again: { respawn: number; delayMs: number } & Ended): void
}

/** How one process ended. */
export interface Ended {
  end: ProcessEnd
  /** What it wrote to stderr last, as people see it. Null: nothing. */
  lastWords: string | null
}

export interface HostEnd extends Ended {
  /** `finished`: it ended without an error. `terminated`: it was told to. `crashed`: it failed, after `respawns` new starts. */
  how: 'finished' | 'terminated' | 'crashed' | 'not_started'
  respawns: number
}

export interface Host {
  /** Of the process that runs now. Undefined: none does. */
  readonly pid: number | undefined
  /** The file with its newest output. */
  readonly outputPath: string
  /** Resolves when the host is gone for good and its configuration is removed. Never rejects. */
  readonly gone: Promise<HostEnd>
  /** Asks the host and everything it has started to end, and kills what is left after 5 s. It does not start again. */
  terminate(): Promise<void>
}

/**
 * Starts a coding agent in a workspace. After a crash it starts again, at most three times. Throws `config_invalid` if the host can take
 * its configuration or prompt in no safe way; everything that happens later is in `gone`.
 */
export function startHost(request: HostRequest, deps: HostDeps): Host {
  const { sessionId, agentToken } = request
  const { clock, log, records } = deps
  // Throws before anything is written.
  request.launcher.launch({ ...request, file: (name) => name })
  const ring = createOutputRing(records.outputPath(sessionId), (error) =>
    log.warn('the output of a host is no longer kept', { session_id: sessionId, error }),
  )
  const stopping = new AbortController()
  let group: ProcessGroup | null = null

  async function once(respawn: number): Promise<Ended> {
    const lastWords = createLastWords()
    const prompt = respawn === 0 ? request.prompt : respawnPrompt(request.prompt)
    const folder = join(hostFolders(deps.runtimeDir), sessionId)
    try {
      group = launch({ ...request, prompt }, folder, deps)
      const { pid } = group
      if (pid !== undefined) {
        remember(pid, folder, request, deps)
        deps.onStart({ pid, respawn })
      }
      const secrets = [agentToken]
      await Promise.all([
        keepOutput('stdout', group, { ring, secrets, onOutput: deps.onOutput }),
        keepOutput('stderr', group, {
          ring,
          secrets,
          onOutput(line) {
            lastWords.add(line.text)
            deps.onOutput(line)
          },
        }),
      ])
      return { end: await group.gone, lastWords: lastWords.text() }
    } finally {
      group = null
      records.remove(sessionId)
      rmSync(folder, { recursive: true, force: true })
    }
  }

  async function run(): Promise<HostEnd> {
    for (let respawns = 0; ; respawns += 1) {
      const ended = await once(respawns)
      const { end } = ended
      if (stopping.signal.aborted) return { how: 'terminated', ...ended, respawns }
      const delayMs = respawnDelay(end, respawns)
      if (delayMs === null) return { how: outcomeOf(end), ...ended, respawns }
      deps.onRespawn({ respawn: respawns + 1, delayMs, ...ended })
      await sleep(clock, delayMs, stopping.signal)
      if (stopping.signal.aborted) return { how: 'terminated', ...ended, respawns }
    }
  }

  const gone = run().catch((error: unknown): HostEnd => {
    log.error('a host could not be started', { session_id: sessionId, error })
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return { how: 'not_started', end: { kind: 'not-started', code }, lastWords: null, respawns: 0 }
  })
  return {
    get pid() {
      return group?.pid
    },
    outputPath: ring.path,
    gone,
    async terminate() {
      stopping.abort()
      await group?.end()
      await gone
    },
  }
}

function launch(request: HostRequest, folder: string, deps: HostDeps): ProcessGroup {
  const { launcher, program, workspace, mcpUrl, sessionId, agentToken, sandbox } = request
  // A crash may have left an older one, which could be a link by now.
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { args, files, stdin } = launcher.launch({ ...request, file: (name) => join(folder, name) })
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx' })
  }
  const places = {
    workspace,
    writable: writableIn(deps.home, launcher.ownFolders),
    masked: deps.masked,
    shown: folder,
  }
  const [command, ...commandArgs] =
    sandbox === null ? ([program, ...args] as const) : inSandbox(sandbox, places, [program, ...args])
  const group = deps.processes.start({
    command,
    args: commandArgs,
    env: {
      ...deps.environment,
      QUARTERDECK_WORKSPACE_ROOT: workspace,
      QUARTERDECK_MCP_URL: mcpUrl,
      QUARTERDECK_SESSION_ID: sessionId,
      QUARTERDECK_AGENT_TOKEN: agentToken,
    },
    directory: workspace,
    patience: { inputClosedMs: 0, termMs: TERM_MS },
    outlivesUs: true,
  })
  group.stdin.end(stdin)
  return group
}

function remember(
  pid: number,
  folder: string,
  { sessionId, launcher, workspace }: HostRequest,
  { records, clock, log }: HostDeps,
): void {
  const mark = markOf(pid)
  // It has ended already, or this system does not tell processes apart; then a restarted server cannot find it.
  if (mark === null) return
  try {
    records.write({
      session_id: sessionId,
      pid,
      started: mark.started,
      host: launcher.name,
      workspace,
      folder,
      started_at: isoTime(clock.now()),
    })
  } catch (error) {
    log.warn('a started host could not be recorded: after a crash of this server nobody ends it', {
      session_id: sessionId,
      error,
    })
  }
}

const keepOutput = (
  stream: OutputPiece['stream'],
  group: ProcessGroup,
  { ring, secrets, onOutput }: { ring: OutputRing; secrets: string[]; onOutput: HostDeps['onOutput'] },
): Promise<void> =>
  readLines(group[stream], secrets, async (lines) => {
    for (const text of lines) onOutput({ stream, text })
    await ring.write(lines)
  })

function outcomeOf(end: ProcessEnd): HostEnd['how'] {
  if (end.kind === 'not-started') return 'not_started'
  return end.kind === 'exit' && end.code === 0 ? 'finished' : 'crashed'
}

/** The host of the settings. Throws `config_invalid` if none is set or it cannot be used. Call it at the start: see `findProgram`. */
export function resolveHost(hostCli: string | null, search: ProgramSearch): Pick<HostRequest, 'launcher' | 'program'> {
  if (hostCli === null) {
    throw new ServerError(
      'config_invalid',
      'Agents cannot be started from here: set host_cli in quarterdeck.yaml, for example host_cli: claude.',
    )
  }
  const { program, problem } = findProgram(hostCli, search)
  if (program === null) throw new ServerError('config_invalid', `host_cli: ${problem}`)
  return { launcher: launcherFor(hostCli), program }
}

const MAX_RESPAWNS = 3
const DELAYS_MS = [1_000, 5_000, 25_000]

/**
 * How long to wait before a host is started again, or null if it is not: it ended by itself without an error, it could not be started at
 * all, or it has crashed too often. A host that was told to end is not asked about here.
 */
function respawnDelay(end: ProcessEnd, respawns: number): number | null {
  const hasCrashed = end.kind === 'signal' || (end.kind === 'exit' && end.code !== 0)
  return hasCrashed && respawns < MAX_RESPAWNS ? (DELAYS_MS[respawns] ?? null) : null
}

/** What an agent is told when it starts again. It remembers nothing of the time before. */
const respawnPrompt = (prompt: string): string =>
  `You worked on the task below and were interrupted. Call recover_state first and go on from there; do not repeat what is done.\n\n${prompt}`
