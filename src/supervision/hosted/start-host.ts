// Starts the program of a hosted agent where it may write nothing behind anybody's back: in a private copy or through us, in the sandbox,
// with nothing of our environment that is not named.

import { mkdirSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { abortAfter } from '../../domain/abort.ts'
import type { HostSettings } from '../../domain/agent/agent.ts'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import { isWithin } from '../../domain/is-within.ts'
import { acpOf } from '../../hosts/hosts.ts'
import type { ProcessGroups } from '../../tools/process/process-groups.ts'
import { findProgram, type ProgramSearch } from '../commands/find-program.ts'
import { decodeFile } from '../diffs/file-text.ts'
import { proposeChange } from '../diffs/propose-change.ts'
import { hostedSandbox } from '../spawn/hosted-sandbox.ts'
import { IS_HIDDEN, isTemporary, type Sandbox } from '../spawn/sandbox.ts'
import type { AllowedWorkspace } from '../workspace/allowed-workspace.ts'
import { confine } from '../workspace/confine.ts'
import { readWorkspaceFile } from '../workspace/read-workspace-file.ts'
import { changeSetOf } from '../worktrees/change-set.ts'
import type { Worktree, Worktrees } from '../worktrees/create-worktrees.ts'
import type { Started, StartHost } from './held-talks.ts'
import { startHostedProcess } from './hosted-process.ts'
import { hostFailed, openTalk } from './talk.ts'
import { createTerminals } from './terminals.ts'

export interface StartHostDeps {
  clock: Clock
  ids: Ids
  /** See `createServerPlaces`. */
  serverPaths: readonly string[]
  worktrees: Worktrees
  /** Where the private folders of sessions are that write through us. */
  folder: string
  processes: ProcessGroups
  search: ProgramSearch
  /** Null: there is none on this machine. */
  sandbox: () => Promise<Sandbox | null>
  /** What a program gets of our environment; see `commandEnvironment`. */
  environment: Readonly<Record<string, string>>
  /** All of ours: only the names that the agent file and the host list are taken from it. */
  variables: Readonly<Record<string, string | undefined>>
  /** Folders that an agent must not see. */
  masked: readonly string[]
  operatorHome: string | null
  /** Throws unless an agent may work in this folder. */
  findWorkspace: (path: string) => AllowedWorkspace
}

/** How long a program may take to end its prompt when it is cancelled. Then it is killed, and resumed with the next message. */
const CANCEL_MS = 5_000

export function createStartHost(deps: StartHostDeps): StartHost {
  const { clock, ids, processes } = deps
  const timeout = (ms: number): AbortSignal => abortAfter(clock, ms).signal

  return async (session, host, { earlier, onHeard }) => {
    const words = acpOf(host.name)
    const { workspaceRoot } = session.supervision
    const workspace = deps.findWorkspace(workspaceRoot).path
    const program = programOf(host, words, deps.search)
    const sandbox = await deps.sandbox()
    if (sandbox === null && !host.unconfined) throw unconfinedError()
    if (sandbox !== null && isTemporary(program)) throw hostFailed(`${program} ${IS_HIDDEN}.`)
    const isClient = host.writes === 'client'
    const worktree = isClient ? null : await deps.worktrees.open({ sessionId: session.id, workspaceRoot: workspace })
    const folder = worktree?.folder ?? join(deps.folder, session.id)
    const home = worktree?.home ?? join(folder, 'home')
    mkdirSync(home, { recursive: true, mode: 0o700 })
    // Without a sandbox nothing can be laid over the workspace, so the program works where the copy really is.
    const cwd = sandbox !== null || worktree === null ? workspace : realpathSync(worktree.root)
    const { env, secrets } = environmentOf(host, words, deps, home)
    const places = {
      workspace,
      worktree,
      folder,
      home,
      writable: [],
      shown: [],
      masked: deps.masked,
      operatorHome: deps.operatorHome,
    }
    const confined = (
      command: readonly [string, ...string[]],
      more: { writable?: string[] } = {},
    ): readonly [string, ...string[]] =>
      sandbox === null ? command : hostedSandbox(sandbox, { ...places, network: host.network, ...more }, command)
    const terminals = isClient
      ? createTerminals({
          processes,
          ids,
          // A command that a person has allowed may write in the workspace.
          inPlace: (command) => confined(command, { writable: [workspace] }),
          env: { ...env, HOME: home },
          folder: (asked) => folderIn(workspace, asked),
        })
      : null
    const process = startHostedProcess(
      {
        command: confined([program, ...words.args, ...host.args]),
        env: { ...env, HOME: home },
        directory: cwd,
        secrets,
      },
      processes,
    )
    const opened = await openTalk({
      process,
      cwd,
      terminals,
      // Some write through us only where they have to read by themselves. The workspace is there for them to read.
      reads: isClient && !words.writesThroughClient,
      readFile: isClient ? (path, line, limit) => readText(workspace, path, line, limit) : null,
      earlier,
      authMethod: words.authMethod,
      onHeard,
      timeout,
      cancelMs: CANCEL_MS,
    })
    const { talk, isSame } = opened
    try {
      await ask(talk, words.askingMode)
    } catch (error) {
      await talk.close()
      throw error
    }
    return {
      talk,
      isSame,
      words,
      terminals,
      place: { isPrivateCopy: worktree !== null, cwd, isConfined: sandbox !== null },
      files: worktree === null ? filesOfClient(workspace, deps.serverPaths) : filesOf(worktree),
    }
  }
}

/** In this mode the program asks before it acts. One that does not have it is not trusted with the others. */
async function ask(talk: Started['talk'], askingMode: string): Promise<void> {
  const { modes } = talk
  if (askingMode === '' || modes === null || modes.currentModeId === askingMode) return
  if (!modes.availableModes.some(({ id }) => id === askingMode)) {
    throw hostFailed(
      `It has no mode ${askingMode}, in which it asks before it acts. Install the version that the docs name.`,
    )
  }
  await talk.setMode(askingMode)
}

function programOf(host: HostSettings, { command, install }: ReturnType<typeof acpOf>, search: ProgramSearch): string {
  const { program, problem } = findProgram(host.command ?? command, search)
  if (program !== null) return program
  throw new ServerError('host_failed', `host: ${problem}${install === '' ? '' : ` Install it with: ${install}`}`)
}

export const unconfinedError = (): ServerError =>
  new ServerError(
    'host_failed',
    'There is no sandbox here, so the agent’s program could write anywhere: it is not started. Install bubblewrap (apt install bubblewrap), or write unconfined: true under host if you accept that.',
  )

/** By name alone: what is not named stays here. */
function environmentOf(
  host: HostSettings,
  words: ReturnType<typeof acpOf>,
  { environment, variables }: Pick<StartHostDeps, 'environment' | 'variables'>,
  home: string,
): { env: Record<string, string>; secrets: string[] } {
  const given: Record<string, string> = {}
  for (const name of [...words.credentials, ...host.env]) {
    const value = variables[name]
    if (value !== undefined && value !== '') given[name] = value
  }
  const caches = {
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local/share'),
  }
  const secrets = Object.entries(given).flatMap(([, value]) => (value.length >= 8 ? [value] : []))
  // Some of its own keep it from acting unasked, so no variable of ours replaces them.
  return { env: { ...environment, ...caches, ...given, ...words.env }, secrets }
}

function folderIn(workspace: string, asked: string | null): string {
  if (asked === null || asked === workspace) return workspace
  const folder = realpathSync(isAbsolute(asked) ? asked : join(workspace, asked))
  if (isWithin(folder, workspace)) return folder
  throw new ServerError('path_violation', 'A command runs in the workspace. Name a folder of it.')
}

/** `fs/read_text_file`: the workspace, and nothing else. */
async function readText(workspace: string, path: string, line: number | null, limit: number | null): Promise<string> {
  const file = await readWorkspaceFile(await confine(workspace, pathIn(workspace, path)))
  if (file === null) throw new ServerError('record_not_found', `There is no file ${JSON.stringify(path)}.`)
  const { text } = decodeFile(file.bytes, path)
  if (line === null && limit === null) return text
  const lines = text.split('\n')
  const from = Math.max(0, (line ?? 1) - 1)
  return lines.slice(from, limit === null ? undefined : from + limit).join('\n')
}

/** Relative to the workspace, with slashes. Throws `path_violation`. */
function pathIn(workspace: string, path: string): string {
  const within = isAbsolute(path) ? relative(workspace, path) : path
  return within.split(sep).join('/')
}

function filesOf(worktree: Worktree): Started['files'] {
  return {
    refresh: () => worktree.refresh(),
    async changes() {
      const set = await worktree.changes()
      return set.changes.length === 0 ? null : set
    },
    settled: (changes) => worktree.settled(changes),
    discard: (paths) => worktree.discard(paths),
    proposeWrite: () =>
      Promise.reject(new ServerError('invalid_request', 'Write the file yourself: you work in a private copy.')),
  }
}

/** Each write is a change of its own, made from the file as it is. */
function filesOfClient(workspaceRoot: string, serverPaths: readonly string[]): Started['files'] {
  return {
    async refresh() {},
    changes: async () => null,
    async settled() {},
    async discard() {},
    async proposeWrite({ path, content }) {
      const filePath = pathIn(workspaceRoot, path)
      const before = await readWorkspaceFile(await confine(workspaceRoot, filePath))
      if (before !== null && Buffer.compare(before.bytes, Buffer.from(content)) === 0) return null
      const change = await proposeChange({ workspaceRoot, filePath, diff: content, serverPaths })
      return changeSetOf([{ ...change, agentHash: change.afterHash }], [])
    },
  }
}
