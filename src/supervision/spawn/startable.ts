// What somebody may start here: which programs, what each lacks, and in which folders. Folders are those of the settings: nobody lists
// the disk through it.

import { ServerError } from '../../domain/errors.ts'
import type { SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
import { type HostName, hostNames, hosts, launcherFor, type NamedLauncher } from '../../hosts/hosts.ts'
import { findProgram, type ProgramSearch } from '../commands/find-program.ts'
import type { SpawnerDeps } from './create-spawner.ts'

export interface StartableHost {
  name: NamedLauncher['name']
  title: string
  /** Why it cannot be started, for people. Null: it can. */
  problem: string | null
  /** A command on the machine of the server, or a line of quarterdeck.yaml, that mends it. Null: the problem says what to do. */
  command: string | null
  setting: string | null
}

export interface Startable {
  hosts: StartableHost[]
  workspaces: { path: string; id: string | null; label: string | null }[]
  /** Every folder below it is allowed too. Null, and no workspaces: every folder. */
  root: string | null
}

interface StartableDeps extends Pick<SpawnerDeps, 'host' | 'extraArgs'> {
  settings: Pick<SupervisionSettings, 'hostCli' | 'workspaces' | 'defaultWorkspaceRoot'>
  search: ProgramSearch
}

export function createStartable({ host, extraArgs, settings, search }: StartableDeps): () => Startable {
  const { hostCli, workspaces, defaultWorkspaceRoot } = settings
  const set = hostCli === null ? null : launcherFor(hostCli).name
  const trial = { prompt: '', mcpUrl: '', agentToken: '', extraArgs, file: (name: string) => name }

  /** What the server itself would say. */
  function refusalOf(work: () => unknown): string | null {
    try {
      work()
      return null
    } catch (error) {
      if (error instanceof ServerError) return error.message
      throw error
    }
  }

  /** One that `connect` knows, and that is not the one of the settings or has no program. */
  function known(name: HostName): StartableHost {
    const { title, install, launch } = hosts[name]
    const as = (problem: string | null, command: string | null = null, setting: string | null = null) => ({
      ...{ name, title, problem, command, setting },
    })
    const never = refusalOf(() => launch(trial))
    if (never !== null) return as(never, `quarterdeck connect ${name}`)
    if (name === set) {
      const problem = refusalOf(host)
      const isMissing = problem !== null && hostCli === name
      return as(problem, isMissing ? install : null)
    }
    if (findProgram(name, search).program === null) return as(`${title} is not installed on the server.`, install)
    const other = set === null ? 'no program' : set === 'custom' ? 'another program' : hosts[set].title
    return as(`The server is set up to start ${other}.`, null, `host_cli: ${name}`)
  }

  return () => ({
    hosts: [
      ...hostNames.map(known),
      ...(set === 'custom'
        ? [
            {
              name: set,
              title: hostCli ?? '',
              problem: refusalOf(() => host().launcher.launch(trial)),
              ...{ command: null, setting: null },
            },
          ]
        : []),
    ].sort((a, b) => Number(a.problem !== null) - Number(b.problem !== null)),
    workspaces: workspaces.map(({ path, id, label }) => ({ path, id, label })),
    root: defaultWorkspaceRoot,
  })
}
